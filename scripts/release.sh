#!/bin/bash
# The programs of a release, and what goes with them. See `make release`.
#
#   scripts/release.sh all            everything, into dist
#   scripts/release.sh licences       a table of the licences of what is linked
#   scripts/release.sh reproducible   one platform twice, from two folders
#
# PLATFORMS="linux/amd64 darwin/arm64" takes some of them.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}

# No path of this machine (-trimpath), no symbols, no link id, no C.
build() { # os/arch folder
  local os=${1%/*} arch=${1#*/} suffix=
  [ "$os" = windows ] && suffix=.exe
  for program in bench analyze; do
    GOOS=$os GOARCH=$arch CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-}" "$go" build -trimpath -ldflags "-s -w -buildid=" \
      -o "$2/$program-$os-$arch$suffix" "./cmd/$program"
  done
}

case ${1:-} in
all)
  rm -rf dist
  mkdir -p dist
  for p in $platforms; do
    echo "building $p"
    build "$p" dist
  done
  programs=(dist/bench-* dist/analyze-*)
  "$go" run ./internal/release licences "${programs[@]}" -o dist/LICENSES.txt >/dev/null
  "$go" run ./internal/release sbom "${programs[@]}" -o dist/sbom.cdx.json
  "$go" run ./internal/release sums dist
  ls -l dist
  ;;
licences)
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  for p in $platforms; do build "$p" "$out"; done
  "$go" run ./internal/release licences "$out"/*
  ;;
reproducible)
  out=$(mktemp -d)
  trap 'rm -rf "$out"; git worktree prune' EXIT
  p=$("$go" env GOOS)/$("$go" env GOARCH)
  mkdir "$out/one" "$out/two"
  # Two folders of one commit, and what is built into the page is the same file.
  git worktree add --quiet --detach "$out/elsewhere" HEAD
  git worktree add --quiet --detach "$out/somewhere-quite-else" HEAD
  for f in site/built/*; do cp "$f" "$out/elsewhere/site/built/"; cp "$f" "$out/somewhere-quite-else/site/built/"; done
  (cd "$out/elsewhere" && build "$p" "$out/one")
  (cd "$out/somewhere-quite-else" && build "$p" "$out/two")
  git worktree remove --force "$out/elsewhere"
  git worktree remove --force "$out/somewhere-quite-else"
  for f in "$out"/one/*; do
    cmp "$f" "$out/two/$(basename "$f")"
    sha256sum "$f" | sed "s|$out/one/||"
  done
  echo "the same bytes twice, for $p"
  ;;
*)
  echo "say all, licences or reproducible" >&2
  exit 2
  ;;
esac
