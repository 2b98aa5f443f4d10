package faultproxy

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>by the fault proxy</Message></Error>`, code)
}

// misstate changes each checksum in the headers of an answer.
func misstate(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Amz-Checksum-") && name != "X-Amz-Checksum-Type" {
			sum, err := base64.StdEncoding.DecodeString(h.Get(name))
			if err != nil || len(sum) == 0 {
				continue
			}
			sum[0] ^= 0xff
			h.Set(name, base64.StdEncoding.EncodeToString(sum))
		}
	}
}

// cut ends the connection in the middle of whatever it is in.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the answer has begun: the server cuts it itself
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an end
	}
	_ = conn.Close()
}
