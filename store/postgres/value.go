package postgres

import (
	"time"

	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// toSQL gives what is sent for a field; pgx looks behind pointers.
func toSQL(field any) any {
	switch field := field.(type) {
	case tables.Decimal:
		return *field.Into
	case tables.Texts:
		if *field.Into == nil {
			return []string{}
		}
		return *field.Into
	case tables.JSON:
		if *field.Into == nil {
			return nil
		}
		return string(*field.Into)
	default:
		return field
	}
}

// fromSQL gives where a field is scanned into.
func fromSQL(field any) any {
	switch field := field.(type) {
	case tables.Decimal:
		return field.Into
	case tables.Texts:
		return field.Into
	case tables.JSON:
		return field.Into
	default:
		return field
	}
}

// selected is a column as it is scanned.
func selected(column string, field any) string {
	switch field.(type) {
	case tables.Decimal:
		return "trim_scale(" + column + ")::text" // a sum keeps the longest scale of its terms
	case tables.JSON:
		return column + "::text"
	}
	return column
}

// typeOf is the type that a column's array is sent as.
func typeOf(field any) string {
	switch field.(type) {
	case *int64, *uint64, **int64, **uint64:
		return "bigint"
	case *float64:
		return "double precision"
	case *time.Time, **time.Time:
		return "timestamptz"
	case tables.Decimal:
		return "numeric"
	case tables.JSON:
		return "json"
	}
	return "text"
}
