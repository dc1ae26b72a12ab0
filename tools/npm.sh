#!/usr/bin/env bash
# npm.sh [argument...]: npm ci in the working directory. What it installs is kept in the user's cache folder for each package-lock.json,
# and another clone gets hard links to it in a fraction of the time. Entries that no clone has asked for in a month go.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc/node_modules
key=$(cat package.json package-lock.json <(node --version) <(printf '%s\n' "$@") | sha256sum | cut -c1-32)

rm -rf node_modules
if [ -d "$cache/$key" ] && touch "$cache/$key" 2>/dev/null && cp -al "$cache/$key" node_modules 2>/dev/null; then exit; fi
rm -rf node_modules
npm ci --no-audit --no-fund --prefer-offline "$@"

# The copy gets its name when it is complete. Without hard links, as between two file systems, nothing is kept.
mkdir -p "$cache" 2>/dev/null || exit 0
part=$(mktemp -d "$cache/part.XXXXXX")
if cp -al node_modules "$part/all" 2>/dev/null; then mv -T "$part/all" "$cache/$key" 2>/dev/null || true; fi
rm -rf "$part"
find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
