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
# Releases are built by a Go without known vulnerabilities, as `make vulnerabilities`
# says, whichever is installed; RELEASE_TOOLCHAIN names another one.
export GOTOOLCHAIN=${RELEASE_TOOLCHAIN:-$(cat scripts/toolchain)}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}

# No path of this machine (-trimpath), no symbols, no link id, no C; the commit, whatever
# GOFLAGS says.
build() { # os/arch folder
  local os=${1%/*} arch=${1#*/} suffix=
  [ "$os" = windows ] && suffix=.exe
  for program in bench analyze; do
    GOOS=$os GOARCH=$arch CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-}" "$go" build -trimpath -buildvcs=auto -ldflags "-s -w -buildid=" \
      -o "$2/$program-$os-$arch$suffix" "./cmd/$program"
  done
}

case ${1:-} in
all)
  GO=$go site/build.sh # by the same Go
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
  (cd dist && sha256sum --quiet --check SHA256SUMS)
  ls -l dist
  ;;
licences)
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  for p in $platforms; do build "$p" "$out"; done
  "$go" run ./internal/release licences "$out"/*
  ;;
reproducible)
  # Two folders of one commit; the page's programs, which analyze holds, are built in
  # both. The second has a path of another length, and a build cache of its own would
  # give the same: what is cached is what a compiler made of the same input.
  out=$(mktemp -d)
  trees=("$out/elsewhere" "$out/a/somewhere-quite-else")
  trap 'for t in "${trees[@]}"; do git worktree remove --force "$t" 2>/dev/null || true; done; rm -rf "$out"' EXIT
  for i in 0 1; do
    git worktree add --quiet --detach "${trees[i]}" HEAD
    mkdir "$out/$i"
    (
      cd "${trees[i]}"
      GO=$go site/build.sh >/dev/null
      build "$("$go" env GOOS)/$("$go" env GOARCH)" "$out/$i"
      cp site/built/*.wasm.gz site/built/build.json "$out/$i"
    )
  done
  [ "$(cd "$out/0" && ls | tee /dev/stderr | wc -l)" -ge 5 ]
  diff --brief --recursive "$out/0" "$out/1"
  (cd "$out/0" && sha256sum -- *)
  echo "the same bytes twice, for $("$go" env GOOS)/$("$go" env GOARCH) and the page, at $(git rev-parse HEAD)"
  ;;
*)
  echo "say all, licences or reproducible" >&2
  exit 2
  ;;
esac
