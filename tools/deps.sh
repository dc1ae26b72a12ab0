#!/usr/bin/env bash
# Fetches the pinned files that a build needs and git does not hold:
#   .cache/npm/            what tools/package-lock.json names (npm checks the hashes in it)
#   .cache/chdb/libchdb.so the embedded ClickHouse engine
#   third_party/proto/     definitions that buf needs to compile ours
# It is quick if all files exist. It fetches missing, truncated or altered files again. Two runs at once wait for each other.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'deps: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

mkdir -p .cache
if command -v flock >/dev/null; then
	exec 9>.cache/deps.lock
	flock 9
fi

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }
bytes() { wc -c <"$1" | tr -d ' '; }

# The engine is published for this platform only. On another platform, SVC_CHDB_LIB names your own library.
platform=$(go env GOOS)-$(go env GOARCH)
engine=""
if [ "$platform" = linux-amd64 ]; then
	engine=.cache/npm/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so
	engine_sha=36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5
	engine_bytes=566330096
fi
lib=.cache/chdb/libchdb.so

protovalidate=github.com/bufbuild/protovalidate@v1.2.2
protos="
a1dc1163ebac930b3b070655b91f2bc78df8b4aea940021661fe5ec7904a7b88 buf/validate/validate.proto
e79ea741cb605a65e78ca322174764a4af9fde1962c1631e12b84c4934ba9a6c google/api/annotations.proto
ead99129aa15dd5f6233942030c72eec33bc0d7b1c7c260dc143293ef66c5b78 google/api/http.proto
"

# The stamp describes the last verified files: the lock file, this script, and the engine's size and time. So the script notices a change
# of any of them without hashing half a gigabyte at every start.
state() {
	sha256 tools/package-lock.json
	sha256 tools/deps.sh
	if [ -n "$engine" ]; then ls -lL "$lib" 2>/dev/null | awk '{print $5, $6, $7, $8}'; fi
}
protos_ok() {
	echo "$protos" | while read -r sum file; do
		[ -z "$file" ] || { [ -f "third_party/proto/$file" ] && [ "$(sha256 "third_party/proto/$file")" = "$sum" ]; } || exit 1
	done
}
engine_ok() {
	[ -z "$engine" ] || { [ -f "$1" ] && [ "$(bytes "$1")" = "$engine_bytes" ] && [ "$(sha256 "$1")" = "$engine_sha" ]; }
}

if [ -f .cache/deps.stamp ] && { [ -z "$engine" ] || [ "$(bytes "$lib" 2>/dev/null || true)" = "$engine_bytes" ]; } &&
	[ "$(state)" = "$(cat .cache/deps.stamp)" ] && protos_ok; then
	exit 0
fi
rm -f .cache/deps.stamp

google=.cache/npm/node_modules/google-proto-files
if [ ! -f "$google/google/api/http.proto" ] || ! engine_ok "$engine" || ! cmp -s tools/package-lock.json .cache/npm/package-lock.json; then
	command -v npm >/dev/null || die "npm is missing: install Node.js, it fetches the engine and the API definitions"
	say "fetching the embedded engine and API definitions (about 200 MB, once)"
	mkdir -p .cache/npm
	cp tools/package.json tools/package-lock.json tools/.npmrc .cache/npm/
	log=.cache/npm-ci.log
	for attempt in 1 2 3; do
		(cd .cache/npm && npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error) >"$log" 2>&1 && break
		[ "$attempt" = 3 ] && { cat "$log" >&2; die "npm ci failed, see above"; }
		say "npm ci failed, trying again"
	done
	# npm skips an optional package that it cannot fetch.
	engine_ok "$engine" || die "the engine library is missing or not the pinned one: $engine"
fi

if [ -n "$engine" ]; then
	if [ -L "$lib" ] || ! engine_ok "$lib"; then
		mkdir -p .cache/chdb
		ln -f "$engine" "$lib.new" 2>/dev/null || cp -f "$engine" "$lib.new"
		mv -f "$lib.new" "$lib" # a process that has the old file loaded keeps it
	fi
	say "engine: $lib"
else
	say "no engine library is published for $platform: set SVC_CHDB_LIB to one, or use --warehouse-url"
fi

if ! protos_ok; then
	validate=$(cd / && go mod download -json "$protovalidate" | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
	[ -n "$validate" ] || die "go mod download $protovalidate gave no folder"
	mkdir -p third_party/proto/google/api third_party/proto/buf/validate
	install -m 644 "$google/google/api/annotations.proto" "$google/google/api/http.proto" third_party/proto/google/api/
	install -m 644 "$validate/proto/protovalidate/buf/validate/validate.proto" third_party/proto/buf/validate/
	protos_ok || die "third_party/proto does not have the pinned content"
	say "definitions: third_party/proto"
fi
state >.cache/deps.stamp
