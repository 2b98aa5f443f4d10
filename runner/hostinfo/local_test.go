package hostinfo

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestWhichHostIsThisOne(t *testing.T) {
	own := []net.Addr{
		&net.IPNet{IP: net.ParseIP("127.0.0.1"), Mask: net.CIDRMask(8, 32)},
		&net.IPNet{IP: net.ParseIP("192.0.2.10"), Mask: net.CIDRMask(24, 32)},
		&net.IPNet{IP: net.ParseIP("fe80::1"), Mask: net.CIDRMask(64, 128)},
		&net.IPNet{IP: net.ParseIP("2001:db8::5"), Mask: net.CIDRMask(64, 128)},
	}
	names := map[string][]string{
		"store.here":  {"198.51.100.1", "192.0.2.10"},
		"store.there": {"198.51.100.1", "2001:db8::6"},
		"debian":      {"127.0.1.1"},
		"six":         {"::ffff:192.0.2.10"},
	}
	lookup := func(_ context.Context, _, host string) (found []netip.Addr, err error) {
		for _, a := range names[host] {
			found = append(found, netip.MustParseAddr(a))
		}
		if found == nil {
			err = errors.New("no such host")
		}
		return found, err
	}
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.1.1": true, "::1": true, "0.0.0.0": true, "localhost": true,
		"192.0.2.10": true, "2001:db8::5": true, "fe80::1%eth0": true, "::ffff:192.0.2.10": true,
		"store.here": true, "debian": true, "six": true,
		"192.0.2.11": false, "198.51.100.1": false, "2001:db8::6": false, "store.there": false, "unknown": false, "": false,
	} {
		if got := isLocal(t.Context(), host, own, lookup); got != want {
			t.Errorf("%q: local %v, want %v", host, got, want)
		}
	}
}

func TestThisHostsOwnAddressesAreLocal(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if !IsLocal(t.Context(), ip.String()) {
			t.Errorf("%s is not local", ip)
		}
	}
	if IsLocal(t.Context(), "192.0.2.77") { // of the range for documentation
		t.Error("192.0.2.77 is local")
	}
}
