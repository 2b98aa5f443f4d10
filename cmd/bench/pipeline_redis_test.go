//go:build interop && !min && !noredis

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startRedis starts Debian's redis-server.
func startRedis(t *testing.T) (url string, client *redis.Client) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	l.Close()
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", fmt.Sprint(addr.Port), "--dir", t.TempDir(), "--save", "")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v (Debian: apt-get install redis-server)", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only if it has ended
		_ = cmd.Wait()
	})
	client = redis.NewClient(&redis.Options{Addr: addr.String(), Protocol: 2})
	t.Cleanup(func() { client.Close() })
	for range 500 {
		if err = client.Ping(t.Context()).Err(); err == nil {
			return "redis://" + addr.String() + "/0", client
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal(err)
	return "", nil
}

func TestPipelinesOnRedis(t *testing.T) {
	url, client := startRedis(t)
	ctx, cancel := context.WithCancel(context.Background())
	var piping sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		piping.Wait()
	})
	testPipelines(t, others{
		kind: "redis", flags: []string{"--redis-url", url, "--redis-field", "body"}, apart: true,
		called: func(name string) string { return name },
		create: func(t *testing.T, name string) {
			if err := client.XGroupCreateMkStream(t.Context(), name, "theirs", "$").Err(); err != nil {
				t.Fatal(err)
			}
		},
		put: func(name, body string) error {
			return client.XAdd(context.Background(), &redis.XAddArgs{Stream: name, Values: []string{"body", body}}).Err()
		},
		pipe: func(t *testing.T, from, to string, change func([]byte) []byte) {
			piping.Go(func() {
				last := "0"
				for ctx.Err() == nil {
					all, err := client.XRead(ctx, &redis.XReadArgs{Streams: []string{from, last}, Block: 50 * time.Millisecond}).Result()
					if errors.Is(err, redis.Nil) || ctx.Err() != nil {
						continue
					} else if err != nil {
						t.Error(err)
						return
					}
					for _, m := range all[0].Messages {
						last = m.ID
						m.Values["body"] = change([]byte(m.Values["body"].(string)))
						if err := client.XAdd(ctx, &redis.XAddArgs{Stream: to, Values: m.Values}).Err(); err != nil && ctx.Err() == nil {
							t.Error(err)
						}
					}
				}
			})
		},
		left: func(t *testing.T, name string) (text string) {
			groups, err := client.XInfoGroups(t.Context(), name).Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				if g.Name != "theirs" {
					text += "group " + g.Name + ", "
				}
			}
			return text
		},
	})
}

// What a killed run left is removed, with a sentence for each kind of thing.
func TestCleanOnRedis(t *testing.T) {
	bareEnvironment(t)
	url, client := startRedis(t)
	if status, _, stderr := bench(t, strings.Fields("produce --run-id r1 --queue redis --rate 100 --duration 100ms --store ./lake --redis-url "+url)...); status != 0 {
		t.Fatal(stderr)
	}
	for _, name := range []string{"queuebench-r1-step-0-repeat-0-group-0", "queuebench-r10-step-0-repeat-0-group-0", "group-0"} {
		if err := client.XGroupCreateMkStream(t.Context(), "theirs", name, "$").Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"removed 1 topic of run r1 from the server, with the streams of each\nremoved 1 consumer group of run r1 from streams of others, which stay\n", "removed 0 topics of run r1 from the server, with the streams of each\n"} {
		status, stdout, stderr := bench(t, "clean", "r1", "--store", "./lake", "--queue", "redis", "--redis-url", url)
		if status != 0 || stdout != want {
			t.Errorf("status %d, %q, %s", status, stdout, stderr)
		}
	}
}
