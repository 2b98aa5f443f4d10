# Functions that install, start and stop servers of queues on this machine, for
# other scripts to source. Each server has free ports of the loopback interface
# and its data in a folder under $SERVERS, which is removed with it; stop_servers
# ends exactly what was started.
SERVERS=$(mktemp -d "${TMPDIR:-/tmp}/queuebench-servers.XXXXXX")
SERVER_GROUPS=()
EPMD_PORTS=()

# need PROGRAM PACKAGE: installs Debian's package where that is permitted.
need() {
  export PATH=$PATH:/usr/sbin:/usr/lib/rabbitmq/bin
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    # A package must not start its server: ours has ports and data of its own.
    local policy=/usr/sbin/policy-rc.d made=
    if [ ! -e $policy ]; then printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && made=1; fi
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$2" >/dev/null || true
    if [ -n "$made" ]; then rm -f $policy; fi
    command -v "$1" >/dev/null && return
  fi
  echo "This needs $1: install it (Debian: apt-get install $2)." >&2
  return 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for PORT WHAT GROUP
wait_for() {
  for _ in $(seq 600); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    if ! kill -0 "$3" 2>/dev/null; then break; fi
    sleep 0.2
  done
  echo "$2 did not start:" >&2
  tail -n 20 "$SERVERS/$2.log" >&2
  return 1
}

# started NAME COMMAND…: runs a server in a process group of its own.
started() {
  local name=$1
  shift
  setsid "$@" >"$SERVERS/$name.log" 2>&1 </dev/null &
  SERVER_GROUPS+=($!)
}

# start_redis [SETTING…]: sets REDIS_URL.
start_redis() {
  need redis-server redis-server
  local port
  port=$(free_port)
  mkdir -p "$SERVERS/redis-$port"
  started redis redis-server --bind 127.0.0.1 --port "$port" --dir "$SERVERS/redis-$port" --save '' "$@"
  wait_for "$port" redis "${SERVER_GROUPS[-1]}"
  REDIS_URL=redis://127.0.0.1:$port/0
}

# start_kafka [NAME=VALUE…]: one node of Apache Kafka; sets KAFKA_BROKER.
start_kafka() {
  local port dir
  port=$(free_port)
  dir=$SERVERS/kafka-$port
  "$(dirname "${BASH_SOURCE[0]}")/kafka.sh" jars >/dev/null
  started kafka "$(dirname "${BASH_SOURCE[0]}")/kafka.sh" node --dir "$dir" --port "$port" --controller-port "$(free_port)" "$@"
  wait_for "$port" kafka "${SERVER_GROUPS[-1]}"
  KAFKA_BROKER=127.0.0.1:$port
}

# start_rabbitmq: sets RABBITMQ_URL.
start_rabbitmq() {
  need rabbitmq-server rabbitmq-server
  local port dist epmd dir
  port=$(free_port) dist=$(free_port) epmd=$(free_port)
  dir=$SERVERS/rabbitmq-$port
  mkdir -p "$dir"
  echo '[].' >"$dir/plugins"
  EPMD_PORTS+=("$epmd")
  started rabbitmq env HOME="$dir" ERL_EPMD_PORT="$epmd" ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_CONF_ENV_FILE=/dev/null \
    RABBITMQ_NODENAME="queuebench-$port@localhost" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$port" RABBITMQ_DIST_PORT="$dist" \
    RABBITMQ_MNESIA_BASE="$dir/mnesia" RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_ENABLED_PLUGINS_FILE="$dir/plugins" RABBITMQ_CONFIG_FILE="$dir/none" \
    /usr/lib/rabbitmq/bin/rabbitmq-server
  wait_for "$port" rabbitmq "${SERVER_GROUPS[-1]}"
  RABBITMQ_URL=amqp://127.0.0.1:$port/
}

# start_nats PROGRAM [SETTING…]: sets NATS_URL and NATS_MONITOR.
start_nats() {
  local program=$1 port monitor
  shift
  port=$(free_port) monitor=$(free_port)
  started nats "$program" -a 127.0.0.1 -p "$port" -m "$monitor" -js -sd "$SERVERS/nats-$port" "$@"
  wait_for "$port" nats "${SERVER_GROUPS[-1]}"
  NATS_URL=nats://127.0.0.1:$port NATS_MONITOR=http://127.0.0.1:$monitor
}

# start_versitygw PROGRAM: an S3 server with a bucket; sets S3_ENDPOINT and S3_BUCKET
# and exports its keys.
start_versitygw() {
  local port dir sidecar=()
  port=$(free_port)
  dir=$SERVERS/s3-$port
  S3_BUCKET=queuebench
  mkdir -p "$dir/$S3_BUCKET"
  # What it knows of an object it keeps in extended attributes, or beside it.
  if ! python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.queuebench", b"x")' "$dir" 2>/dev/null; then
    mkdir -p "$SERVERS/sidecar-$port"
    sidecar=(--sidecar "$SERVERS/sidecar-$port")
  fi
  export MINIO_S3_ACCESS_KEY=queuebench MINIO_S3_SECRET_ACCESS_KEY=$port-of-this-run
  started versitygw env ROOT_ACCESS_KEY="$MINIO_S3_ACCESS_KEY" ROOT_SECRET_KEY="$MINIO_S3_SECRET_ACCESS_KEY" \
    "$1" --port "127.0.0.1:$port" --keep-alive --quiet --region us-east-1 posix "${sidecar[@]}" "$dir"
  wait_for "$port" versitygw "${SERVER_GROUPS[-1]}"
  S3_ENDPOINT=http://127.0.0.1:$port
}

stop_servers() {
  local g p
  for g in "${SERVER_GROUPS[@]}"; do
    kill -TERM -- "-$g" 2>/dev/null || true
  done
  for g in "${SERVER_GROUPS[@]}"; do
    for _ in $(seq 50); do
      kill -0 -- "-$g" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$g" 2>/dev/null || true
  done
  for p in "${EPMD_PORTS[@]}"; do
    ERL_EPMD_PORT=$p epmd -kill >/dev/null 2>&1 || true
  done
  SERVER_GROUPS=() EPMD_PORTS=()
  rm -rf "$SERVERS"
}
