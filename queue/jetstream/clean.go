package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// RemoveStreams removes the streams whose name is wanted and which a queue like
// this made, by their own metadata, and from other streams the durable consumers of
// groups that a queue of a wanted name made there. It returns the numbers of both.
// cfg says where the server is.
func RemoveStreams(ctx context.Context, cfg Config, wanted func(name string) bool) (streams, groups int, err error) {
	cfg.Name = "queuebench-clean" // of nothing: it is not created
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, 0, err
	}
	defer q.Close()
	var ours, others []string
	all := q.js.ListStreams(ctx)
	for s := range all.Info() {
		if name := s.Config.Name; s.Config.Metadata[ownerKey] != name {
			others = append(others, name)
		} else if wanted(name) {
			ours = append(ours, name)
		}
	}
	if err := all.Err(); err != nil {
		return 0, 0, fmt.Errorf("jetstream: listing the streams: %w", err)
	}
	for _, name := range ours {
		if err := q.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return streams, 0, fmt.Errorf("jetstream: removing stream %s: %w", name, err)
		}
		streams++
	}
	for _, name := range others {
		n, err := q.removeGroups(ctx, name, wanted)
		if groups += n; err != nil {
			return streams, groups, err
		}
	}
	return streams, groups, nil
}

// removeGroups removes groups from a stream of somebody else's.
func (q *Queue) removeGroups(ctx context.Context, stream string, wanted func(name string) bool) (n int, err error) {
	s, err := q.js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) { // gone meanwhile
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("jetstream: looking at stream %s: %w", stream, err)
	}
	var names []string
	all := s.ConsumerNames(ctx)
	for name := range all.Name() {
		if made, ok := strings.CutPrefix(name, groupPrefix); ok && wanted(made[:max(0, strings.LastIndex(made, "-group-"))]) {
			names = append(names, name)
		}
	}
	if err := all.Err(); err != nil {
		return 0, fmt.Errorf("jetstream: listing the consumers of stream %s: %w", stream, err)
	}
	for _, name := range names {
		if err := s.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return n, fmt.Errorf("jetstream: removing group %s of the stream %s: %w", name, stream, err)
		}
		n++
	}
	return n, nil
}
