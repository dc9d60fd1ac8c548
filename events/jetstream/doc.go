// Package jetstream keeps the two streams in NATS JetStream.
//
// Model: [Log] implements [events.Log] on one stream. It appends with atomic
// batch publish, the expected sequence on the first message; reads what is at
// the end, or a single message, from the stream's leader; and follows the
// stream with a pull consumer of its own. [DirectLog] reads with nothing but
// the stream's information and direct gets, for those who may do no more.
// [Publisher] publishes arrivals. [Provision] makes the streams, [Inspect]
// says what could harm them.
//
// Authority: a delivered message is told from the server's own words by what
// only the server can set. Its headers are its producer's, who may write
// there whatever the server writes elsewhere.
//
// Failure: the server's refusals are told apart by their error codes, never by
// their text. Only what is known to have stored nothing is [events.ErrMoved],
// [events.ErrRefused] or [events.ErrUnavailable]; everything else is
// [events.ErrStateUnknown].
package jetstream
