package kafka

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/nearest"
	"queuebench/internal/secret"
)

// day is the longest time that a setting may ask for, in milliseconds.
const day = 24 * 60 * 60 * 1000

// known are the settings that mean something to this client.
var known = []setting{
	{names: []string{"bootstrap.servers", "metadata.broker.list"}, what: "host:port, with commas; required", set: setBrokers},
	{names: []string{"client.id"}, what: "text; queuebench", set: text(func(s *Settings) *string { return &s.ClientID })},
	{names: []string{"client.rack"}, what: "text; none", set: text(func(s *Settings) *string { return &s.Rack })},
	{names: []string{"security.protocol"}, what: "plaintext, ssl, sasl_plaintext, sasl_ssl; plaintext", set: oneOf(func(s *Settings) *string { return &s.Protocol }, "plaintext", "ssl", "sasl_plaintext", "sasl_ssl")},
	{names: []string{"ssl.ca.location"}, what: "file of PEM certificates; those of the system", set: text(func(s *Settings) *string { return &s.TLS.CAFile })},
	{names: []string{"ssl.certificate.location"}, what: "file of the client's own PEM certificate; none", set: text(func(s *Settings) *string { return &s.TLS.CertFile })},
	{names: []string{"ssl.key.location"}, what: "file of its PEM key; none", set: text(func(s *Settings) *string { return &s.TLS.KeyFile })},
	{names: []string{"ssl.key.password"}, what: "password of an encrypted key; none", secret: true, set: hiddenText(func(s *Settings) *secret.Text { return &s.TLS.KeyPassword })},
	{names: []string{"enable.ssl.certificate.verification"}, what: "true, false; true", set: func(s *Settings, v string) error {
		return truth(func(s *Settings) *bool { return &s.TLS.Insecure })(s, inverted(v))
	}},
	{names: []string{"ssl.endpoint.identification.algorithm"}, what: "https, none; https", set: func(s *Settings, v string) error {
		var algorithm string
		err := oneOf(func(*Settings) *string { return &algorithm }, "https", "none")(s, v)
		s.TLS.AnyName = algorithm == "none"
		return err
	}},
	{names: []string{"sasl.mechanism", "sasl.mechanisms"}, what: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512; required for SASL", set: oneOf(func(s *Settings) *string { return &s.SASL.Mechanism }, "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")},
	{names: []string{"sasl.username"}, what: "text; none", set: text(func(s *Settings) *string { return &s.SASL.Username })},
	{names: []string{"sasl.password"}, what: "text, from a file or KAFKA_SASL_PASSWORD; none", secret: true, set: hiddenText(func(s *Settings) *secret.Text { return &s.SASL.Password })},
	{names: []string{"socket.timeout.ms"}, what: "100 to 900000 ms; 10000", set: millis(func(s *Settings) *time.Duration { return &s.Request }, 100, 900_000)},
	{names: []string{"socket.connection.setup.timeout.ms"}, what: "1000 to a day, ms; 10000", set: millis(func(s *Settings) *time.Duration { return &s.Dial }, 1000, day)},
	{names: []string{"connections.max.idle.ms"}, what: "100 to 900000 ms; 300000", set: millis(func(s *Settings) *time.Duration { return &s.Idle }, 100, 900_000)},
	{names: []string{"metadata.max.age.ms", "topic.metadata.refresh.interval.ms"}, what: "10 to 3600000 ms; 300000", set: millis(func(s *Settings) *time.Duration { return &s.Metadata }, 10, 3_600_000)},
	{names: []string{"retry.backoff.ms"}, what: "1 to 300000 ms; 100", set: millis(func(s *Settings) *time.Duration { return &s.Backoff }, 1, 300_000)},
	{names: []string{"retry.backoff.max.ms"}, what: "1 to 300000 ms; 1000", set: millis(func(s *Settings) *time.Duration { return &s.MaxBackoff }, 1, 300_000)},

	{names: []string{"acks", "request.required.acks"}, what: "all, 1, 0; all", set: setAcks},
	{names: []string{"enable.idempotence"}, what: "true, false; true with acks=all", set: truth(func(s *Settings) *bool { return &s.Producer.Idempotent })},
	{names: []string{"transactional.id"}, what: "text; none", set: text(func(s *Settings) *string { return &s.Producer.Transactional })},
	{names: []string{"transaction.timeout.ms"}, what: "1000 to 2147483647 ms; 60000", set: millis(func(s *Settings) *time.Duration { return &s.Producer.TransactionTimeout }, 1000, math.MaxInt32)},
	{names: []string{"linger.ms", "queue.buffering.max.ms"}, what: "0 to 60000 ms, with a fraction; 5", set: millis(func(s *Settings) *time.Duration { return &s.Producer.Linger }, 0, 60_000)},
	{names: []string{"batch.size"}, what: "512 to 1073741824 bytes; 1000000", set: number(func(s *Settings) *int32 { return &s.Producer.BatchBytes }, 512, 1<<30)},
	{names: []string{"message.max.bytes"}, what: "512 to 1073741824 bytes, which bound batch.size; 1000000", set: number(func(s *Settings) *int32 { return &s.Producer.MessageBytes }, 512, 1<<30)},
	{names: []string{"queue.buffering.max.messages"}, what: "1 to 2147483647 messages; 100000", set: number(func(s *Settings) *int { return &s.Producer.BufferMessages }, 1, math.MaxInt32)},
	{names: []string{"queue.buffering.max.kbytes"}, what: "1 to 2147483647 KiB; 262144", set: func(s *Settings, v string) error {
		err := number(func(s *Settings) *int64 { return &s.Producer.BufferBytes }, 1, math.MaxInt32)(s, v)
		if err == nil {
			s.Producer.BufferBytes <<= 10
		}
		return err
	}},
	{names: []string{"buffer.memory"}, what: "1 byte or more; 268435456", set: number(func(s *Settings) *int64 { return &s.Producer.BufferBytes }, 1, math.MaxInt64)},
	{names: []string{"max.in.flight.requests.per.connection", "max.in.flight"}, what: "1 to 1000000, 5 at most with idempotence; the client's choice", set: number(func(s *Settings) *int { return &s.Producer.InFlight }, 1, 1_000_000)},
	{names: []string{"compression.type", "compression.codec"}, what: "none, gzip, snappy, lz4, zstd; none", set: oneOf(func(s *Settings) *string { return &s.Producer.Compression }, "none", "gzip", "snappy", "lz4", "zstd")},
	{names: []string{"compression.level"}, what: "-1 to 12, the codec's own scale; -1", set: number(func(s *Settings) *int { return &s.Producer.Level }, -1, 12)},
	{names: []string{"retries", "message.send.max.retries"}, what: "0 to 2147483647; no bound but the delivery timeout", set: number(func(s *Settings) *int { return &s.Producer.Retries }, 0, math.MaxInt32)},
	{names: []string{"delivery.timeout.ms", "message.timeout.ms"}, what: "1000 to 2147483647 ms, 0 for none; 300000", set: func(s *Settings, v string) error {
		if strings.TrimSpace(v) == "0" {
			s.Producer.Delivery = 0
			return nil
		}
		return millis(func(s *Settings) *time.Duration { return &s.Producer.Delivery }, 1000, math.MaxInt32)(s, v)
	}},
	{names: []string{"request.timeout.ms"}, what: "100 to 900000 ms that the leader waits for its replicas; 30000", set: millis(func(s *Settings) *time.Duration { return &s.Producer.Ack }, 100, 900_000)},
	{names: []string{"partitioner"}, what: strings.Join(partitioners, ", ") + "; murmur2_random", set: oneOf(func(s *Settings) *string { return &s.Producer.Partitioner }, partitioners...)},

	{names: []string{"group.id"}, what: "text; a group of the run's own", set: text(func(s *Settings) *string { return &s.Consumer.Group })},
	{names: []string{"group.instance.id"}, what: "text; none", group: true, set: text(func(s *Settings) *string { return &s.Consumer.Instance })},
	{names: []string{"group.protocol"}, what: "classic, consumer; classic", group: true, set: oneOf(func(s *Settings) *string { return &s.Consumer.Protocol }, "classic", "consumer")},
	{names: []string{"session.timeout.ms"}, what: "100 to 3600000 ms; 45000", group: true, set: millis(func(s *Settings) *time.Duration { return &s.Consumer.Session }, 100, 3_600_000)},
	{names: []string{"heartbeat.interval.ms"}, what: "1 to 3600000 ms; 3000", group: true, set: millis(func(s *Settings) *time.Duration { return &s.Consumer.Heartbeat }, 1, 3_600_000)},
	{names: []string{"max.poll.interval.ms", "rebalance.timeout.ms"}, what: "100 to a day, ms, that a member has to give partitions up in a rebalance; 300000", group: true, set: millis(func(s *Settings) *time.Duration { return &s.Consumer.Rebalance }, 100, day)},
	{names: []string{"partition.assignment.strategy"}, what: "range, roundrobin, sticky, cooperative-sticky, with commas; range,roundrobin", group: true, set: setAssignment},
	{names: []string{"enable.auto.commit"}, what: "true, false (the commit policy never); true", group: true, set: func(s *Settings, v string) error {
		on := false
		if err := truth(func(*Settings) *bool { return &on })(s, v); err != nil {
			return err
		}
		s.Consumer.Commit = CommitNever
		if on {
			s.Consumer.Commit = CommitInterval
		}
		return nil
	}},
	{names: []string{"auto.commit.interval.ms"}, what: "1 to a day, ms; 5000", group: true, set: millis(func(s *Settings) *time.Duration { return &s.Consumer.CommitInterval }, 1, day)},
	{names: []string{"auto.offset.reset"}, what: "earliest, smallest, latest, largest; earliest", set: setReset},
	{names: []string{"fetch.min.bytes"}, what: "1 to 100000000 bytes; 1", set: number(func(s *Settings) *int32 { return &s.Consumer.FetchMin }, 1, 100_000_000)},
	{names: []string{"fetch.max.bytes"}, what: "1 to 100000000 bytes; 52428800", set: number(func(s *Settings) *int32 { return &s.Consumer.FetchMax }, 1, 100_000_000)},
	{names: []string{"fetch.message.max.bytes", "max.partition.fetch.bytes"}, what: "1 to 100000000 bytes of a partition; 1048576", set: number(func(s *Settings) *int32 { return &s.Consumer.FetchPartition }, 1, 100_000_000)},
	{names: []string{"fetch.wait.max.ms", "fetch.max.wait.ms"}, what: "10 to 300000 ms; 500", set: millis(func(s *Settings) *time.Duration { return &s.Consumer.FetchWait }, 10, 300_000)},
	{names: []string{"isolation.level"}, what: "read_committed, read_uncommitted; read_committed", set: func(s *Settings, v string) error {
		var level string
		err := oneOf(func(*Settings) *string { return &level }, "read_committed", "read_uncommitted")(s, v)
		s.Consumer.ReadCommitted = level == "read_committed"
		return err
	}},
	{names: []string{"check.crcs"}, what: "true, false; true", set: truth(func(s *Settings) *bool { return &s.Consumer.CheckCRC })},
}

// without are names of librdkafka's that tune what this client has not, and
// change nothing of what is measured by being left out.
var without = strings.Fields(`
	log_level debug log.queue log.thread.name statistics.interval.ms enable.random.seed api.version.request api.version.fallback.ms
	api.version.request.timeout.ms broker.version.fallback broker.address.family broker.address.ttl socket.keepalive.enable socket.nagle.disable
	socket.send.buffer.bytes socket.receive.buffer.bytes socket.max.fails socket.blocking.max.ms reconnect.backoff.ms reconnect.backoff.max.ms
	topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.sparse topic.metadata.propagation.max.ms topic.blacklist
	allow.auto.create.topics enable.partition.eof enable.auto.offset.store queued.min.messages queued.max.messages.kbytes
	fetch.error.backoff.ms fetch.queue.backoff.ms coordinator.query.interval.ms group.protocol.type consume.callback.max.messages
	batch.num.messages queue.buffering.backpressure.threshold sticky.partitioning.linger.ms delivery.report.only.error dr_cb dr_msg_cb
	enable.gapless.guarantee queuing.strategy produce.offset.report client.dns.lookup internal.termination.signal receive.message.max.bytes
	message.copy.max.bytes max.block.ms reconnect.backoff.jitter.ms security.providers ssl.cipher.suites ssl.curves.list ssl.sigalgs.list`)

func inverted(v string) string {
	switch strings.ToLower(v) {
	case "true", "t", "1":
		return "false"
	case "false", "f", "0":
		return "true"
	}
	return v
}

// errUserinfo does not repeat what stood there.
var errUserinfo = errors.New("an address takes no user and no password, since it is recorded with the run: they are sasl.username and sasl.password, which come from a file of settings or the environment")

func setBrokers(s *Settings, v string) error {
	var all []string
	for b := range strings.SplitSeq(v, ",") {
		if b = strings.TrimSpace(b); b == "" {
			continue
		}
		_, rest, scheme := strings.Cut(b, "://")
		if scheme { // PLAINTEXT://host:port, as brokers write their listeners
			b = rest
		}
		if strings.Contains(b, "@") {
			return errUserinfo
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return fmt.Errorf("it names no server: write host:port")
	}
	s.Brokers = all
	return nil
}

func setAcks(s *Settings, v string) error {
	switch v {
	case "all", "-1":
		s.Producer.Acks = -1
		return nil
	case "0", "1":
		s.Producer.Acks, _ = strconv.Atoi(v)
		return nil
	}
	return fmt.Errorf("say all, 1 or 0")
}

func setReset(s *Settings, v string) error {
	switch v {
	case "earliest", "smallest", "beginning":
		s.Consumer.Reset = "earliest"
	case "latest", "largest", "end":
		s.Consumer.Reset = "latest"
	default:
		return fmt.Errorf("say earliest or latest")
	}
	return nil
}

var strategies = []string{"range", "roundrobin", "sticky", "cooperative-sticky"}

func setAssignment(s *Settings, v string) error {
	var all []string
	for name := range strings.SplitSeq(v, ",") {
		var one string
		if err := oneOf(func(*Settings) *string { return &one }, strategies...)(s, strings.TrimSpace(name)); err != nil {
			return fmt.Errorf("%q: say %s, with commas%s", name, strings.Join(strategies, ", "), nearest.DidYouMean(name, strategies))
		}
		all = append(all, one)
	}
	s.Consumer.Assignment = all
	return nil
}
