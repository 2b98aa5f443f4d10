package kafka

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// script is a connection whose reads give what was written down, in pieces.
type script struct {
	net.Conn
	from  io.Reader
	piece func() int
}

func (s *script) Write(b []byte) (int, error) { return len(b), nil }

func (s *script) Read(b []byte) (int, error) { return s.from.Read(b[:min(len(b), s.piece())]) }

// request is the beginning of a request.
func request(key, version int16, id int32) []byte {
	b := make([]byte, 40)
	binary.BigEndian.PutUint32(b, 36)
	binary.BigEndian.PutUint16(b[4:], uint16(key))
	binary.BigEndian.PutUint16(b[6:], uint16(version))
	binary.BigEndian.PutUint32(b[8:], uint32(id))
	return b
}

// response frames the body of a response.
func response(id int32, version int16, batches ...kmsg.ProduceResponseTopicPartition) []byte {
	r := kmsg.NewProduceResponse()
	r.SetVersion(version)
	topic := kmsg.NewProduceResponseTopic()
	topic.Partitions = batches
	r.Topics = append(r.Topics, topic)
	head := binary.BigEndian.AppendUint32(nil, uint32(id))
	if r.IsFlexible() {
		head = append(head, 1, 5, 2, 'h', 'i') // a tagged field that nobody knows
	}
	body := r.AppendTo(head)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func batch(partition int32, base, ms int64, code int16) kmsg.ProduceResponseTopicPartition {
	p := kmsg.NewProduceResponseTopicPartition()
	p.Partition, p.BaseOffset, p.LogAppendTime, p.ErrorCode = partition, base, ms, code
	return p
}

// Whatever the pieces in which responses come, each stamp is there once the client
// has the last byte of its response, and the client reads what the broker wrote.
func TestStampsOfProduceResponses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, version := range []int16{3, 8, 9, 11, 13} {
		for range 50 {
			l := &listener{stamps: new(stamps), asked: map[int32]int16{}}
			var text []byte
			var ends []int
			for id := range int32(6) {
				key, body := int16(kmsg.Produce), response(id, version, batch(0, int64(id)*10, 1000+int64(id), 0), batch(1, int64(id)*7, -1, 0), batch(2, int64(id), 5, 3))
				if id == 2 { // another request's, with bytes that look like one
					key = int16(kmsg.Metadata)
				}
				l.Conn = &script{}
				if _, err := l.Write(request(key, version, id)); err != nil {
					t.Fatal(err)
				}
				text = append(text, body...)
				ends = append(ends, len(text))
			}
			l.Conn = &script{from: bytes.NewReader(text), piece: func() int { return 1 + r.IntN(60) }}
			var got []byte
			buf := make([]byte, 60)
			for next := 0; ; {
				n, err := l.Read(buf)
				got = append(got, buf[:n]...)
				for next < len(ends) && len(got) >= ends[next] {
					want := int64(1000+next) * 1e6
					if next == 2 {
						want = 1001e6 // of the batch before, as far as anybody knows
					}
					if ns := l.stamps.of(0, int64(next)*10+9); ns != want {
						t.Fatalf("version %d: the stamp of response %d is %d, want %d", version, next, ns, want)
					}
					next++
				}
				if err == io.EOF {
					break
				}
			}
			if !bytes.Equal(got, text) {
				t.Fatal("the client reads something else")
			}
			if l.stamps.of(1, 3) != 0 || l.stamps.of(2, 0) != 0 || l.stamps.of(0, 4) != 0 || len(l.asked) != 0 {
				t.Errorf("stamps of CreateTime, of a failure or of what is gone; %d requests are open", len(l.asked))
			}
		}
	}
}

// What is no response of Kafka is passed on as it is.
func FuzzListener(f *testing.F) {
	f.Add(response(7, 9, batch(0, 1, 2, 0)), int16(9))
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff}, int16(9))
	f.Add([]byte{0, 0, 0, 9, 0, 0, 0, 7, 255, 255, 255, 255, 15}, int16(9))
	f.Fuzz(func(t *testing.T, text []byte, version int16) {
		l := &listener{Conn: &script{}, stamps: new(stamps), asked: map[int32]int16{}}
		l.Write(request(int16(kmsg.Produce), version, 7))
		l.Conn = &script{from: bytes.NewReader(text), piece: func() int { return 5 }}
		got, err := io.ReadAll(l)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	})
}

// appending answers produce requests as a broker does whose topics have
// LogAppendTime, which the fake one leaves out of its answers. The stamp of a batch
// follows from its offset.
func appending(c *kfake.Cluster) {
	next := map[int32]int64{}
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		request := r.(*kmsg.ProduceRequest)
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, t := range request.Topics {
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic, topic.TopicID = t.Topic, t.TopicID
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, batch(p.Partition, next[p.Partition], stampAt(next[p.Partition]), 0))
				next[p.Partition] += int64(binary.BigEndian.Uint32(p.Records[57:])) // number of records of a batch
			}
			response.Topics = append(response.Topics, topic)
		}
		return response, nil, true
	})
}

func stampAt(base int64) int64 { return 1_700_000_000_000 + 5*base }

// An acknowledgement carries the stamp of its batch, and none where the client's own
// stamps stand or nothing is answered.
func TestAcknowledgementsCarryTheStamp(t *testing.T) {
	for name, c := range map[string]struct {
		answers func(*kfake.Cluster)
		acks    int16
		stamped bool
	}{"append": {appending, -1, true}, "acks=1": {appending, 1, true}, "create": {func(*kfake.Cluster) {}, -1, false}, "acks=0": {func(*kfake.Cluster) {}, 0, false}} {
		t.Run(name, func(t *testing.T) {
			k := cluster(t)
			c.answers(k)
			cfg := config(k)
			cfg.Partitions = 2
			cfg.Settings.Producer.Acks, cfg.Settings.Producer.Idempotent = int(c.acks), c.acks == -1
			var told int64
			p, err := created(t, cfg).Producer(t.Context(), queue.ProducerConfig{Acked: func(as []queue.Ack) {
				for _, a := range as {
					told += a.N
					if (a.BrokerNs != 0) != c.stamped || (a.BrokerKind == appended) != c.stamped || a.Err != nil || c.stamped && a.BrokerNs > stampAt(a.Offset)*1e6 {
						t.Errorf("an acknowledgement is %+v", a)
					}
					// One tells of one batch: the next begins at an offset of a later stamp.
					if last := a.Offset + a.N - 1; c.stamped && a.BrokerNs < stampAt(a.Offset-cfgBatch)*1e6 && last > 0 {
						t.Errorf("the stamp of %d to %d is %d", a.Offset, last, a.BrokerNs)
					}
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			for i := range 60 {
				if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x"), Partition: int32(i % 2)}, {Payload: []byte("y"), Partition: int32(i % 2)}}); err != nil {
					t.Fatal(err)
				}
				if i%4 == 3 {
					if err := p.Flush(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if told != 120 {
				t.Errorf("%d fates", told)
			}
		})
	}
}

// cfgBatch is how many messages a partition has between two flushes: a batch has
// no more.
const cfgBatch = 4
