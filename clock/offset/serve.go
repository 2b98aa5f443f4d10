package offset

import (
	"context"
	"errors"
	"net"
	"time"
)

// Serve answers questions until ctx ends, which closes conn. It answers what is a
// question and nothing else, with as many bytes as it was asked with, and keeps
// nothing.
func Serve(ctx context.Context, conn net.PacketConn, c Clock) error {
	id, err := identityBytes(c.Identity())
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	buffer, answer := make([]byte, packetSize+1), make([]byte, 0, packetSize)
	for failed := 0; ; {
		n, from, err := conn.ReadFrom(buffer)
		received := c.Now()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// Some systems report here that a former answer did not arrive.
			if failed++; failed > 100 || errors.Is(err, net.ErrClosed) {
				return err
			}
			time.Sleep(time.Millisecond)
			continue
		}
		failed = 0
		p, err := parsePacket(buffer[:n])
		if err != nil || p.kind != kindQuestion {
			continue
		}
		p = packet{kind: kindAnswer, nonce: p.nonce, received: received, sent: c.Now()}
		answer = appendRaw(answer[:0], p, id)
		_, _ = conn.WriteTo(answer, from) // who asked will ask again
	}
}
