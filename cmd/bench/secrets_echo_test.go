//go:build !min

package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// echo is a server that tells everybody the password that it was given: what a
// server says goes into errors and events.
type echo struct {
	queue, scheme string
	// hello is said first; answer says what secret was heard.
	hello  string
	answer func(secret string) string
}

var echoes = []echo{
	{"redis", "redis://", "", func(s string) string { return "-WRONGPASS no user has the password " + s + "\r\n" }},
	{"nats", "nats://", "INFO {\"server_id\":\"x\",\"version\":\"2.12.0\",\"max_payload\":1048576,\"proto\":1,\"auth_required\":true}\r\n",
		func(s string) string { return "-ERR 'the password " + s + " is wrong'\r\n" }},
	{"rabbitmq", "amqp://", "", func(s string) string {
		body := append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, 10), 50), 0x01, 0x93) // connection.close, 403
		text := base64.StdEncoding.EncodeToString([]byte("\x00ann\x00"+s)) + " is " + s
		body = append(append(body, byte(len(text))), text...)
		return amqpFrame(append(body, 0, 0, 0, 0))
	}},
}

func amqpFrame(body []byte) string {
	frame := binary.BigEndian.AppendUint32([]byte{1, 0, 0}, uint32(len(body)))
	return string(append(append(frame, body...), 0xCE))
}

// amqpStart is connection.start of a server that takes PLAIN.
func amqpStart() string {
	body := []byte{0, 10, 0, 10, 0, 9, 0, 0, 0, 0}
	for _, text := range []string{"PLAIN", "en_US"} {
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(text))), text...)
	}
	return amqpFrame(body)
}

// serve listens until the test ends, and returns host:port.
func (e echo) serve(t *testing.T, secrets []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.talk(c, secrets) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

func (e echo) talk(c net.Conn, secrets []string) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(c, e.hello)
	heard := ""
	buf := make([]byte, 4096)
	for greeted := false; ; {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		heard += string(buf[:n])
		if strings.HasPrefix(heard, "AMQP") && !greeted {
			greeted = true
			fmt.Fprint(c, amqpStart())
		}
		for _, s := range secrets {
			// A client may write it as JSON.
			if strings.Contains(heard, s) || strings.Contains(heard, strings.NewReplacer(`"`, `\"`, "&", `\u0026`).Replace(s)) {
				fmt.Fprint(c, e.answer(s))
				heard = ""
			}
		}
	}
}
