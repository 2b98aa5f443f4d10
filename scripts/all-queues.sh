#!/usr/bin/env bash
# Starts a server of each queue on this machine, sweeps it at the same rates, and
# draws all runs in one figure with one table, which has what an acknowledgement
# means beside each number: all-queues/overlay.html. RATES and DURATION change
# the load. The servers share this machine with the load, which every run says.
set -euo pipefail
cd "$(dirname "$0")/.."
rates=${RATES:-500,1000,2000,4000}
duration=${DURATION:-20s}
. scripts/servers.sh
trap stop_servers EXIT
mkdir -p .tools
[ -x bin/bench ] || make bench
[ -x bin/analyze ] || make analyze
version=$(go list -m -f '{{.Version}}' github.com/nats-io/nats-server/v2)
[ -x ".tools/nats-server" ] || GOBIN=$PWD/.tools go install "github.com/nats-io/nats-server/v2@$version"
make tools
start_versitygw .tools/versitygw
start_nats .tools/nats-server
start_rabbitmq
start_redis --appendonly yes --appendfsync always
always=$REDIS_URL
start_redis --appendonly yes --appendfsync everysec
runs=()
sweep() {
  echo "== $*" >&2
  runs+=("$(bin/bench sweep --rates "$rates" --duration "$duration" --message-size 100 --data all-queues/data --quiet "$@" | tail -n 1)")
}
sweep --queue delta --commit-interval 20ms --store "s3://$S3_BUCKET/queue" --endpoint "$S3_ENDPOINT" --log-store all-queues/data
sweep --queue nats --nats-url "$NATS_URL" --nats-monitor "$NATS_MONITOR"
sweep --queue rabbitmq --rabbitmq-url "$RABBITMQ_URL"
sweep --queue rabbitmq --rabbitmq-url "$RABBITMQ_URL" --rabbitmq-type classic
sweep --queue redis --redis-url "$always"
sweep --queue redis --redis-url "$REDIS_URL"
start_kafka
sweep --queue kafka --brokers "$KAFKA_BROKER"
sweep --queue kafka --brokers "$KAFKA_BROKER" -X acks=1
bin/analyze overlay "${runs[@]}" --out all-queues
