// Package loopback tells whether a request meant this host by one of its own
// names. A web page that makes its own name lead to 127.0.0.1 (DNS rebinding)
// gets round its browser otherwise.
package loopback

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Host says whether a Host header names this host's loopback: localhost, or an
// address of it, with or without a port.
func Host(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// Addr says whether only this host reaches an address that is listened on. No
// address at all is every interface.
func Addr(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	if ok {
		return tcp.IP.IsLoopback()
	}
	udp, ok := a.(*net.UDPAddr)
	return ok && udp.IP.IsLoopback()
}

// ForeignPage says whether a browser sent the request for a page that was not
// loaded from loopback.
func ForeignPage(h http.Header) bool {
	if h.Get("Sec-Fetch-Site") == "cross-site" {
		return true
	}
	origin := h.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !Host(u.Host)
}
