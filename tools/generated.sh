#!/usr/bin/env bash
# Fails when `make generate` changes, adds or removes a file. Changes that were there before it ran are not held against it.
set -euo pipefail
cd "$(dirname "$0")/.."

snapshot() {
	git ls-files -co --exclude-standard -z -- gen ent server | while IFS= read -r -d '' file; do
		if [ -f "$file" ]; then printf '%s %s\n' "$(git hash-object "$file")" "$file"; fi
	done
}
before=$(snapshot)
make generate
after=$(snapshot)
if [ "$before" != "$after" ]; then
	echo "generated code is not current: run make generate and commit the result" >&2
	diff <(echo "$before") <(echo "$after") >&2 || true
	exit 1
fi
