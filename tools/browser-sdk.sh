#!/usr/bin/env bash
# Builds the browser SDK from clients/browser into server/ingest/browsersdk/dist, if a source has changed since. The build holds the sizes
# of its files to clients/browser/budgets.json. `browser-sdk.sh check` also holds format, types and unit tests.
set -euo pipefail
cd "$(dirname "$0")/../clients/browser"

version=$(node --version 2>/dev/null || true)
if ! [[ $version =~ ^v([0-9]+)\.([0-9]+) ]] || ((BASH_REMATCH[1] < 20 || (BASH_REMATCH[1] == 20 && BASH_REMATCH[2] < 19))); then
	echo "the browser SDK needs Node.js 20.19 or newer to be built, and this machine has ${version:-none}; UI=0 leaves it out" >&2
	exit 1
fi

checked=${1:-}
stamps=../../.cache/browser-sdk
mkdir -p "$stamps"
# A deleted file is listed until its deletion is staged.
sources=$(git ls-files -co --exclude-standard . ../../tools/browser-sdk.sh | LC_ALL=C sort | { xargs sha256sum 2>/dev/null || true; } | sha256sum)
lock=$(sha256sum package-lock.json)

if [ ! -d node_modules ] || [ "$(cat "$stamps/installed" 2>/dev/null || true)" != "$lock" ]; then
	rm -f "$stamps/installed"
	../../tools/npm.sh --ignore-scripts
	echo "$lock" >"$stamps/installed"
fi

if [ -n "$checked" ] && [ "$(cat "$stamps/checked" 2>/dev/null || true)" != "$sources" ]; then
	npm run --silent formatted
	npm run --silent types
	npm run --silent test
	echo "$sources" >"$stamps/checked"
fi

if [ ! -f ../../server/ingest/browsersdk/dist/manifest.json ] || [ "$(cat "$stamps/built" 2>/dev/null || true)" != "$sources" ]; then
	rm -f "$stamps/built"
	npm run --silent build
	echo "$sources" >"$stamps/built"
fi
