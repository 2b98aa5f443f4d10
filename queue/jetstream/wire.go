package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"

	"queuebench/queue"
)

// limited is ctx where it has a deadline, as the client library demands of some
// calls; else it gives up after ten seconds through its own timer.
func limited(ctx context.Context) context.Context {
	if _, ok := ctx.Deadline(); ok {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// parseAck reads the answer to a published message, which is JSON:
// {"stream":"S","seq":7}, or an error in place of the sequence number.
func parseAck(b []byte) (seq int64, err error) {
	if rest, ok := bytes.CutPrefix(b, []byte(`{"stream":"`)); ok && !bytes.Contains(rest, []byte(`\`)) {
		if i := bytes.Index(rest, []byte(`","seq":`)); i > 0 && bytes.IndexByte(rest[:i], '"') < 0 {
			digits := rest[i+len(`","seq":`):]
			n := 0
			for n < len(digits) && n < 18 && digits[n] >= '0' && digits[n] <= '9' {
				seq = seq*10 + int64(digits[n]-'0')
				n++
			}
			if n > 0 && digits[0] != '0' && string(digits[n:]) == "}" && !bytes.ContainsFunc(rest[:i], unicode.IsControl) {
				return seq, nil
			}
		}
	}
	var full struct {
		Stream string `json:"stream"`
		Seq    uint64 `json:"seq"`
		Error  *struct {
			Code        int    `json:"code"`
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(b, &full); err != nil {
		return -1, fmt.Errorf("jetstream: an acknowledgement that is none: %.80q", b)
	}
	switch e := full.Error; {
	case e != nil:
		return -1, fmt.Errorf("jetstream: the server refused the message: %s (code %d, error %d)", e.Description, e.Code, e.ErrCode)
	case full.Stream == "" || full.Seq == 0 || full.Seq > 1<<62:
		return -1, fmt.Errorf("jetstream: an acknowledgement that is none: %.80q", b)
	}
	return int64(full.Seq), nil
}

// place is what the reply subject of a delivery says.
type place struct {
	delivered int64 // how often, this time included
	seq       int64 // in the stream
	at        int64 // when the stream took it, ns since the epoch
}

// parseReply reads $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer
// seq>.<time>.<pending>, or its longer form, which has a domain and an account
// hash after ACK (and may end in a random token), of nats.io's ADR-15.
func parseReply(s string) (p place, ok bool) {
	var tokens [13]string
	n := 0
	for rest, more := s, true; more; n++ {
		if n == len(tokens) {
			return p, false
		}
		tokens[n], rest, more = strings.Cut(rest, ".")
	}
	if n < 9 || tokens[0] != "$JS" || tokens[1] != "ACK" {
		return p, false
	}
	t := tokens[4:9]
	switch {
	case n == 9:
	case n >= 11:
		t = tokens[6:11]
	default:
		return p, false
	}
	for i, v := range []*int64{&p.delivered, &p.seq, nil, &p.at} {
		if v == nil {
			continue
		}
		u, err := strconv.ParseUint(t[i], 10, 63) // a server writes no sign
		if err != nil {
			return p, false
		}
		*v = int64(u)
	}
	return p, true
}

// headersOf makes NATS headers, which are lines of text: a name is one word, and
// a value has no line break nor blanks around it. What cannot be carried as it is
// is refused.
func headersOf(hs []queue.Header) (nats.Header, error) {
	h := make(nats.Header, len(hs))
	for i := range hs {
		name, value := hs[i].Name, string(hs[i].Value)
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ':' || r > '~' }) {
			return nil, fmt.Errorf("jetstream: the header %q: a NATS header's name is one word of ASCII without a colon", name)
		}
		if strings.ContainsAny(value, "\r\n") || strings.TrimSpace(value) != value {
			return nil, fmt.Errorf("jetstream: the header %s: a NATS header's value has no line break and no blanks around it", name)
		}
		h[name] = append(h[name], value)
	}
	return h, nil
}

// appendHeaders are the headers of a delivery, ascending by name: the client
// keeps the order within a name only.
func appendHeaders(dst []queue.Header, h nats.Header) []queue.Header {
	first := len(dst)
	for name, values := range h {
		for _, v := range values {
			dst = append(dst, queue.Header{Name: name, Value: []byte(v)})
		}
	}
	slices.SortStableFunc(dst[first:], func(a, b queue.Header) int { return strings.Compare(a.Name, b.Name) })
	return dst
}
