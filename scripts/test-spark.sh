#!/usr/bin/env bash
# Tests against Apache Spark, which is set up in .tools from PyPI (some 320 MB);
# its Delta jars come from Maven Central when it starts.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v java >/dev/null && [ ! -x "${JAVA_HOME:-}/bin/java" ]; then
  echo "Spark needs Java 17: install it (Debian: apt-get install --no-install-recommends openjdk-17-jre-headless), or name one by JAVA_HOME." >&2
  exit 1
fi
if ! command -v python3 >/dev/null; then
  echo "The tests against Spark need Python 3.8 to 3.12: install python3 (Debian: apt-get install python3-venv)." >&2
  exit 1
fi
venv=$PWD/.tools/deltaspark
requirements=interop/deltaspark/requirements.txt
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q -r "$requirements"
  cp "$requirements" "$venv/requirements.txt"
fi
PYTHON=$venv/bin/python go test -count=1 -v -timeout 45m -tags spark ./interop/deltaspark/...
