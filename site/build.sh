#!/bin/sh
# Builds the page's analyzer into site/built; GO chooses the go command.
set -eu
cd "$(dirname "$0")/.."
export GO="${GO:-go}"
exec "$GO" run ./site/buildpage
