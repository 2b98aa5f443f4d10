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
// and are marked as made by a queue like this, and from other streams the groups that
// a queue of a wanted name made there. It returns the numbers of names and groups.
// cfg says where the server is. prefix holds none of the characters *?[]\.
func RemoveStreams(ctx context.Context, cfg Config, prefix string, wanted func(name string) bool) (names, groups int, err error) {
	cfg.Name = prefix // of nothing: it is not created
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, 0, err
	}
	defer q.Close()
	markers, err := q.scan(ctx, prefix+"*:owner", "string")
	if err != nil {
		return 0, 0, err
	}
	for _, marker := range markers {
		q.cfg.Name, q.marker = strings.TrimSuffix(marker, ":owner"), marker
		if !wanted(q.cfg.Name) {
			continue
		}
		if ours, err := q.exists(ctx); err != nil || !ours {
			continue // of others, whatever it is called
		}
		keys, err := q.scan(ctx, q.cfg.Name+":*", "stream")
		if err != nil {
			return names, 0, err
		}
		q.keys = q.keys[:0]
		for _, key := range keys {
			if k := strings.TrimPrefix(key, q.cfg.Name+":"); k == strconv.Itoa(atoi(k)) {
				q.keys = append(q.keys, key)
			}
		}
		if err := q.Remove(ctx); err != nil {
			return names, 0, err
		}
		names++
	}
	streams, err := q.scan(ctx, "*", "stream")
	if err != nil {
		return names, 0, err
	}
	for _, stream := range streams {
		n, err := q.removeGroups(ctx, stream, wanted)
		if groups += n; err != nil {
			return names, groups, err
		}
	}
	return names, groups, nil
}

// removeGroups removes groups from a stream of somebody else's.
func (q *Queue) removeGroups(ctx context.Context, stream string, wanted func(name string) bool) (n int, err error) {
	all, err := q.client.XInfoGroups(ctx, stream).Result()
	if err != nil {
		if isReply(err) { // gone meanwhile, or forbidden to this user
			return 0, nil
		}
		return 0, fmt.Errorf("redis: listing the groups of the stream %s: %w", stream, err)
	}
	for _, g := range all {
		if i := strings.LastIndex(g.Name, "-group-"); i < 0 || !wanted(g.Name[:i]) {
			continue
		}
		if err := q.client.XGroupDestroy(ctx, stream, g.Name).Err(); err != nil {
			return n, fmt.Errorf("redis: removing group %s of the stream %s: %w", g.Name, stream, err)
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

// scan lists the keys of a type that match a pattern.
func (q *Queue) scan(ctx context.Context, pattern, kind string) (keys []string, err error) {
	seen := map[string]bool{} // a scan may tell a key again
	all := q.client.ScanType(ctx, 0, pattern, scanCount, kind).Iterator()
	for all.Next(ctx) {
		if key := all.Val(); !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	if err := all.Err(); err != nil {
		return nil, fmt.Errorf("redis: listing the keys %s: %w", pattern, err)
	}
	return keys, nil
}
