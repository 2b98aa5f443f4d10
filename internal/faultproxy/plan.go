package faultproxy

import (
	"net/http"
	"time"
)

// Kind is what is done to a request.
type Kind string

// The kinds. Those that are Lost were done by the server, and the client does not
// hear of it.
const (
	SlowDown    Kind = "503 with Retry-After, not passed on"
	ServerError Kind = "500, not passed on"
	LostByError Kind = "500 after it was done"
	LostByCut   Kind = "connection cut after it was done"
	CutBefore   Kind = "connection cut before it was passed on"
	HalfOpen    Kind = "no answer, the connection stays open"
	Truncated   Kind = "half of the body, then the connection is cut"
	Damaged     Kind = "a byte of the body is changed"
	Forbidden   Kind = "403"
	Misstated   Kind = "another checksum than the body's is told"
	Slow        Kind = "slow"
	ByPrefix    Kind = "503 by the rate of a prefix"
	passedOn    Kind = "passed on"
)

// Plan says how often what happens.
type Plan struct {
	Seed uint64
	// Chance of each kind, for each request; the rest is passed on.
	Chance map[Kind]float64
	// Latency is added to each request, with Jitter more at most.
	Latency, Jitter time.Duration
	// SlowFor is how long a slow request takes, and for how long a connection
	// stays half open.
	SlowFor time.Duration
	// Bandwidth of all bodies together, bytes per second; 0 for no limit.
	Bandwidth int64
	// PerPrefix is how many requests per second the keys below one folder may
	// have; 0 for no limit.
	PerPrefix int
	// Down tells whether the store is gone at a moment since the start; nil for
	// never.
	Down func(since time.Duration) bool
	// Denied is the code of S3 with which a request is refused (403), such as
	// ExpiredToken, by the moment and what its signature says of the keys; empty
	// where it is not. Nil for never.
	Denied func(since time.Duration, r *http.Request) string
}
