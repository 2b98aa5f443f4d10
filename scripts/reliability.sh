#!/bin/bash
# Runs all tests that leave a row for docs/reliability.md and stand behind no build
# tag, in the order of their rooms, and writes the document. RUN= writes it alone.
# What failed stands in the table, too, and the status is not 0.
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export RELIABILITY=$PWD/docs/reliability.jsonl
status=0
if [ -n "${RUN-1}" ]; then
  tests=$("$go" run ./internal/reliability/update -tests) || exit 1
  while read -r room names; do
    echo "== $room $names"
    "$go" test -count=1 -timeout 30m -run "^($names)\$" "$room" || status=1
  done <<<"$tests"
fi
"$go" run ./internal/reliability/update || exit 1
exit $status
