package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// timeLayout orders like time does.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// toSQL gives what is bound for a field.
func toSQL(field any) any {
	switch field := field.(type) {
	case *string:
		return *field
	case *int64:
		return *field
	case *uint64:
		return int64(*field)
	case *float64:
		return *field
	case **uint64:
		if *field == nil {
			return nil
		}
		return int64(**field)
	case *time.Time:
		return field.UTC().Format(timeLayout)
	case **time.Time:
		if *field == nil {
			return nil
		}
		return (*field).UTC().Format(timeLayout)
	case tables.Decimal:
		if *field.Into == nil {
			return nil
		}
		return **field.Into
	case tables.Texts:
		return printTexts(*field.Into)
	case tables.JSON:
		if *field.Into == nil {
			return nil
		}
		return string(*field.Into)
	default:
		return field // a pointer to a type based on string, or to a pointer: database/sql looks behind it
	}
}

func printTexts(texts []string) string {
	if texts == nil {
		texts = []string{}
	}
	printed, err := json.Marshal(texts)
	if err != nil {
		panic("sqlite: print strings: " + err.Error())
	}
	return string(printed)
}

// fromSQL gives where a field is scanned into.
func fromSQL(field any) any {
	switch field := field.(type) {
	case *time.Time:
		return scanner(func(text *string) error { return parseTime(text, field) })
	case **time.Time:
		return scanner(func(text *string) error {
			*field = nil
			if text == nil {
				return nil
			}
			*field = new(time.Time)
			return parseTime(text, *field)
		})
	case tables.Decimal:
		return field.Into
	case tables.Texts:
		return scanner(func(text *string) error {
			if text == nil {
				return errors.AssertionFailedf("sqlite: a list is NULL")
			}
			return json.Unmarshal([]byte(*text), field.Into)
		})
	case tables.JSON:
		return scanner(func(text *string) error {
			*field.Into = nil
			if text != nil {
				*field.Into = []byte(*text)
			}
			return nil
		})
	default:
		return field
	}
}

// scanner is a sql.Scanner for text or NULL.
type scanner func(text *string) error

func (s scanner) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		return s(nil)
	case string:
		return s(&value)
	case []byte:
		text := string(value)
		return s(&text)
	}
	return errors.AssertionFailedf("sqlite: a %T where text was stored", value)
}

// Value is there so that a scanner is never bound by mistake.
func (s scanner) Value() (driver.Value, error) {
	return nil, errors.AssertionFailedf("sqlite: a scanner is bound")
}

func parseTime(text *string, into *time.Time) error {
	if text == nil {
		return errors.AssertionFailedf("sqlite: a time is NULL")
	}
	parsed, err := time.Parse(timeLayout, *text)
	*into = parsed
	return errors.Wrap(err, "sqlite: a stored time")
}
