package web

// For tests.
var Descriptions = descriptions

const (
	MaxURLBytes = maxURLBytes
	MaxStreams  = maxStreams
	MaxWaiting  = maxWaiting
	MaxWait     = maxWait
	DefaultWait = defaultWait
	StreamPage  = streamPage
)
