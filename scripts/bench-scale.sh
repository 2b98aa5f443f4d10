#!/usr/bin/env bash
# A log that outgrows one machine, tried: MESSAGES (200,000,000) at RATE
# (250,000/s) are written, and read by `analyze summary`, by Spark and by Trino
# with the SQL of `analyze sql`. Prints a table for docs/scale.md: time, memory, and
# whether they agree.
#
# ENGINES ("spark trino") are those to run; one that cannot be set up is told, and
# left out. All that is written lies below a folder of its own in SCALE_DIR (the
# system's for temporary files), which is removed in the end, and is held below
# DISK_GB (30): an engine that writes more is stopped. MEMORY (8g) is each engine's
# heap, LIMIT (7200) the seconds that each may take.
set -euo pipefail
cd "$(dirname "$0")/.."
messages=${MESSAGES:-200000000}
rate=${RATE:-250000}
engines=${ENGINES:-spark trino}
disk=${DISK_GB:-30}
memory=${MEMORY:-8g}
limit=${LIMIT:-7200}
place=${SCALE_DIR:-${TMPDIR:-/tmp}}
free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1048576) }')
if [ "$free" -lt "$disk" ]; then
  echo "$place has $free GB free, and $disk may be used: name another place by SCALE_DIR, or a lower DISK_GB." >&2
  exit 1
fi
dir=$(mktemp -d "$place/queuebench-scale-XXXXXX")
running=
cleanup() {
  if [ -n "$running" ]; then kill -KILL -- "-$running" 2>/dev/null || true; fi
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# bounded runs a program in a group of its own, and ends it where the folder or the
# time is used up.
bounded() {
  setsid "$@" &
  running=$!
  local since=$SECONDS used why=
  while kill -0 "$running" 2>/dev/null; do
    used=$(du -sm "$dir" 2>/dev/null | cut -f1) || used=0
    if [ "${used:-0}" -gt $((disk * 1024)) ]; then why="it wrote more than $disk GB"; fi
    if [ $((SECONDS - since)) -gt "$limit" ]; then why="it took more than $limit s"; fi
    if [ -n "$why" ]; then
      kill -KILL -- "-$running" 2>/dev/null || true
      wait "$running" 2>/dev/null || true
      running=
      echo "stopped: $why" >&2
      return 1
    fi
    sleep 2
  done
  local status=0
  wait "$running" || status=$?
  running=
  return "$status"
}

go build -trimpath -ldflags "-s -w" -o "$dir/analyze" ./cmd/analyze
go build -o "$dir/benchtable" ./internal/benchtable
go build -o "$dir/benchlog" ./internal/benchlog
go test -c -o "$dir/agree" ./interop/sqltest
echo "writing $messages messages" >&2
bounded "$dir/benchlog" -n "$messages" -rate "$rate" -out "$dir/log"

table=$'| | processor time | wall time | largest process | agrees |\n|---|---|---|---|---|'
# measured LABEL PROGRAM… adds a row; the rows that the program wrote are compared.
measured() {
  local label=$1 rows=$2 agrees=– line
  shift 2
  echo "== $label" >&2
  if ! bounded "$dir/benchtable" -messages "$messages" -runs 1 X "$@" >"$dir/table" 2>"$dir/errors"; then
    # Of a trace of Java the cause stands far above its end.
    grep -nE 'ERROR|Error|Exception' "$dir/errors" | head -n 5 >&2 || true
    tail -n 5 "$dir/errors" >&2
    table+=$'\n'"| $label | it did not end | | | |"
    return 0
  fi
  if [ -n "$rows" ]; then
    agrees=yes
    if ! ROWS=$rows SUMMARY=$dir/summary.json "$dir/agree" -test.run '^TestFilesAgree$' >"$dir/differences" 2>&1; then
      agrees=no
      head -n 20 "$dir/differences" >&2
    fi
  fi
  line=$(tail -n 1 "$dir/table" | awk '{ printf "%.1f s | %.1f s | %.0f MB", $(NF-3), $(NF-2), $(NF-1) }')
  table+=$'\n'"| $label | $line | $agrees |"
}

measured "analyze summary" "" bash -c '"$0" summary --json "$1" >"$2" || [ $? = 3 ]' "$dir/analyze" "$dir/log" "$dir/summary.json"
for engine in $engines; do
  "$dir/analyze" sql --engine "$engine" "$dir/log" >"$dir/$engine.sql"
  case $engine in
  spark)
    if ! command -v java >/dev/null; then
      echo "Spark is left out: it needs Java 17 or 21; install a JRE (Debian: apt-get install default-jre-headless)." >&2
      continue
    fi
    if ! python=$(scripts/python.sh spark interop/spark/requirements.txt); then
      echo "Spark is left out." >&2
      continue
    fi
    mkdir -p "$dir/spark"
    export PYSPARK_SUBMIT_ARGS="--driver-memory $memory --conf spark.local.dir=$dir/spark --conf spark.driver.extraJavaOptions=-Djava.io.tmpdir=$dir/spark pyspark-shell"
    measured Spark "$dir/spark.json" env SHUFFLE_PARTITIONS=$((2 + messages / 2000000)) bash -c '"$2" interop/spark/query.py <"$0" >"$1"' "$dir/spark.sql" "$dir/spark.json" "$python"
    rm -rf "$dir/spark"
    ;;
  trino)
    mkdir -p .tools
    if ! vars=$(scripts/trino.sh); then
      echo "Trino is left out." >&2
      continue
    fi
    eval "$vars"
    go test -c -tags trino -o "$dir/trino" ./interop/trino
    mkdir -p "$dir/tmp"
    measured Trino "$dir/trino.json" env TMPDIR="$dir/tmp" GOTMPDIR="$dir/tmp" TRINO_MEMORY="$memory" QUERY="$dir/trino.sql" ROWS="$dir/trino.json" "$dir/trino" -test.run '^TestQueryOfAFile$' -test.timeout 0
    rm -rf "$dir/tmp"
    ;;
  *)
    echo "ENGINES has $engine: it takes spark and trino." >&2
    exit 1
    ;;
  esac
done
echo "$messages messages at $rate/s, $(du -sm "$dir/log" | cut -f1) MB of Parquet, $(nproc) processors"
echo
echo "$table"
