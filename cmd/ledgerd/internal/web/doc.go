// Package web is the daemon's HTTP side: it reads, and writes nothing.
//
//	request ─▶ guard ─▶ mux ─▶ typed operation ─▶ wait (?at=) ─▶ Reader ─▶ answer
//	           (size,    │                                                (as_of,
//	            method,  ├─▶ event stream                                 ETag)
//	            host,    │
//	            token)   └─▶ health, metrics, routes of other packages
//
// Model: every answer is read from the views in one snapshot and says as_of,
// the ledger index of the last decision in them. `?at=` waits until the views
// have that index. The same as_of and the same query give the same answer, so
// that an ETag is made of them, and a cached answer costs one small read.
//
// Failure: rows that were damaged break that rule. A rebuild that mends them
// (ledgerd rebuild --accept) moves no position, so that an answer which a
// client kept from before stays valid to it until the next decision. After such
// a rebuild clients should ask once without If-None-Match. Other rebuilds make
// the same rows, or come with another fold version, which is in the ETag.
//
// The OpenAPI document is generated from the types that are served; nothing is
// described by hand that could disagree with them. Problems are RFC 9457, with
// a type that machines can rely on.
package web
