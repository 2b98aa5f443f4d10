#!/usr/bin/env bash
# A real Apache Kafka broker (KRaft) for tests and scenarios, on loopback, in the
# foreground: whoever starts it ends it.
#
#   scripts/kafka.sh jars
#       fetches Kafka's jars from Maven Central into .tools, once, and prints the
#       folder. Java and Maven are installed where that is permitted.
#   scripts/kafka.sh node --dir DIR --port PORT --controller-port PORT
#                         [--id N] [--quorum 1@127.0.0.1:9093,…] [name=value …]
#       formats DIR for the node where it is new, and becomes the broker: its
#       process is Java's. Further settings are those of server.properties.
#
# KAFKA_SCRAM has users of SASL SCRAM, name:password with commas, that the
# formatting creates. KAFKA_JVM are Java's options in the place of a heap of 256 MB.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pom=$root/interop/kafka/pom.xml
jars=${KAFKA_JARS:-$root/.tools/kafka}

fail() { echo "scripts/kafka.sh: $*" >&2; exit 1; }

# need installs a Debian package for a program that is absent, or says how.
need() {
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$2" >/dev/null
    command -v "$1" >/dev/null && return
  fi
  fail "Apache Kafka needs $1: install it (Debian: apt-get install $2)"
}

fetch() {
  cmp -s "$pom" "$jars/pom.xml" && return
  [ -z "${KAFKA_JARS:-}" ] || { compgen -G "$jars/kafka_*.jar" >/dev/null && return; fail "KAFKA_JARS: no jars of Kafka in $jars"; }
  need java default-jre-headless
  need mvn maven
  local new
  mkdir -p "$(dirname "$jars")"
  new=$(mktemp -d "$jars.XXXXXX")
  if ! mvn -q -B -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$new" >&2; then
    rm -rf "$new"
    fail "Maven did not fetch Kafka's jars; what it says stands above"
  fi
  cp "$pom" "$new/pom.xml"
  rm -rf "$jars"
  mv "$new" "$jars"
}

node() {
  local dir= port= controller= id=1 quorum= extra=()
  while [ $# -gt 0 ]; do
    case $1 in
      --dir) dir=$2; shift ;;
      --port) port=$2; shift ;;
      --controller-port) controller=$2; shift ;;
      --id) id=$2; shift ;;
      --quorum) quorum=$2; shift ;;
      *=*) extra+=("$1") ;;
      *) fail "$1 is neither an option nor name=value" ;;
    esac
    shift
  done
  [ -n "$dir" ] && [ -n "$port" ] && [ -n "$controller" ] || fail "a node needs --dir, --port and --controller-port"
  need java default-jre-headless
  fetch
  quorum=${quorum:-$id@127.0.0.1:$controller}
  local voters=${quorum//[^@]/} replicas
  replicas=$(( ${#voters} < 3 ? ${#voters} : 3 ))
  mkdir -p "$dir"
  # The buffers of the log cleaner and the indexes are Kafka's own sizes made
  # small: 128 MB and 10 MB do not suit a heap of 256 MB.
  cat >"$dir/server.properties" <<END
process.roles=broker,controller
node.id=$id
controller.quorum.voters=$quorum
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
log.dirs=$dir/data
auto.create.topics.enable=false
offsets.topic.num.partitions=3
offsets.topic.replication.factor=$replicas
transaction.state.log.num.partitions=3
transaction.state.log.replication.factor=$replicas
transaction.state.log.min.isr=$(( replicas > 1 ? 2 : 1 ))
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=$replicas
share.coordinator.state.topic.min.isr=$(( replicas > 1 ? 2 : 1 ))
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=4194304
log.index.size.max.bytes=1048576
num.io.threads=2
num.network.threads=2
END
  printf '%s\n' "${extra[@]}" >>"$dir/server.properties"
  local java=(java -Dorg.slf4j.simpleLogger.defaultLogLevel="${KAFKA_LOG:-warn}" -cp "$jars/*")
  if [ ! -e "$dir/data/meta.properties" ]; then
    local users=()
    if [ -n "${KAFKA_SCRAM:-}" ]; then
      local user
      while read -r -d , user; do
        for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
          users+=(--add-scram "$mechanism=[name=${user%%:*},password=${user#*:}]")
        done
      done <<<"$KAFKA_SCRAM,"
    fi
    # The id of the cluster is any 16 bytes in base64, the same in all nodes.
    "${java[@]}" -XX:TieredStopAtLevel=1 kafka.tools.StorageTool format --cluster-id "${KAFKA_CLUSTER_ID:-cXVldWViZW5jaC10ZXN0cw}" --config "$dir/server.properties" "${users[@]}" >"$dir/format.txt" 2>&1 ||
      { cat "$dir/format.txt" >&2; fail "the storage of node $id could not be formatted"; }
  fi
  # shellcheck disable=SC2086
  exec "${java[@]}" ${KAFKA_JVM:--Xmx256m -XX:+UseSerialGC} kafka.Kafka "$dir/server.properties"
}

case ${1:-} in
  jars) fetch; echo "$jars" ;;
  node) shift; node "$@" ;;
  *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
