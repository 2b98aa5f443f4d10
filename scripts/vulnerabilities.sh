#!/bin/bash
# Looks for known vulnerabilities in what bench and analyze call, on each system, and
# in what the page's programs call. Where the database of govulncheck cannot be
# reached, its source serves, which is a module of Go, golang.org/x/vulndb: its newest
# version, or without any network the newest that is in the module cache. An address
# names another database. See `make vulnerabilities`.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
check=${GOVULNCHECK:-govulncheck}
export GOTOOLCHAIN=${RELEASE_TOOLCHAIN:-$(cat scripts/toolchain)} # which releases are built by
db=${1:-}
if [ -z "$db" ] && ! curl -fsS --max-time 20 -o /dev/null https://vuln.go.dev/index/db.json; then
  dir=$("$go" mod download -json golang.org/x/vulndb@latest 2>/dev/null | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') || true
  if [ -z "$dir" ]; then
    # Versions of one module without tags are in the order of their times.
    dir=$(find "$("$go" env GOMODCACHE)/golang.org/x" -maxdepth 1 -name 'vulndb@*' 2>/dev/null | sort | tail -n 1)
  fi
  if [ -z "$dir" ]; then
    echo "vulnerabilities: neither https://vuln.go.dev nor the module golang.org/x/vulndb can be reached: name a copy, VULNDB=file:///…" >&2
    exit 1
  fi
  db=file://$dir/data/osv
  echo "vuln.go.dev cannot be reached: using $(basename "$dir")"
fi
status=0
run() { # what, then the environment and the command
  echo "== $1"
  shift
  # Three ways to each finding are enough.
  env "$@" | awk '!/^ +#[0-9]+:/ || /^ +#[123]:/' || status=1
}
args=(${db:+-db "$db"})
for os in linux darwin windows; do
  run "bench and analyze on $os" GOOS="$os" "$check" "${args[@]}" ./cmd/bench ./cmd/analyze
done
run "the page" GOOS=js GOARCH=wasm "$check" -C wasm -tags minimal "${args[@]}" ./...
exit $status
