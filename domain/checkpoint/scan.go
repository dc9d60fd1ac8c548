package checkpoint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const headerKey = "header"

// keyKind is what a key says of its record.
type keyKind int

const (
	otherKey keyKind = iota
	eventKey
	commandKey
)

// kindOf tells event:<digits> and command:<digits> from other keys.
func kindOf(key string) keyKind {
	kind := eventKey
	digits, ok := strings.CutPrefix(key, "event:")
	if !ok {
		kind = commandKey
		if digits, ok = strings.CutPrefix(key, "command:"); !ok {
			return otherKey
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return otherKey
	}
	return kind
}

// The rows that matter, by what they call themselves.
const (
	typeToolInput        = "semantic_tool.input"
	typeRequestCreated   = "runtime_request.created"
	typeRequestResolved  = "runtime_request.resolved"
	typeRequestCancelled = "runtime_request.cancelled"
	typeRequestExpired   = "runtime_request.expired"
	typeToolResult       = "semantic_tool.result"
	typeTurnStart        = "turn.start"
	typeRequestResolve   = "request.resolve"
)

// row is a record that matters.
type row struct{ node }

// scanned is a checkpoint after one look at every record.
type scanned struct {
	header   int    // index of the header record, -1 when there is none
	repeated *fault // a key that comes twice
	rowFault *fault // the first row that is beyond a limit or not strict JSON
	kept     []int  // the records of a slice, ascending

	turnStarts  []row
	requests    []row
	resolutions []row
	inputs      []row
	results     []row
}

// scan looks at every record once. Rows that cannot matter are checked to be
// strict JSON; the others are parsed.
func scan(cp Checkpoint, requestID strictjson.Value) *scanned {
	s := &scanned{header: -1}
	if len(cp.Records) > MaxRecords {
		return s.withHeaderOnly(cp)
	}
	keep := make([]bool, len(cp.Records))
	s.scanKeys(cp, keep)
	total := 0
	var buffer []byte // of texts that are only checked
	for i, record := range cp.Records {
		kind := kindOf(record.Key)
		if kind == otherKey {
			continue
		}
		if total += len(record.Text); total > MaxBytes {
			s.fault(faulty(Limit, "/checkpoint/records", "the event and command records hold more than %d bytes", MaxBytes))
			return s.withHeaderOnly(cp)
		}
		if !mayMatter(kind, record.Text) {
			buffer = append(buffer[:0], record.Text...)
			keep[i] = keep[i] || !s.strict(i, record.Key, strictjson.Check(buffer))
			continue
		}
		keep[i] = s.scanRow(i, record, kind, requestID) || keep[i]
	}
	for i, kept := range keep {
		if kept {
			s.kept = append(s.kept, i)
		}
	}
	return s
}

// scanKeys finds the header and keys that come twice.
func (s *scanned) scanKeys(cp Checkpoint, keep []bool) {
	first := make(map[string]int, len(cp.Records))
	for i, record := range cp.Records {
		if earlier, ok := first[record.Key]; ok {
			keep[earlier], keep[i] = true, true
			if s.repeated == nil {
				s.repeated = faulty(Malformed, "/checkpoint/records/"+strconv.Itoa(i)+"/0", "the key %s comes twice", cut(record.Key))
			}
			continue
		}
		first[record.Key] = i
		if record.Key == headerKey {
			s.header, keep[i] = i, true
		}
	}
}

// scanRow parses a row that may matter, and reports whether a slice keeps it.
func (s *scanned) scanRow(index int, record Record, kind keyKind, requestID strictjson.Value) bool {
	value, err := strictjson.Parse([]byte(record.Text))
	if !s.strict(index, record.Key, err) {
		return true
	}
	class := s.class(kind, value, requestID)
	if class == nil {
		return false
	}
	*class = append(*class, row{recordNode(index, record.Key, value)})
	return true
}

// strict notes a row that is not strict JSON.
func (s *scanned) strict(index int, key string, err error) bool {
	if err != nil {
		s.fault(faulty(Malformed, recordPath(index), "the record %s is not strict JSON: %v", cut(key), err))
	}
	return err == nil
}

// fault keeps the first.
func (s *scanned) fault(f *fault) {
	if s.rowFault == nil {
		s.rowFault = f
	}
}

// withHeaderOnly gives up on the rows: the limits decide.
func (s *scanned) withHeaderOnly(cp Checkpoint) *scanned {
	s.kept = nil
	for i, record := range cp.Records {
		if record.Key == headerKey {
			s.header, s.kept = i, []int{i}
			break
		}
	}
	return s
}

// Some word of these is in the text of every row that matters, unless it is
// written with \u escapes: JSON has no other way to write it.
var (
	eventWords   = [...]string{typeToolInput, "runtime_request.", `\u`}
	commandWords = [...]string{typeToolResult, typeTurnStart, typeRequestResolve, `\u`}
)

// mayMatter reports whether a row could be one that matters, by its text.
func mayMatter(kind keyKind, text string) bool {
	words := commandWords[:]
	if kind == eventKey {
		words = eventWords[:]
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// class is the list that a row belongs to, nil when it does not matter.
func (s *scanned) class(kind keyKind, value, requestID strictjson.Value) *[]row {
	if kind == eventKey {
		return s.eventClass(value, requestID)
	}
	name, _ := value.Get("type").Text()
	switch {
	case name == typeToolResult:
		return &s.results
	case name == typeTurnStart:
		return &s.turnStarts
	case name == typeRequestResolve && strictjson.Identical(value.At("payload", "requestId"), requestID):
		return &s.resolutions
	}
	return nil
}

func (s *scanned) eventClass(value, requestID strictjson.Value) *[]row {
	name, _ := value.Get("eventType").Text()
	switch name {
	case typeToolInput:
		return &s.inputs
	case typeRequestCreated, typeRequestResolved, typeRequestCancelled, typeRequestExpired:
		payload := value.At("envelope", "payload", "payload")
		if strictjson.Identical(payload.Get("requestId"), requestID) ||
			strictjson.Identical(payload.At("request", "requestId"), requestID) {
			return &s.requests
		}
	}
	return nil
}
