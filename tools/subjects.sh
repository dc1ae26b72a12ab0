#!/usr/bin/env bash
# Holds the subjects of commits to the form "area: verb object" and 72 characters, as CONTRIBUTING.md asks. Commits up to the one below are
# older than this check and stay as they are. Later ones are exempt only if git writes their subject: merges, and reverts in git's own form.
# A shallow clone and a rewritten history do not have that commit: then only the newest commits are checked, and the check
# says so.
set -euo pipefail
cd "$(dirname "$0")/.."

since=99fada83cae43efb3a3ae8f29c5101e1b3d90b50
newest=20

# merges tells whether a commit is a merge. At the edge of a shallow clone, `git log` takes it for a commit without parents.
merges() { [ "$(git cat-file commit "$1" | awk '/^$/ { ended = 1 } !ended && /^parent / { n++ } END { print n + 0 }')" -gt 1 ]; }

if [ ! -e .git ] || ! git rev-parse --git-dir >/dev/null 2>&1; then
	echo "subjects: skipped, because this folder is not a clone of git" >&2
	exit 0
fi
if git merge-base --is-ancestor "$since" HEAD 2>/dev/null; then
	range=("$since..HEAD")
else
	range=("-$newest" HEAD)
	why="the history does not have commit ${since:0:12}"
	[ "$(git rev-parse --is-shallow-repository)" = false ] || why="this clone is shallow"
	echo "subjects: only the newest commits are checked, at most $newest, because $why" >&2
fi
list=$(git log --no-merges --format='%h %s' "${range[@]}")
bad=$(while read -r hash subject; do
	[ -n "$hash" ] || continue
	case $hash in
	8218e9c6*) continue ;; # landed without a verb
	27f405c2*) continue ;; # landed with 73 characters
	esac
	case $subject in
	'Revert "'*'"' | 'Reapply "'*'"') continue ;;
	esac
	if ((${#subject} > 72)); then
		merges "$hash" || echo "$hash has a subject of ${#subject} characters; at most 72: $subject"
	elif ! [[ $subject =~ ^[A-Za-z0-9._/,\ -]+:\ [a-z][a-z-]*\ [^\ ] ]]; then
		merges "$hash" || echo "$hash has no subject of the form \"area: verb object\": $subject"
	fi
done <<<"$list")
[ -z "$bad" ] || { echo "$bad" >&2; exit 1; }
