#!/usr/bin/env bash
# Prints the Python of an environment below .tools that holds what files of
# requirements list, from PyPI. It is set up where it is absent or they have changed.
#   python=$(scripts/python.sh spark interop/spark/requirements.txt)
set -euo pipefail
cd "$(dirname "$0")/.."
home=$PWD/.tools/$1
shift
if ! command -v python3 >/dev/null; then
  echo "Tests against programs in Python need Python 3.10 or later: install python3 (Debian: apt-get install python3-venv)." >&2
  exit 1
fi
if ! cmp -s <(cat "$@") "$home/requirements.txt"; then
  rm -rf "$home"
  python3 -m venv "$home"
  files=()
  for file; do files+=(-r "$file"); done
  "$home/bin/pip" install -q "${files[@]}" >&2
  cat "$@" >"$home/requirements.txt" # the last step: the environment is whole
fi
echo "$home/bin/python"
