package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/seqset"
)

// Recorded is what a consume half recorded in closed parts before it was
// killed: where the next one goes on, and what counts as recorded.
type Recorded struct {
	Manifest *rawlog.Manifest
	// Rows is the number of deliveries recorded.
	Rows int64

	begin  *Begin
	parts  []rawlog.PartInfo
	next   map[stream]int // index of the next part
	groups map[string]*recordedGroup
}

// stream is an actor's table.
type stream struct{ table, actor string }

// recordedGroup is what a group has.
type recordedGroup struct {
	got        []seqset.Set // per producer
	now        []seqset.Set // the same; the group goes on with it
	deliveries int64
	fresh      int64
	places     map[mark]*reached
}

// reached is how far a producer's messages in a partition were recorded.
type reached struct{ offset, high int64 }

// recordedColumns are read of each delivery.
var recordedColumns = []string{"group", "producer", "seq", "partition", "offset"}

// ReadRecorded reads what a process recorded of a run, of which store is the
// prefix. What lies in the spool must have been stored before. It has its
// received parts in memory one at a time, and of the rest only what numbers
// take.
func ReadRecorded(ctx context.Context, store objectstore.Store, process string) (*Recorded, error) {
	name := rawlog.ManifestNameOf(process)
	body, _, err := store.Get(ctx, name)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, fmt.Errorf("there is nothing to resume: no %s at %s; start without --resume", name, store.Address())
	}
	if err != nil {
		return nil, err
	}
	m, err := rawlog.ReadManifest(strings.NewReader(string(body)))
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", name, store.Address(), err)
	}
	r := &Recorded{Manifest: m, next: map[stream]int{}, groups: map[string]*recordedGroup{}}
	if len(m.Begin) > 0 {
		if r.begin, err = ParseBegin(m.Begin); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", name, store.Address(), err)
		}
	}
	actors, err := r.actorsOf(m)
	if err != nil {
		return nil, err
	}
	var names []string
	err = store.List(ctx, objectstore.ListOptions{}, func(i objectstore.Info) error {
		if rawlog.IsPartName(i.Key) && actors(i.Key) {
			names = append(names, i.Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.read(ctx, store, name); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, store.Address(), err)
		}
	}
	return r, nil
}

// actorsOf tells the names of the process's own parts from those of others.
func (r *Recorded) actorsOf(m *rawlog.Manifest) (func(name string) bool, error) {
	var first, n int
	if _, err := fmt.Sscan(m.Settings["first-consumer"], &first); err != nil {
		return nil, fmt.Errorf("%s does not say which consumers it has: it cannot be resumed", m.Name())
	}
	if _, err := fmt.Sscan(m.Settings["all-consumers"], &n); err != nil {
		return nil, fmt.Errorf("%s does not say which consumers it has: it cannot be resumed", m.Name())
	}
	return func(name string) bool {
		_, file, _ := strings.Cut(name, "/part-")
		at := strings.LastIndexByte(file, '-')
		if at < 0 {
			return false
		}
		actor := file[:at]
		var id int
		if _, err := fmt.Sscanf(actor, "consumer-%d", &id); err == nil && actor == fmt.Sprintf("consumer-%d", id) {
			return id >= first && id < first+n
		}
		return actor == m.Process
	}, nil
}

func (r *Recorded) read(ctx context.Context, store objectstore.Store, name string) error {
	body, info, err := store.Get(ctx, name)
	if err != nil {
		return err
	}
	columns := []string{"time_ns"}
	if strings.HasPrefix(name, rawlog.Received.Name+"/") {
		columns = recordedColumns
	}
	reader, err := rawlog.OpenPart(rawlog.Memory(body), columns...)
	if err != nil {
		return err
	}
	p := reader.Part()
	if p.Run != r.Manifest.Run {
		return fmt.Errorf("it is of the run %q", p.Run)
	}
	r.parts = append(r.parts, rawlog.PartInfo{Name: name, Rows: reader.Rows(), Bytes: max(info.Size, int64(len(body))), Part: p})
	key := stream{p.Table, p.Actor}
	r.next[key] = max(r.next[key], p.Index+1)
	if p.Table != rawlog.Received.Name {
		return nil
	}
	for reader.Next() {
		c := reader.Columns()
		for i := range reader.Len() {
			producer, partition := c[1].Ints[i], c[3].Ints[i]
			if producer < 0 || producer >= MaxActors || partition < 0 || partition >= MaxPartitions || c[2].Ints[i] < 0 {
				return errors.New("it holds a row that no consumer wrote")
			}
			r.group(c[0].String(i)).add(uint16(producer), c[2].Ints[i], int32(partition), c[4].Ints[i])
			r.Rows++
		}
	}
	return reader.Err()
}

func (r *Recorded) group(name string) *recordedGroup {
	g := r.groups[name]
	if g == nil {
		g = &recordedGroup{places: map[mark]*reached{}}
		r.groups[name] = g
	}
	return g
}

func (g *recordedGroup) add(producer uint16, seq int64, partition int32, offset int64) {
	for len(g.got) <= int(producer) {
		g.got, g.now = append(g.got, seqset.Set{}), append(g.now, seqset.Set{})
	}
	g.deliveries++
	if g.got[producer].Add(seq) {
		g.now[producer].Add(seq)
		g.fresh++
	}
	m := mark{producer, partition}
	at := g.places[m]
	if at == nil {
		at = &reached{offset: -1, high: -1}
		g.places[m] = at
	}
	at.offset, at.high = max(at.offset, offset), max(at.high, seq)
}

// start is where a group goes on in a topic: at the last position, inclusive,
// that every producer of the topic has reached in every partition. Beyond it a
// producer's end mark may lie before another one's last message.
func (r *Recorded) start(group string, topic int) queue.Start {
	earliest := queue.Start{Kind: queue.StartEarliest}
	g := r.groups[group]
	if r.begin == nil || g == nil {
		return earliest
	}
	at := int64(math.MaxInt64)
	each := r.begin.Producers / r.begin.Topics
	for p := topic * each; p < (topic+1)*each; p++ {
		for k := range r.begin.Partitions {
			place := g.places[mark{uint16(p), int32(k)}]
			if place == nil || place.offset < 0 {
				return earliest
			}
			at = min(at, place.offset)
		}
	}
	return queue.Start{Kind: queue.StartOffset, Offset: at}
}

// again tells whether a delivery is recorded and comes again only because the
// group starts before it.
func (g *recordedGroup) again(producer uint16, seq int64, partition int32, offset int64) bool {
	if g == nil {
		return false
	}
	at := g.places[mark{producer, partition}]
	return at != nil && offset <= at.offset && int(producer) < len(g.got) && g.got[producer].Has(seq)
}

// FirstIndex is the index of the next part of an actor's table.
func (r *Recorded) FirstIndex(table string, _, _ int, actor string) int {
	return r.next[stream{table, actor}]
}

// allParts are the parts of a step, those of a killed process included.
func (r *run) allParts(stepNumber, repeat int) []rawlog.PartInfo {
	parts := r.cfg.Log.Parts(stepNumber, repeat)
	if r.cfg.Half != nil && r.cfg.Half.Recorded != nil {
		parts = append(slices.Clone(r.cfg.Half.Recorded.parts), parts...)
	}
	return parts
}

// raw is a begin mark for the manifest.
func (b *Begin) raw() json.RawMessage {
	body, err := b.encode()
	if err != nil {
		return nil // it came as one
	}
	return body
}
