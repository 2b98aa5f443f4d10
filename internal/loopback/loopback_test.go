package loopback

import (
	"net"
	"net/http"
	"testing"
)

func TestHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:80": true, "127.0.0.1": true, "127.0.0.1:9": true, "127.9.9.9": true, "[::1]": true, "[::1]:80": true, "::1": true,
		"": false, ":80": false, "example.org": false, "127.0.0.1.example.org": false, "localhost.example.org:80": false, "10.0.0.1": false, "0.0.0.0": false,
		"localhost.": false, "[::1": true, "2130706433": false, "0x7f000001": false, "127.1": false, "[::ffff:127.0.0.1]:1": true, "localhost@example.org": false,
	} {
		if Host(host) != want {
			t.Errorf("%q: expected %v", host, want)
		}
	}
}

func TestAddr(t *testing.T) {
	for _, c := range []struct {
		a    net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true}, {&net.TCPAddr{IP: net.IPv6loopback}, true}, {&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, true},
		{&net.TCPAddr{}, false}, {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false}, {&net.UDPAddr{IP: net.IPv6zero}, false}, {&net.UnixAddr{}, false},
	} {
		if Addr(c.a) != c.want {
			t.Errorf("%v: expected %v", c.a, c.want)
		}
	}
}

func TestForeignPage(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"Origin", "http://localhost:8080", false}, {"Origin", "https://example.org", true}, {"Origin", "null", true}, {"Origin", "http://127.0.0.1.example.org", true},
		{"Sec-Fetch-Site", "cross-site", true}, {"Sec-Fetch-Site", "same-origin", false}, {"Sec-Fetch-Site", "none", false}, {"Accept", "*/*", false},
	} {
		if ForeignPage(http.Header{c.name: {c.value}}) != c.want {
			t.Errorf("%s: %s: expected %v", c.name, c.value, c.want)
		}
	}
}
