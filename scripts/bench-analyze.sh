#!/usr/bin/env bash
# What a message costs to analyse: natively on one core, in WebAssembly in Node,
# and by DuckDB from the same parts. MESSAGES (10,000,000) at RATE (250,000/s).
set -euo pipefail
cd "$(dirname "$0")/.."
messages=${MESSAGES:-10000000}
rate=${RATE:-250000}
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go run ./internal/benchlog -n "$messages" -rate "$rate" -out "$dir/log"
echo "$messages messages, $(du -sm "$dir/log" | cut -f1) MB of Parquet"
echo "== native, one core: both tables joined, all latencies, accounting, digest"
BENCH_LOG=$dir/log GOMAXPROCS=1 go test ./analysis -run '^$' -bench '^BenchmarkFolder$' -benchtime 1x -count "$runs" | grep Benchmark
echo "== native, all cores, in a process of its own"
go build -o "$dir/analyze" ./cmd/analyze
for _ in $(seq "$runs"); do
  node -e '
    const { spawnSync } = require("child_process");
    const cpu = process.resourceUsage(), start = performance.now();
    const done = spawnSync(process.argv[1], ["summary", "--json", process.argv[2]], { stdio: ["ignore", "ignore", "inherit"], maxBuffer: 1 << 30 });
    if (done.status !== 0 && done.status !== 3) process.exit(1);
    console.log("analyze summary: " + ((performance.now() - start) / 1e3).toFixed(2) + " s");' "$dir/analyze" "$dir/log"
done
if [ "${WASM:-1}" = 1 ]; then
  echo "== WebAssembly in Node"
  BENCH_LOG=$dir/log GOOS=js GOARCH=wasm go test -tags minimal -exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" ./analysis -run '^$' -bench '^BenchmarkFolder$' -benchtime 1x -count "$runs" | grep Benchmark
fi
if [ "${DUCKDB:-1}" = 1 ]; then
  echo "== DuckDB, one thread: the same join and the end-to-end percentiles"
  [ -d interop/duckdb/node_modules ] || (cd interop/duckdb && npm ci)
  "$dir/analyze" sql "$dir/log" | RUNS=$runs node interop/duckdb/bench.mjs
fi
