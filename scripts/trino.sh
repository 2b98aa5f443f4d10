#!/usr/bin/env bash
# Prints what sets TRINO_HOME and JAVA: a Trino of one node, from Maven Central
# (920 MB, of which 370 MB stay in .tools), and a Java that it runs on.
#   eval "$(scripts/trino.sh)"
set -euo pipefail
cd "$(dirname "$0")/.."
version=470 # the last ones are not on Maven Central
home=$PWD/.tools/trino-$version

java=""
for candidate in "${TRINO_JAVA_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  [ -n "$candidate" ] && [ -x "$candidate/bin/java" ] || continue
  major=$("$candidate/bin/java" -version 2>&1 | sed -n '1s/.*version "\([0-9]*\).*/\1/p')
  if [ "${major:-0}" -ge 23 ]; then java=$candidate/bin/java; break; fi
done
if [ -z "$java" ]; then
  echo "Trino $version needs Java 23 or later, 25 for instance: install one (Eclipse Temurin: adoptium.net, package temurin-25-jdk), and name it by TRINO_JAVA_HOME." >&2
  exit 1
fi
if [ ! -f "$home/complete" ]; then
  if ! command -v mvn >/dev/null; then
    echo "Trino comes from Maven Central: install maven (Debian: apt-get install --no-install-recommends maven)." >&2
    exit 1
  fi
  new=$(mktemp -d "$PWD/.tools/trino-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  if ! mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact="io.trino:trino-server:$version:tar.gz" -Dtransitive=false >&2 ||
     ! mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="io.trino:trino-server:$version:tar.gz" -DoutputDirectory="$new" >&2; then
    echo "Trino $version could not be fetched from Maven Central." >&2
    exit 1
  fi
  # Its plugins are hard links of each other: all are unpacked, and one stays.
  mkdir "$new/home"
  tar xzf "$new/trino-server-$version.tar.gz" -C "$new/home" --strip-components=1
  find "$new/home/plugin" -mindepth 1 -maxdepth 1 ! -name hive -exec rm -rf {} +
  touch "$new/home/complete"
  rm -rf "$home"
  mv "$new/home" "$home"
fi
printf 'export TRINO_HOME=%q JAVA=%q\n' "$home" "$java"
