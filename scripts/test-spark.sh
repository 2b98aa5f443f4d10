#!/usr/bin/env bash
# Tests against Apache Spark, which is set up in .tools from PyPI (some 320 MB);
# its Delta jars come from Maven Central when it starts. pyspark 3.5 needs a Python
# of 3.12 at most.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v java >/dev/null && [ ! -x "${JAVA_HOME:-}/bin/java" ]; then
  echo "Spark needs Java 17: install it (Debian: apt-get install --no-install-recommends openjdk-17-jre-headless), or name one by JAVA_HOME." >&2
  exit 1
fi
python=$(scripts/python.sh deltaspark interop/deltaspark/requirements.txt)
PYTHON=$python go test -count=1 -v -timeout 45m -tags spark ./interop/deltaspark/...
