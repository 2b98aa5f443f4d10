package hostinfo

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// lookupTimeout bounds the question to a name server. Whoever connects to the
// host finds out soon enough that it does not answer.
const lookupTimeout = 2 * time.Second

// IsLocal says whether a host, a name or an IP address, is this machine: an
// address of the loopback or of an interface of its own, or a name that resolves
// to one. A container is a machine of its own here, and the one that it runs on
// another. A name that cannot be resolved is not local.
func IsLocal(ctx context.Context, host string) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		own = nil // the loopback is known anyway
	}
	return isLocal(ctx, host, own, net.DefaultResolver.LookupNetIP)
}

func isLocal(ctx context.Context, host string, own []net.Addr, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) bool {
	if host == "" {
		return false
	}
	addresses := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, a)
	} else {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		if addresses, err = lookup(ctx, "ip", host); err != nil {
			return host == "localhost"
		}
	}
	for _, a := range addresses {
		a = a.Unmap().WithZone("")
		if a.IsLoopback() || a.IsUnspecified() { // 0.0.0.0 connects to this host
			return true
		}
		for _, o := range own {
			prefix, err := netip.ParsePrefix(o.String())
			if err == nil && prefix.Addr().Unmap() == a {
				return true
			}
		}
	}
	return false
}
