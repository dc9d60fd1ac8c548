// Package export writes a ledger as JSON Lines, for people without NATS, and
// reads it back as a source that can be replayed and verified.
//
// Model: a text of lines, each one JSON object and ended by a line feed:
//
//	{"ledgerd":"export","format":1,"ledger":"…","evidence":true}
//	{"arrival":{"seq":1,"time":"…","subject":"…","headers":{"ce-id":["…"]},"body":"…"}}
//	{"decision":{"seq":1,"time":"…","subject":"…","headers":{…},"record":{…}}}
//	…
//	{"end":{"arrivals":1,"decisions":1,"sha256":"…"}}
//
// In the first line ledger names the ledger, for people, and evidence says
// whether arrivals are in it. Then come the messages, by sequence, an arrival
// before the decision that answers it; arrivals without a decision are at the
// end. time is when the stream stored the message, RFC 3339 with nanoseconds.
// record is the record's bytes as they are: whoever hashes or compares it must
// take them from the line. body is the arrival's bytes as a JSON string. What
// cannot be written like that (bytes that are no UTF-8, a damaged record) is
// base64: record_base64, body_base64, subject_base64, and headers_base64 with a
// header block as NATS has it. The last line counts the messages and gives the
// SHA-256 of all bytes before it.
//
// Authority: none. The records say what they say by their own hashes.
//
// Failure: a line that is missing, changed, repeated or cut off is a finding
// with its number; reading goes on behind it.
package export
