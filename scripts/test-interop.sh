#!/usr/bin/env bash
# Tests against programs of others. RabbitMQ and Redis are installed from Debian
# where that is permitted; for what needs Python it is set up in .tools, from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$(scripts/python.sh venv interop/deltatable/requirements.txt interop/kafka/requirements.txt)
export PYTHON
go test -count=1 -tags interop ./interop/deltatable/...

# A real Apache Kafka, which scripts/kafka.sh fetches with its Java.
scripts/kafka.sh jars >/dev/null
go test -count=1 -timeout 20m -tags interop ./interop/kafka/...
# The same broker behind bad lines, and killed; and a wall clock that is set, for which
# the programs are built anew.
go test -count=1 -timeout 15m -tags interop -run 'TestKafkaThroughFaults|TestKilledKafka|TestStepsOfTheWallClock' ./interop/faults

# Spark runs the query of `analyze sql`, in one process, by an environment of its
# own: it is large.
if ! command -v java >/dev/null; then
  echo "The test against Spark needs Java 17 or 21: install a JRE (Debian: apt-get install default-jre-headless)." >&2
  exit 1
fi
spark=$(scripts/python.sh spark interop/spark/requirements.txt)
PYTHON=$spark go test -count=1 -tags interop ./interop/spark

# What takes minutes, and finds nothing more under the race detector: the wider
# scopes of the commit protocol, and 10,000 commits.
DELTALAKE_TEST_WIDE=1 go test -count=1 -timeout 30m -run 'TestCommitProtocolExplored|TestTenThousandCommits' ./queue/deltalake

# Fuzzing as `make fuzz` does it: much of the standard library is compiled anew.
go test -count=1 -tags interop -run '^TestTargetsRunSideBySide$' ./internal/fuzzing

# RabbitMQ and Redis: the tests start Redis themselves, with other settings each.
(
  . scripts/servers.sh
  trap stop_servers EXIT
  need redis-server redis-server
  start_rabbitmq
  export RABBITMQ_URL
  go test -count=1 -tags interop -timeout 15m ./queue/rabbitmq ./queue/redisstreams
  go test -count=1 -tags interop -timeout 10m -run 'On(RabbitMQ|Redis)$' ./cmd/bench
)
go test -count=1 -tags interop -run '^TestNoSecretGetsOutOfARun$' ./queue/jetstream

# The image of deploy/Dockerfile, without a daemon: built by hand, started in a root
# that holds nothing else.
go test -count=1 -tags interop ./interop/container

# The manifests of deploy/kubernetes against the types of its API.
(cd interop/kubernetes && go vet ./... && go test -count=1 ./...)
