package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// A page of any site can make a name of its own resolve to 127.0.0.1, and its
// scripts then read what answers there as their own origin (DNS rebinding). The
// browser still sends the name, as Host: without a token it must be one that
// nobody else can give out. A token is what such a page does not have.

// ownHost reports whether a Host header names this machine to itself, or is
// what the daemon was told to listen on.
func (s *server) ownHost(header string) bool {
	name, ok := hostName(header)
	if !ok {
		return false
	}
	if s.ListenHost != "" && name == canonicalHost(s.ListenHost) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// hostName is the name in a Host header, whatever the port: localhost,
// 127.0.0.1:8080, [::1].
func hostName(header string) (string, bool) {
	name, port, err := net.SplitHostPort(header)
	if err != nil {
		name, port, err = net.SplitHostPort(header + ":") // without a port
	}
	if err != nil || name == "" {
		return "", false
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil && port != "" {
		return "", false
	}
	return canonicalHost(name), true
}

// canonicalHost makes spellings of one host the same.
func canonicalHost(name string) string {
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(name)
}

// maxHostShown is how much of a Host header is printed, in characters: names
// have 253 at most.
const maxHostShown = 253

func foreignHost(header string) *Problem {
	problem := newProblem(http.StatusMisdirectedRequest, problemForeignHost, fmt.Sprintf("without a token only this machine is answered, by its own names; the request was for host %.*q", maxHostShown, header))
	problem.Hint = "ask for localhost or 127.0.0.1, or start the daemon with --auth-token-file"
	return problem
}
