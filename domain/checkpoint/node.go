package checkpoint

import (
	"strconv"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// node is a value and where it stands.
type node struct {
	strictjson.Value
	path string // JSON Pointer
	of   string // whose it is, for people: a record's key or "the publication"
}

func recordPath(index int) string { return "/checkpoint/records/" + strconv.Itoa(index) + "/1" }

func recordNode(index int, key string, value strictjson.Value) node {
	return node{Value: value, path: recordPath(index), of: cut(key)}
}

// in gives a member, which need not be there.
func (n node) in(names ...string) node {
	for _, name := range names {
		n.Value = n.Value.Get(name)
		n.path += "/" + name
	}
	return n
}

// wanted is what a member must be, and who says so.
type wanted struct {
	value  strictjson.Value
	source string // "" when it is the same for every read
}

func constant(text string) wanted { return wanted{value: strictjson.TextValue(text)} }

func one() wanted { return wanted{value: strictjson.NumberValue(1)} }

// is refuses a member that is not identical to what it must be.
func (n node) is(name string, want wanted) *fault {
	got := n.Get(name)
	if strictjson.Identical(got, want.value) {
		return nil
	}
	return n.differs(name, want, got)
}

func (n node) differs(name string, want wanted, got strictjson.Value) *fault {
	because := ""
	if want.source != "" {
		because = " like " + want.source
	}
	return faulty(Contradicted, n.path+"/"+name, "%s: %s must be %s%s and is %s", n.of, name, show(want.value), because, show(got))
}

// isOneOf refuses a member that is none of some strings.
func (n node) isOneOf(name string, texts []string) *fault {
	got := n.Get(name)
	var want string
	for i, text := range texts {
		if got.IsText(text) {
			return nil
		}
		if i > 0 {
			want += " or "
		}
		want += show(strictjson.TextValue(text))
	}
	return faulty(Contradicted, n.path+"/"+name, "%s: %s must be %s and is %s", n.of, name, want, show(got))
}

// prints refuses a member whose canonical JSON is not that.
func (n node) prints(name, want string) *fault {
	got := n.Get(name)
	if got.Defined() && string(canonicaljson.Append(nil, got)) == want {
		return nil
	}
	return faulty(Contradicted, n.path+"/"+name, "%s: %s must be %s and is %s", n.of, name, cut(want), show(got))
}

// positive refuses a member that is no safe integer above 0.
func (n node) positive(name string, reason Reason) *fault {
	if count, ok := n.Get(name).SafeInteger(); ok && count > 0 {
		return nil
	}
	return faulty(reason, n.path+"/"+name, "%s: %s must be an integer of 1 to 2^53 - 1 and is %s", n.of, name, show(n.Get(name)))
}

// after refuses a number that is not above another's.
func (n node) after(name string, other node) *fault {
	later, _ := n.Get(name).Number()
	earlier, _ := other.Get(name).Number()
	if later > earlier {
		return nil
	}
	return faulty(Contradicted, n.path+"/"+name, "%s: %s must be above %s of %s and is %s", n.of, name, show(other.Get(name)), other.of, show(n.Get(name)))
}

// maxShown is how many bytes of a value a message repeats.
const maxShown = 80

// show says a value to a person, in words that no library chooses.
func show(v strictjson.Value) string {
	switch v.Kind() {
	case strictjson.Undefined:
		return "missing"
	case strictjson.Array:
		return "an array"
	case strictjson.Object:
		return "an object"
	default:
		return cut(string(canonicaljson.Append(nil, v)))
	}
}

// cut shortens a text at a rune.
func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
