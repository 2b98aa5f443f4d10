package rabbitmq

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// fake is a server of AMQP 0-9-1 that takes messages and confirms those that it is
// told to: what a real one does of its own accord cannot be asked for.
type fake struct {
	listener net.Listener
	serving  sync.WaitGroup
	// confirms says, for a connection with channels in confirm mode, from 1, whether
	// it confirms the message of a number, from 1. deaf are connections on which it
	// reads nothing once a channel confirms.
	confirms func(connection int, tag uint64) bool
	deaf     func(connection int) bool

	mu          sync.Mutex
	connections int
}

func newFake(t *testing.T) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{listener: l, deaf: func(int) bool { return false }}
	f.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.serving.Go(func() {
				defer c.Close()
				c.(*net.TCPConn).SetReadBuffer(8 << 10) // so that one who does not read is noticed soon
				f.serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.serving.Wait()
	})
	return f
}

func (f *fake) url() string { return "amqp://" + f.listener.Addr().String() + "/" }

// Methods of the protocol, class and method in one number.
const (
	connectionStart, connectionTune, connectionOpen, connectionOpenOk = 10<<16 | 10, 10<<16 | 30, 10<<16 | 40, 10<<16 | 41
	connectionClose, connectionCloseOk                                = 10<<16 | 50, 10<<16 | 51
	connectionStartOk, channelOpen, channelOpenOk                     = 10<<16 | 11, 20<<16 | 10, 20<<16 | 11
	confirmSelect, confirmSelectOk, basicPublish, basicAck            = 85<<16 | 10, 85<<16 | 11, 60<<16 | 40, 60<<16 | 80
)

// serve speaks on a connection until it ends.
func (f *fake) serve(c net.Conn) {
	in := bufio.NewReader(c)
	if _, err := in.Discard(len("AMQP\x00\x00\x09\x01")); err != nil {
		return
	}
	send := func(channel uint16, method uint32, args string) {
		b := binary.BigEndian.AppendUint16([]byte{1}, channel)
		b = binary.BigEndian.AppendUint32(b, uint32(4+len(args)))
		b = append(binary.BigEndian.AppendUint32(b, method), args...)
		c.Write(append(b, 0xCE)) // an error ends the reading, too
	}
	long := func(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }
	send(0, connectionStart, "\x00\x09"+long("")+long("PLAIN")+long("en_US"))
	number, tags := 0, map[uint16]uint64{}
	for {
		var head [7]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		channel := binary.BigEndian.Uint16(head[1:])
		body := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		if head[0] != 1 { // a header, a body, a heartbeat
			continue
		}
		switch binary.BigEndian.Uint32(body) {
		case connectionStartOk:
			send(0, connectionTune, "\x00\x00\x00\x02\x00\x00\x00\x00") // any number of channels, frames of 128 KiB, no heartbeat
		case connectionOpen:
			send(0, connectionOpenOk, "\x00")
		case channelOpen:
			send(channel, channelOpenOk, long(""))
		case confirmSelect:
			send(channel, confirmSelectOk, "")
			if number == 0 {
				f.mu.Lock()
				f.connections++
				number = f.connections
				f.mu.Unlock()
			}
			if f.deaf(number) {
				// Reading would tell when the other side has gone; so do heartbeats.
				for err := error(nil); err == nil; _, err = c.Write([]byte{8, 0, 0, 0, 0, 0, 0, 0xCE}) {
					time.Sleep(20 * time.Millisecond)
				}
				return
			}
		case basicPublish:
			tags[channel]++
			if tag := tags[channel]; f.confirms(number, tag) {
				send(channel, basicAck, string(binary.BigEndian.AppendUint64(nil, tag))+"\x00")
			}
		case connectionClose:
			send(0, connectionCloseOk, "")
			return
		}
	}
}
