#!/usr/bin/env bash
# Throughput against 1, 2 and 3 brokers of Apache Kafka: the same load, which asks
# for more than they can take, and its efficiency, (throughput ratio)/(resource
# ratio) against one broker. The topic has two partitions for each broker, one
# replica, acks=all.
#
#   scripts/kafka-scaling.sh [flags of bench run]
#
# The brokers run on this host and share its processors with each other and with
# the load: with few processors this measures those. On hosts of their own give
# bench the brokers, and --vary partitions.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
pids=()
# stop ends the nodes that this script started, and only these.
stop() {
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
  pids=()
}
trap 'stop; rm -rf "$work"' EXIT
for name in bench analyze; do (cd "$root" && go build -o "$work/$name" "./cmd/$name"); done
"$root/scripts/kafka.sh" jars >/dev/null

# free prints so many ports that nobody listened on a moment ago.
free() {
  python3 -c 'import socket, sys
all = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))' "$1"
}

printf '%-8s  %16s  %5s  %10s\n' brokers 'messages/s' cov efficiency
for n in 1 2 3; do
  read -ra ports <<<"$(free $((2 * n)))"
  quorum='' servers=''
  for i in $(seq "$n"); do
    quorum+=${quorum:+,}$i@127.0.0.1:${ports[2 * i - 1]}
    servers+=${servers:+,}127.0.0.1:${ports[2 * i - 2]}
  done
  for i in $(seq "$n"); do
    "$root/scripts/kafka.sh" node --id "$i" --dir "$work/$n-$i" --port "${ports[2 * i - 2]}" --controller-port "${ports[2 * i - 1]}" --quorum "$quorum" >"$work/$n-$i.txt" 2>&1 &
    pids+=($!)
  done
  for i in $(seq "$n"); do
    for _ in $(seq 600); do
      kill -0 "${pids[i - 1]}" 2>/dev/null || { cat "$work/$n-$i.txt" >&2; exit 1; }
      if (exec 3<>"/dev/tcp/127.0.0.1/${ports[2 * i - 2]}") 2>/dev/null; then break; fi
      sleep 0.2
    done
  done
  sleep 2 # until each knows the others
  # Overrun messages are no failure here: the rate is above what can be taken.
  (cd "$work" && ./bench run --queue kafka --brokers "$servers" --partitions $((2 * n)) --replication 1 --kafka-set acks=all \
    --rate 500000 --duration 10s --drain-timeout 60s --producers 2 --consumers 2 --run-id "brokers-$n" --log-store "$work/runs" --calibrate=false --quiet "$@" >"$work/$n.txt") || { cat "$work/$n.txt" >&2; exit 1; }
  stop
  "$work/analyze" summary "$work/runs/brokers-$n" --json >"$work/summary.json"
  python3 - "$n" "$work/summary.json" "$work/first" <<'END'
import json, os, sys
n, path, first = int(sys.argv[1]), sys.argv[2], sys.argv[3]
t = json.load(open(path))["steps"][0]["throughput"]
if n == 1:
    open(first, "w").write(str(t["received_per_s"]))
base = float(open(first).read())
print(f'{n:<8}  {t["received_per_s"]:>16,.0f}  {t["cov"]:>5.2f}  {t["received_per_s"] / base / n:>10.2f}')
END
done
