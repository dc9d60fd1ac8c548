package web

// For tests.
var Descriptions = descriptions

const (
	MaxURLBytes  = maxURLBytes
	MaxHostShown = maxHostShown
	MaxStreams   = maxStreams
	MaxWaiting   = maxWaiting
	MaxWait      = maxWait
	DefaultWait  = defaultWait
	StreamPage   = streamPage
)
