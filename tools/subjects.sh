#!/usr/bin/env bash
# Holds the subjects of commits to the form "area: verb object" and 72 characters, as CONTRIBUTING.md asks. Commits up to the one below are
# older than this check and stay as they are. Later ones are exempt only if they are merges, whose subject git writes. A clone without
# that commit shows its newest commit only.
set -euo pipefail
cd "$(dirname "$0")/.."

since=99fada83cae43efb3a3ae8f29c5101e1b3d90b50
if git merge-base --is-ancestor "$since" HEAD 2>/dev/null; then
	range=("$since..HEAD")
else
	range=(-1 HEAD)
fi
bad=$(git log --no-merges --format='%h %s' "${range[@]}" | while read -r hash subject; do
	if ((${#subject} > 72)); then
		echo "$hash has a subject of ${#subject} characters; at most 72: $subject"
	elif ! [[ $subject =~ ^[A-Za-z0-9._/,\ -]+:\ [a-z][a-z-]*\ [^\ ] ]]; then
		echo "$hash has no subject of the form \"area: verb object\": $subject"
	fi
done)
[ -z "$bad" ] || { echo "$bad" >&2; exit 1; }
