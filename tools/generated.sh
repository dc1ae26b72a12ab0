#!/usr/bin/env bash
# Fails when generating the code anew changes, adds or removes a file. It works in a copy of the tree, so that a build or a test beside it
# sees no half-written file. Changes that are not committed yet are part of the copy. Nothing is generated when the check has passed on
# this machine with the same sources and the same generated files.
set -euo pipefail
cd "$(dirname "$0")/.."

# files prints what the generators read and write: definitions and templates, what the web application calls, the generators with the
# packages that they import, the versions of all modules and tools, and every file that says that it is generated.
files() {
	{
		git ls-files -co --exclude-standard proto ent gen server/web/ui/src server/contract/image.binpb 'buf*' 'go.*' '*/go.mod' Makefile \
			tools/deps.sh tools/generated.sh
		git grep -lI --untracked 'Code generated'
		go list -deps -f '{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}' ./server/apierr/gentags ./server/rest/genservices ./server/mcp/tool/genclients ./server/web/gentypes ./ent/schema |
			sed "s|^$PWD/||"
	} | LC_ALL=C sort -u
}

if [ "${1:-}" != anew ]; then
	# A deleted file is listed until its deletion is staged.
	{ go version && files | { xargs sha256sum 2>/dev/null || true; }; } | tools/once.sh generated tools/generated.sh anew
	exit
fi

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
