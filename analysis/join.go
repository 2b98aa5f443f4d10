package analysis

import (
	"math"
)

const (
	blockBits = 10
	blockSize = 1 << blockBits // messages of a block
	// A block that lies so many behind the newest of its producer is moved
	// aside when at most an eighth of it is still open.
	asideBehind = 16
	asideShare  = blockSize / 8
	// cutSlack is by how much a seq may exceed the number of rows in a log that
	// was cut off: the messages that were in flight, and those whose part was
	// not closed, have none. It bounds what a damaged seq costs.
	cutSlack     = 1 << 22
	maxGroups    = 64
	maxProducers = 1 << 16
	// maxSeconds bounds ReceivedPerSecond: 11 days.
	maxSeconds = 1_000_000
)

// The state of a message in a block.
const (
	hasRow      uint8 = 1 << iota // its row of sent was seen
	wasAcked                      //
	wasOverrun                    // never sent: nothing is awaited
	isUnknown                     // beyond the watermark: nothing is counted
	openMessage uint8 = 0
)

// block is blockSize messages of one producer, next to one another by seq, from
// the moment when the first row or delivery of one is seen until all of them
// have both.
type block struct {
	index    int64
	open     int // rows and deliveries that are still awaited
	intended [blockSize]int64
	sent     [blockSize]int64 // 0 where it was not handed over
	acked    [blockSize]int64
	state    [blockSize]uint8
	got      [][blockSize / 64]uint64 // by group: first deliveries
	early    []early                  // deliveries before their row, group by group
}

// early is a delivery whose row of sent was not seen yet.
type early struct {
	received, broker int64
	origin           int32 // in a breaker
}

// straggler is a message of a block that was moved aside.
type straggler struct {
	intended, sent, acked int64
	state                 uint8
	got                   uint64  // groups
	early                 []early // by group, as above
}

// The blocks that are no longer there.
var (
	doneBlock  = new(block)
	asideBlock = new(block)
)

type messageKey struct {
	producer int32
	seq      int64
}

// producer is what a join knows of a producer.
type producer struct {
	id        int32
	watermark int64            // of its rows, ns since the epoch
	blocks    map[int64]*block // open
	gone      goneBlocks
	newest    int64
	// The blocks used last, by rows and by deliveries.
	rowBlock, deliveryBlock *block
}

// joiner joins the rows of sent with those of received, of one repeat of one
// step, and counts. Its memory is that of the messages in flight: a block is
// given up when each of its messages is done, and the last open ones of an old
// block are moved aside, so that a lost message does not hold a thousand.
type joiner struct {
	step   *StepDigest
	start  int64
	groups []string
	// sentWhole: no row of sent is missing; receivedWhole likewise.
	sentWhole, receivedWhole bool
	// until is the watermark of the deliveries, ns since the epoch.
	until    int64
	maxSeq   int64
	endToEnd bool // clocks can be compared
	// by breaks latencies down; nil where there is nothing to break down. The
	// partition of the row at hand and the origin of the delivery at hand are
	// told before each.
	by           *breaker
	rowPartition int64
	origin       origin
	sending      *recorder
	receiving    *recorder
	// slowest finds the slowest messages. from is the stream whose delivery is at
	// hand, and consumers are the names of all.
	slowest   *slowFinder
	from      *receivedStream
	consumers []string

	producers map[int32]*producer
	lastOne   *producer
	aside     map[messageKey]*straggler
	free      []*block
	scratch   scratch
	single    bool // rows are counted one by one
	only      bool // of latencies only the end-to-end one is wanted
	openCount int
	memory    *budget
	err       error
}

// Positions in the recorders.
const (
	recSendLag = iota
	recOwnLag
	recPublish
)
const (
	recEndToEnd = iota
	recFromSend
	recBroker
	recPoll
)

func newJoiner(s *StepDigest, groups []string) *joiner {
	j := &joiner{
		rowPartition: -1,
		step:         s, start: s.StartNs, groups: groups, until: math.MaxInt64, endToEnd: s.NoEndToEnd == "",
		sending:   newRecorder(s.StartNs, s.Intervals, int(SendLag), ownSeries, int(Publish)),
		receiving: newRecorder(s.StartNs, s.Intervals, int(EndToEnd), int(EndToEndFromSend), int(BrokerToConsumer), int(Poll)),
		producers: map[int32]*producer{}, aside: map[messageKey]*straggler{},
		slowest: newSlowFinder(len(s.Intervals), 0, s.Duration),
	}
	j.memory = new(budget)
	j.sending.alike = []int{recSendLag, recOwnLag}
	return j
}

func (j *joiner) producer(id int64) *producer {
	if p := j.lastOne; p != nil && int64(p.id) == id {
		return p
	}
	if id < 0 || id >= maxProducers {
		return nil
	}
	p := j.producers[int32(id)]
	if p == nil {
		p = &producer{id: int32(id), watermark: math.MaxInt64, blocks: map[int64]*block{}}
		if !j.sentWhole {
			// A producer without a part of its own: nothing is known of it.
			p.watermark = math.MinInt64
		}
		j.producers[int32(id)] = p
	}
	j.lastOne = p
	return p
}
