package canonicaljson

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// maxIndex is the largest name that JavaScript takes for an array index: one
// less than an array's greatest length.
const maxIndex = 1<<32 - 2

// sortable is a member with what it is sorted by.
type sortable struct {
	name  string
	value strictjson.Value
	index int64  // the array index that the name is, -1 for another name
	key   []byte // the collation key of a name that is no index
}

// sorted gives an object's members in canonical order.
func sorted(v strictjson.Value) []sortable {
	members := make([]sortable, 0, v.Len())
	for name, value := range v.Members() {
		members = append(members, sortable{name: name, value: value, index: arrayIndex(name)})
	}
	if len(members) < 2 {
		return members
	}
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buffer.Reset()
	for i := range members {
		if members[i].index < 0 {
			members[i].key = c.KeyFromString(&c.buffer, members[i].name)
		}
	}
	slices.SortStableFunc(members, compare)
	return members
}

func compare(a, b sortable) int {
	switch {
	case a.index >= 0 && b.index >= 0:
		return cmp.Compare(a.index, b.index)
	case a.index >= 0:
		return -1
	case b.index >= 0:
		return 1
	default:
		return bytes.Compare(a.key, b.key)
	}
}

// arrayIndex gives the array index that a name is: a decimal number up to
// maxIndex, written without a leading zero. -1 for every other name.
func arrayIndex(name string) int64 {
	const longest = len("4294967294")
	if name == "" || len(name) > longest || (name[0] == '0' && len(name) > 1) {
		return -1
	}
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return -1
		}
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil || n > maxIndex {
		return -1
	}
	return n
}

// collator makes collation keys. It is not safe for use by several goroutines
// at once, and costly to make.
type collator struct {
	*collate.Collator
	buffer collate.Buffer
}

var collators = sync.Pool{New: func() any {
	return &collator{Collator: collate.New(language.Und)}
}}
