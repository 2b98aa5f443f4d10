package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"queuebench/clock"
	"queuebench/runner/schedule"
)

// Begin is what a begin mark tells a consume half of the load: JSON behind the
// identity. A producer sends it to each of its partitions before anything else.
// It may be larger than the messages, and carries no secret: no flag holds one.
type Begin struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Queue   string `json:"queue"` // its kind

	CommitIntervalNs int64 `json:"commit_interval_ns"`
	// StartNs is when message 0 is due, by Clock.
	StartNs int64 `json:"start_ns"`
	// LeadNs is how long before StartNs the mark was made.
	LeadNs     int64   `json:"lead_ns,omitempty"`
	DurationNs int64   `json:"duration_ns"`
	Rate       float64 `json:"rate"` // messages per second, all producers together
	Arrivals   string  `json:"arrivals"`
	Messages   int64   `json:"messages"`

	Topics     int `json:"topics"`
	Producers  int `json:"producers"` // of all topics
	Partitions int `json:"partitions"`

	Clock clock.Identity `json:"clock"`
	// Schedule is what the schedule is made of; nil where that is too long.
	Schedule *schedule.Spec `json:"schedule,omitempty"`
}

const (
	beginVersion = 1
	// maxBegin bounds what a mark may make us read, bytes.
	maxBegin = 64 << 10
)

func (b *Begin) encode() ([]byte, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("begin mark: %w", err)
	}
	if len(body) > maxBegin {
		without := *b
		without.Schedule = nil
		return without.encode()
	}
	return body, nil
}

// ParseBegin reads what a begin mark tells, and refuses what no producer says.
func ParseBegin(body []byte) (*Begin, error) {
	if len(body) > maxBegin {
		return nil, fmt.Errorf("begin mark: %d bytes, more than %d", len(body), maxBegin)
	}
	b := new(Begin)
	if err := json.Unmarshal(bytes.TrimRight(body, "\x00"), b); err != nil {
		return nil, fmt.Errorf("begin mark: %w", err)
	}
	switch {
	case b.Version != beginVersion:
		return nil, fmt.Errorf("begin mark: version %d, this program knows %d: use the same bench for both halves", b.Version, beginVersion)
	case b.Producers < 1 || b.Producers > MaxActors || b.Topics < 1 || b.Topics > b.Producers || b.Producers%b.Topics != 0 ||
		b.Partitions < 1 || b.Partitions > MaxPartitions || b.Messages < 0 || b.LeadNs < 0 || b.LeadNs > int64(MaxDuration) || b.CommitIntervalNs < 0 ||
		b.DurationNs < 0 || b.DurationNs > int64(MaxDuration) || !(b.Rate >= 0 && b.Rate < math.MaxFloat64) ||
		b.StartNs < 0 || b.StartNs > math.MaxInt64/2:
		return nil, errors.New("begin mark: it says what no producer says")
	}
	return b, nil
}
