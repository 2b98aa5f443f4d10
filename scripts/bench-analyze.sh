#!/usr/bin/env bash
# What a message costs to analyse, natively, in WebAssembly in Node, and by DuckDB
# from the same parts. MESSAGES (10,000,000) at RATE (250,000/s), medians of RUNS
# (3). WASM=0 and DUCKDB=0 leave these out; LOG keeps the log in a folder, and
# takes the one that is there.
set -euo pipefail
cd "$(dirname "$0")/.."
messages=${MESSAGES:-10000000}
rate=${RATE:-250000}
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
log=${LOG:-$dir/log}
[ -e "$log/run.json" ] || go run ./internal/benchlog -n "$messages" -rate "$rate" -out "$log"
echo "$messages messages, $(du -sm "$log" | cut -f1) MB of Parquet"
go build -trimpath -ldflags "-s -w" -o "$dir/analyze" ./cmd/analyze
go build -o "$dir/benchtable" ./internal/benchtable
programs=(
  "all latencies, one core" env GOMAXPROCS=1 "$dir/analyze" summary --json "$log" --
  "digest, one core" env GOMAXPROCS=1 "$dir/analyze" digest -o "$dir/digest" "$log" --
  "all latencies, all cores" "$dir/analyze" summary --json "$log" --
  "end-to-end only, one core" env GOMAXPROCS=1 "$dir/analyze" summary --json --only end-to-end "$log"
)
if [ "${DUCKDB:-1}" = 1 ]; then
  [ -d interop/duckdb/node_modules ] || (cd interop/duckdb && npm ci)
  "$dir/analyze" sql "$log" >"$dir/query.sql"
  # The same join and the end-to-end percentiles.
  programs+=(-- "DuckDB, one thread" bash -c 'RUNS=1 node interop/duckdb/bench.mjs <"$0"' "$dir/query.sql")
fi
"$dir/benchtable" -messages "$messages" -runs "$runs" "${programs[@]}"
if [ "${WASM:-1}" = 1 ]; then
  echo "== WebAssembly in Node: the first run pays for the compiler"
  BENCH_LOG=$log GOOS=js GOARCH=wasm go test -tags minimal -exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" ./analysis -run '^$' -bench '^BenchmarkFolder$' -benchtime 1x -count "$runs" | grep Benchmark
fi
