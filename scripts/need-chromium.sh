#!/usr/bin/env bash
# Finds a Chromium, installs Debian's package where that is permitted, and says
# how to get one where it is not.
set -euo pipefail
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name" >/dev/null; then exit 0; fi
done
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null
  command -v chromium >/dev/null && exit 0
fi
echo "The browser tests need Chromium: install it (Debian: apt-get install chromium) or name one in CHROMIUM." >&2
exit 1
