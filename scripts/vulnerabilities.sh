#!/bin/bash
# Looks for known vulnerabilities in what bench and analyze call. Where the
# database of govulncheck cannot be reached, its source serves, which is a module
# of Go: golang.org/x/vulndb. An address names another one. See
# `make vulnerabilities`.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
check=${GOVULNCHECK:-govulncheck}
db=${1:-}
if [ -z "$db" ] && ! curl -fsS --max-time 20 -o /dev/null https://vuln.go.dev/index/db.json; then
  dir=$("$go" mod download -json golang.org/x/vulndb@latest | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  db=file://$dir/data/osv
  echo "the database cannot be reached: using golang.org/x/vulndb"
fi
if [ -n "$db" ]; then
  exec "$check" -db "$db" ./cmd/bench ./cmd/analyze
fi
exec "$check" ./cmd/bench ./cmd/analyze
