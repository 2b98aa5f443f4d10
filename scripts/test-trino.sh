#!/usr/bin/env bash
# The query of `analyze sql --engine trino`, run in a Trino of one node: see
# scripts/trino.sh for what that needs.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .tools
eval "$(scripts/trino.sh)"
export TRINO_HOME JAVA
go test -count=1 -v -timeout 30m -tags trino ./interop/trino
