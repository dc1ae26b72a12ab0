#!/usr/bin/env bash
# Builds the web application from server/web/ui into server/web/dist, if a source has changed since. `ui.sh check` also holds its format,
# its types, its unit tests, and the sizes of its files to server/web/ui/budgets.json. Format and types are not checked again on a machine
# where they passed with the same files.
set -euo pipefail
cd "$(dirname "$0")/../server/web/ui"

version=$(node --version 2>/dev/null || true)
if ! [[ $version =~ ^v([0-9]+)\.([0-9]+) ]] || ((BASH_REMATCH[1] < 20 || (BASH_REMATCH[1] == 20 && BASH_REMATCH[2] < 19))); then
	echo "the web application needs Node.js 20.19 or newer to be built, and this machine has ${version:-none}; UI=0 leaves the application out" >&2
	exit 1
fi

checked=${1:-}
stamps=../../../.cache/ui
mkdir -p "$stamps"
# A deleted file is listed until its deletion is staged.
sources=$(git ls-files -co --exclude-standard . ../../../tools/ui.sh | LC_ALL=C sort | { xargs sha256sum 2>/dev/null || true; } | sha256sum)
lock=$(sha256sum package-lock.json)

installed=$(cat "$stamps/installed" 2>/dev/null || true)
if [ ! -d node_modules ] || { [ "$installed" != "$lock all" ] && { [ -n "$checked" ] || [ "$installed" != "$lock build" ]; }; }; then
	rm -f "$stamps/installed"
	if [ -n "$checked" ]; then
		../../../tools/npm.sh --ignore-scripts
		echo "$lock all" >"$stamps/installed"
	else
		../../../tools/npm.sh --omit=dev --ignore-scripts
		echo "$lock build" >"$stamps/installed"
	fi
fi

if [ -n "$checked" ] && [ "$(cat "$stamps/checked" 2>/dev/null || true)" != "$sources" ]; then
	files=$(git ls-files -co --exclude-standard ../../e2e/browser | LC_ALL=C sort | { xargs sha256sum 2>/dev/null || true; })
	printf '%s\n' "$version" "$sources" "$files" | ../../../tools/once.sh ui-format npm run --silent formatted
	printf '%s\n' "$version" "$sources" | ../../../tools/once.sh ui-types npm run --silent types
	npm run --silent test
	echo "$sources" >"$stamps/checked"
fi

if [ ! -f ../dist/index.html ] || [ "$(cat "$stamps/built" 2>/dev/null || true)" != "$sources" ]; then
	rm -f "$stamps/built"
	npm run --silent build
	echo "$sources" >"$stamps/built"
fi
