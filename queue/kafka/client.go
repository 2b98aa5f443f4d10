package kafka

import (
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// check refuses settings that do not go together, with what to change.
func (s *Settings) check() error {
	p, c := &s.Producer, &s.Consumer
	switch {
	case len(s.Brokers) == 0:
		return errors.New("kafka: bootstrap.servers is missing: name at least one broker as host:port")
	case p.Idempotent && p.Acks != -1:
		return fmt.Errorf("kafka: enable.idempotence=true needs acks=all, and acks is %d", p.Acks)
	case p.Idempotent && p.InFlight > 5:
		return fmt.Errorf("kafka: enable.idempotence=true allows 5 requests in flight, and max.in.flight is %d", p.InFlight)
	case p.Transactional != "" && !p.Idempotent:
		return errors.New("kafka: transactional.id needs enable.idempotence=true and acks=all")
	case p.Transactional != "" && p.CommitInterval <= 0:
		return fmt.Errorf("kafka: transactions are committed every %v, which is not positive", p.CommitInterval)
	case p.BufferBytes < int64(p.BatchBytes):
		return fmt.Errorf("kafka: the producer's buffer of %d bytes is smaller than a batch of %d: raise queue.buffering.max.kbytes or lower batch.size", p.BufferBytes, p.BatchBytes)
	case c.Heartbeat >= c.Session && c.Protocol == "classic":
		return fmt.Errorf("kafka: heartbeat.interval.ms %v is not below session.timeout.ms %v", c.Heartbeat, c.Session)
	case c.FetchMin > c.FetchMax:
		return fmt.Errorf("kafka: fetch.min.bytes %d is above fetch.max.bytes %d", c.FetchMin, c.FetchMax)
	case c.Commit == CommitInterval && c.CommitInterval <= 0:
		return fmt.Errorf("kafka: auto.commit.interval.ms is %v, it is positive", c.CommitInterval)
	}
	switch c.Commit {
	case CommitInterval, CommitBatch, CommitNever:
	default:
		return fmt.Errorf("kafka: commit policy %q: say interval, batch or never", c.Commit)
	}
	eager, cooperative := 0, 0
	for _, name := range c.Assignment {
		if name == "cooperative-sticky" {
			cooperative++
		} else {
			eager++
		}
	}
	if eager > 0 && cooperative > 0 {
		return errors.New("kafka: partition.assignment.strategy mixes cooperative-sticky with strategies that give everything up: name one kind")
	}
	return s.checkSecurity()
}

// common are the options of every client. seen is told of what its brokers
// stamped; nil for nobody.
func (s *Settings) common(seen *stamps, hooks ...kgo.Hook) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(s.Brokers...), kgo.ClientID(s.ClientID), kgo.SoftwareNameAndVersion("queuebench", "1"),
		kgo.DialTimeout(s.Dial), kgo.RequestTimeoutOverhead(s.Request), kgo.ConnIdleTimeout(s.Idle),
		kgo.MetadataMaxAge(s.Metadata), kgo.MetadataMinAge(min(retryPause, s.Metadata)),
		kgo.RetryBackoffFn(s.backoff), kgo.DisableClientMetrics(), kgo.WithHooks(hooks...),
	}
	if s.Rack != "" {
		opts = append(opts, kgo.Rack(s.Rack))
	}
	secure, err := s.security(seen)
	return append(opts, secure...), err
}

// backoff doubles from Backoff to MaxBackoff, with a jitter of a fifth.
func (s *Settings) backoff(fails int) time.Duration {
	d := s.Backoff
	for i := 1; i < fails && d < s.MaxBackoff; i++ {
		d *= 2
	}
	d = min(d, s.MaxBackoff)
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// options are those of a producer's client. Its own bound of the buffer is
// above ours, so that its Produce never waits.
func (p *ProducerSettings) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.MaxBufferedRecords(2*p.BufferMessages + 1<<20), kgo.ProducerLinger(p.Linger), kgo.ProducerBatchMaxBytes(min(p.BatchBytes, p.MessageBytes)),
		kgo.ProduceRequestTimeout(p.Ack), kgo.RecordPartitioner(newPartitioner(p.Partitioner)), kgo.UnknownTopicRetries(int(startupLimit / retryPause)),
	}
	switch p.Acks {
	case 0:
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()))
	case 1:
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()))
	default:
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	}
	if !p.Idempotent {
		opts = append(opts, kgo.DisableIdempotentWrite())
		if p.InFlight > 0 {
			opts = append(opts, kgo.MaxProduceRequestsInflightPerBroker(p.InFlight))
		}
	}
	if p.Retries >= 0 {
		opts = append(opts, kgo.RecordRetries(p.Retries))
	}
	if p.Delivery > 0 {
		opts = append(opts, kgo.RecordDeliveryTimeout(p.Delivery))
	}
	return append(opts, kgo.ProducerBatchCompression(p.codecs()...))
}

// codecs are the codec that is wanted: there is no other to fall back to, since
// a broker that cannot take it should say so.
func (p *ProducerSettings) codecs() []kgo.CompressionCodec {
	codec := kgo.NoCompression()
	switch p.Compression {
	case "gzip":
		codec = kgo.GzipCompression()
	case "snappy":
		codec = kgo.SnappyCompression()
	case "lz4":
		codec = kgo.Lz4Compression()
	case "zstd":
		codec = kgo.ZstdCompression()
	}
	if p.Level >= 0 {
		codec = codec.WithLevel(p.Level)
	}
	return []kgo.CompressionCodec{codec}
}

// options are those of a consumer's client.
func (c *ConsumerSettings) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.FetchMinBytes(c.FetchMin), kgo.FetchMaxBytes(c.FetchMax), kgo.FetchMaxPartitionBytes(min(c.FetchPartition, c.FetchMax)),
		kgo.FetchMaxWait(c.FetchWait), kgo.KeepRetryableFetchErrors(), kgo.WithPools(new(recordPool)), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
	}
	if c.ReadCommitted {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if !c.CheckCRC {
		opts = append(opts, kgo.DisableFetchCRCValidation())
	}
	return opts
}

// partitioners are where a message goes that names no partition: librdkafka's
// names, and those of ours that choose without a key.
var partitioners = []string{"murmur2_random", "murmur2", "consistent_random", "consistent", "fnv1a_random", "fnv1a", "random", "roundrobin", "sticky"}

// partitioner keeps the partition that a message names, and otherwise asks
// another.
type partitioner struct{ otherwise kgo.Partitioner }

func newPartitioner(name string) kgo.Partitioner {
	crc := kgo.SaramaHasher(crc32.ChecksumIEEE)
	fnv1a := kgo.KafkaHasher(func(b []byte) uint32 { h := fnv.New32a(); h.Write(b); return h.Sum32() })
	var p kgo.Partitioner
	switch name {
	case "consistent_random":
		p = kgo.StickyKeyPartitioner(crc)
	case "consistent":
		p = hashed(crc)
	case "murmur2":
		p = hashed(nil)
	case "fnv1a_random":
		p = kgo.StickyKeyPartitioner(fnv1a)
	case "fnv1a":
		p = hashed(fnv1a)
	case "random":
		p = kgo.BasicConsistentPartitioner(func(string) func(*kgo.Record, int) int {
			return func(_ *kgo.Record, n int) int { return rand.IntN(n) }
		})
	case "roundrobin":
		p = kgo.RoundRobinPartitioner()
	case "sticky":
		p = kgo.StickyPartitioner()
	default:
		p = kgo.StickyKeyPartitioner(nil)
	}
	return partitioner{p}
}

// hashed hashes a missing key as an empty one, as librdkafka's names without
// _random do.
func hashed(hash kgo.PartitionerHasher) kgo.Partitioner {
	keyed := kgo.StickyKeyPartitioner(hash)
	return kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		p := keyed.ForTopic(topic)
		return func(r *kgo.Record, n int) int {
			if r.Key != nil {
				return p.Partition(r, n)
			}
			return p.Partition(&kgo.Record{Key: []byte{}}, n)
		}
	})
}

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	otherwise := p.otherwise.ForTopic(topic)
	news, _ := otherwise.(kgo.TopicPartitionerOnNewBatch)
	return &topicPartitioner{otherwise, news}
}

type topicPartitioner struct {
	otherwise kgo.TopicPartitioner
	news      kgo.TopicPartitionerOnNewBatch // nil if it wants none
}

// chosen is the partition that a message names; negative for none. A record's
// own Partition is overwritten by the client, so it stands in its context.
func chosen(r *kgo.Record) int32 {
	if m, ok := r.Context.(*message); ok {
		return m.partition
	}
	return -1
}

func (p *topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return chosen(r) >= 0 || p.otherwise.RequiresConsistency(r)
}

func (p *topicPartitioner) Partition(r *kgo.Record, n int) int {
	if k := chosen(r); k >= 0 {
		return int(k)
	}
	return p.otherwise.Partition(r, n)
}

func (p *topicPartitioner) OnNewBatch() {
	if p.news != nil {
		p.news.OnNewBatch()
	}
}
