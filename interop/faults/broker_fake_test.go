//go:build unix && !interop

package faults

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

const brokerName, brokerID = "kfake", "kfake"

// elsewhere is a listener that says that it is somewhere else: where clients reach it.
type elsewhere struct {
	net.Listener
	address net.Addr
}

func (l elsewhere) Addr() net.Addr { return l.address }

// brokers starts brokers that tell clients these addresses, and returns their own.
func brokers(t *testing.T, advertised []string) (own []string) {
	t.Helper()
	for _, address := range advertised {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(func(network, address string) (net.Listener, error) {
			l, err := net.Listen(network, address)
			if err != nil {
				return nil, err
			}
			own = append(own, l.Addr().String())
			return elsewhere{l, at}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
	}
	return own
}
