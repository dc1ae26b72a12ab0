#!/usr/bin/env bash
# Fails when generating the code anew changes, adds or removes a file. It works in a copy of the tree, so that a build or a test beside it
# sees no half-written file. Changes that are not committed yet are part of the copy.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
	if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done | tar -c --null -T - | tar -x -C "$copy"
ln -s "$PWD/.cache" "$copy/.cache" # the tools
mkdir -p "$copy/third_party"
cp -r third_party/proto "$copy/third_party/"

cd "$copy"
git init -q
git add -A
git -c user.name=check -c user.email=check@localhost -c commit.gpgsign=false commit -qm 'before'
make generated
if [ -n "$(git status --porcelain)" ]; then
	echo "generated code is not current: run make generate and commit the result" >&2
	git status --short >&2
	git --no-pager diff --stat >&2
	exit 1
fi
