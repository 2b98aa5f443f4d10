package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// RemoveStreams removes the streams whose name is wanted and which a queue like
// this made, by their own metadata, and returns their number. cfg says where the
// server is.
func RemoveStreams(ctx context.Context, cfg Config, wanted func(name string) bool) (int, error) {
	cfg.Name = "queuebench-clean" // of nothing: it is not created
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer q.Close()
	var names []string
	all := q.js.ListStreams(ctx)
	for s := range all.Info() {
		if wanted(s.Config.Name) && s.Config.Metadata[ownerKey] == s.Config.Name {
			names = append(names, s.Config.Name)
		}
	}
	if err := all.Err(); err != nil {
		return 0, fmt.Errorf("jetstream: listing the streams: %w", err)
	}
	n := 0
	for _, name := range names {
		if err := q.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return n, fmt.Errorf("jetstream: removing stream %s: %w", name, err)
		}
		n++
	}
	return n, nil
}
