package redisstreams

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// scanCount is how many keys the server looks at for each request of a scan.
const scanCount = 1000

// RemoveStreams removes the streams of the names that begin with prefix, are wanted,
// and are marked as made by a queue like this, and returns the number of these
// names. cfg says where the server is. prefix holds none of the characters *?[]\.
func RemoveStreams(ctx context.Context, cfg Config, prefix string, wanted func(name string) bool) (int, error) {
	cfg.Name = prefix // of nothing: it is not created
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer q.Close()
	markers, err := q.scan(ctx, prefix+"*:owner")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, marker := range markers {
		q.cfg.Name, q.marker = strings.TrimSuffix(marker, ":owner"), marker
		if !wanted(q.cfg.Name) {
			continue
		}
		if ours, err := q.exists(ctx); err != nil || !ours {
			continue // of others, whatever it is called
		}
		keys, err := q.scan(ctx, q.cfg.Name+":*")
		if err != nil {
			return n, err
		}
		q.keys = q.keys[:0]
		for _, key := range keys {
			if k := strings.TrimPrefix(key, q.cfg.Name+":"); k == strconv.Itoa(atoi(k)) {
				q.keys = append(q.keys, key)
			}
		}
		if err := q.Remove(ctx); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// atoi is a number, −1 for none.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// scan lists the keys that match a pattern.
func (q *Queue) scan(ctx context.Context, pattern string) (keys []string, err error) {
	all := q.client.Scan(ctx, 0, pattern, scanCount).Iterator()
	for all.Next(ctx) {
		keys = append(keys, all.Val())
	}
	if err := all.Err(); err != nil {
		return nil, fmt.Errorf("redis: listing the keys %s: %w", pattern, err)
	}
	return keys, nil
}
