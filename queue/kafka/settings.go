package kafka

import (
	"time"

	"queuebench/internal/secret"
)

// Settings are the settings of Kafka's clients, by their meaning. Set reads them
// from the names that librdkafka gives them; docs/kafka.md lists them.
type Settings struct {
	Brokers    []string // host:port, at least one
	ClientID   string
	Rack       string
	Protocol   string // plaintext, ssl, sasl_plaintext or sasl_ssl
	TLS        TLS
	SASL       SASL
	Dial       time.Duration // of a connection
	Request    time.Duration // of any request, beyond what it asks the broker to wait
	Idle       time.Duration // after which a connection is closed
	Metadata   time.Duration // age at which it is asked for again
	Backoff    time.Duration // before the first retry; it doubles
	MaxBackoff time.Duration

	Producer ProducerSettings
	Consumer ConsumerSettings
}

// TLS says how brokers are trusted and how the client shows who it is.
type TLS struct {
	CAFile, CertFile, KeyFile string
	KeyPassword               secret.Text
	Insecure                  bool // the broker's certificate is not checked
	AnyName                   bool // its name is not checked
}

// SASL says how the client shows who it is.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string
	Password  secret.Text
}

// ProducerSettings are those of producers.
type ProducerSettings struct {
	Acks               int // −1 for all replicas in sync, 1 for the leader, 0 for none
	Idempotent         bool
	Transactional      string        // the producers' transactional ids begin with it; empty for none
	TransactionTimeout time.Duration // after which the broker gives a transaction up
	CommitInterval     time.Duration // of transactions
	Linger             time.Duration
	BatchBytes         int32
	MessageBytes       int32 // what bounds BatchBytes
	BufferMessages     int
	BufferBytes        int64
	InFlight           int // requests under way at once for each broker; 0 leaves it to the client
	Compression        string
	Level              int // of compression; −1 is the codec's default
	Retries            int // of a batch; −1 for no bound but Delivery
	Delivery           time.Duration
	Ack                time.Duration // for how long the leader waits for its replicas
	Partitioner        string
}

// ConsumerSettings are those of consumers.
type ConsumerSettings struct {
	Group          string // empty for a group of the run's own
	Instance       string // the members' static ids begin with it; empty for dynamic members
	Protocol       string // classic or consumer
	Session        time.Duration
	Heartbeat      time.Duration
	Rebalance      time.Duration
	Assignment     []string // strategies, the preferred one first
	Commit         CommitPolicy
	CommitInterval time.Duration
	Reset          string // earliest or latest; empty for what the start says
	FetchMin       int32
	FetchMax       int32
	FetchPartition int32
	FetchWait      time.Duration
	ReadCommitted  bool
	CheckCRC       bool
}

// CommitPolicy says when a group's position is committed.
type CommitPolicy string

// The commit policies. All but CommitNever also commit when a partition is given
// up, so that its next reader goes on where the last one stood.
const (
	CommitInterval CommitPolicy = "interval" // every CommitInterval, in the background
	CommitBatch    CommitPolicy = "batch"    // what a Receive returned, in the next one
	CommitNever    CommitPolicy = "never"
)

// Defaults are librdkafka's, but for what is said beside them.
func Defaults() Settings {
	return Settings{
		ClientID: "queuebench", Protocol: "plaintext",
		Dial: 10 * time.Second, Request: 10 * time.Second, Idle: 5 * time.Minute, Metadata: 5 * time.Minute,
		Backoff: 100 * time.Millisecond, MaxBackoff: time.Second,
		Producer: ProducerSettings{
			Acks: -1, Idempotent: true, // librdkafka: off
			TransactionTimeout: time.Minute, CommitInterval: 100 * time.Millisecond,
			Linger: 5 * time.Millisecond, BatchBytes: 1_000_000, MessageBytes: 1_000_000,
			BufferMessages: 100_000, BufferBytes: 256 << 20, // librdkafka: 1 GiB
			Compression: "none", Level: -1, Retries: -1,
			Delivery: 5 * time.Minute, Ack: 30 * time.Second, Partitioner: "murmur2_random", // librdkafka: consistent_random
		},
		Consumer: ConsumerSettings{
			Protocol: "classic", Session: 45 * time.Second, Heartbeat: 3 * time.Second, Rebalance: 5 * time.Minute,
			Assignment: []string{"range", "roundrobin"}, Commit: CommitInterval, CommitInterval: 5 * time.Second,
			FetchMin: 1, FetchMax: 50 << 20, FetchPartition: 1 << 20, FetchWait: 500 * time.Millisecond,
			ReadCommitted: true, CheckCRC: true, // librdkafka: no check
		},
	}
}
