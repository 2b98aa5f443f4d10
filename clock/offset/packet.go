package offset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"queuebench/clock"
)

// A packet, big endian. Questions and answers have one size, so that nobody can
// use a server to make more traffic than he sends.
//
//	0–3   "QBCO"
//	4     version, 1
//	5     kind: 1 question, 2 answer
//	6–7   length of the identity
//	8–15  nonce, random, which the answer repeats
//	16–23 when the question was received, ns, by the server's clock
//	24–31 when the answer was sent
//	32–   identity of the server's clock, JSON; zeros up to packetSize
const (
	packetSize = 512
	headerSize = 32
	magic      = "QBCO"
	version    = 1
)

const (
	kindQuestion = 1
	kindAnswer   = 2
)

type packet struct {
	kind           byte
	nonce          uint64
	received, sent int64
	identity       clock.Identity
}

// errNoPacket: what came is no packet of this protocol and version.
var errNoPacket = errors.New("no packet of a clock exchange")

// identityBytes is an identity as a packet carries it.
func identityBytes(id clock.Identity) ([]byte, error) {
	b, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	if len(b) > packetSize-headerSize {
		return nil, fmt.Errorf("the identity of this clock takes %d bytes, more than %d: its host name is too long", len(b), packetSize-headerSize)
	}
	return b, nil
}

// appendPacket writes a packet. The identity of an answer must fit.
func appendPacket(dst []byte, p packet) []byte {
	var id []byte
	if p.kind == kindAnswer {
		id, _ = identityBytes(p.identity) // Serve has checked that it fits
	}
	return appendRaw(dst, p, id)
}

func appendRaw(dst []byte, p packet, id []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, version, p.kind)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(id)))
	dst = binary.BigEndian.AppendUint64(dst, p.nonce)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.received))
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.sent))
	dst = append(dst, id...)
	return append(dst, make([]byte, packetSize-(len(dst)-start))...)
}

// parsePacket reads a packet and trusts nothing in it.
func parsePacket(b []byte) (packet, error) {
	if len(b) != packetSize || string(b[:4]) != magic || b[4] != version {
		return packet{}, errNoPacket
	}
	n := int(binary.BigEndian.Uint16(b[6:]))
	if n > packetSize-headerSize {
		return packet{}, errNoPacket
	}
	p := packet{
		kind: b[5], nonce: binary.BigEndian.Uint64(b[8:]),
		received: int64(binary.BigEndian.Uint64(b[16:])), sent: int64(binary.BigEndian.Uint64(b[24:])),
	}
	switch {
	case p.kind == kindQuestion && n == 0:
		return p, nil
	case p.kind != kindAnswer || p.received <= 0 || p.sent <= 0:
		return packet{}, errNoPacket
	}
	d := json.NewDecoder(bytes.NewReader(b[headerSize : headerSize+n]))
	if err := d.Decode(&p.identity); err != nil || p.identity.Host == "" || p.identity.AnchorNs <= 0 {
		return packet{}, errNoPacket
	}
	return p, nil
}
