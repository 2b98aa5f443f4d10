//go:build interop && linux && !min && !nokafka && !nonats && !norabbitmq && !noredis

package main

import (
	"fmt"
	"os"
	"testing"
)

// Three workers share a group on a real server: each message comes to one of them, and
// all know when all have come.
func TestWorkersShareAGroupOnRabbitMQ(t *testing.T) {
	bareEnvironment(t)
	url, _ := rabbitmqChannel(t)
	shareAGroup(t, "rabbitmq", fmt.Sprintf("share-rabbitmq-%d", os.Getpid()), "--rabbitmq-url", url)
}

func TestWorkersShareAGroupOnRedis(t *testing.T) {
	bareEnvironment(t)
	url, _ := startRedis(t)
	shareAGroup(t, "redis", "share-redis", "--redis-url", url)
}

// One that is killed leaves its share to the others: nothing is lost.
func TestAWorkerOfASharedGroupIsKilledOnRabbitMQ(t *testing.T) {
	bareEnvironment(t)
	url, _ := rabbitmqChannel(t)
	run := fmt.Sprintf("shot-rabbitmq-%d", os.Getpid())
	flags := []string{"--rabbitmq-url", url}
	defer func() { // a cleanup's context has ended
		if status, _, stderr := bench(t, append([]string{"clean", run, "--store", "./lake", "--force", "--queue", "rabbitmq"}, flags...)...); status != 0 {
			t.Errorf("clean: status %d: %s", status, stderr)
		}
	}()
	all := startShared(t, "rabbitmq", append(flags, "--remove=false"), run)
	shoot(t, all, run)
	othersHadAll(t, all, run)
}

func TestAWorkerOfASharedGroupIsKilledOnRedis(t *testing.T) {
	bareEnvironment(t)
	url, _ := startRedis(t)
	all := startShared(t, "redis", []string{"--redis-url", url, "--redis-claim-after", "3s", "--remove=false"}, "shot-redis")
	shoot(t, all, "shot-redis")
	othersHadAll(t, all, "shot-redis")
}

// shareAGroup is TestWorkersShareAGroup on one server.
func shareAGroup(t *testing.T, queue, run string, flags ...string) {
	t.Helper()
	sharedAll(t, startShared(t, queue, flags, run), run)
}
