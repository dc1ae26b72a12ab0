#!/usr/bin/env bash
# Writes every golden file anew: runs the tests of the files that mention golden files or the flag -update, in the packages that
# take the flag.
set -euo pipefail
cd "$(dirname "$0")/.."

# A package takes the flag when its tests define it, or import the package that does.
packages=$(git grep -lE 'flag\.Bool\("update"|/server/golden"|/sqlbuild/sqltest"' -- '*_test.go' | xargs -n1 dirname | sort -u)
[ -n "$packages" ] || { echo "golden: no package takes -update" >&2; exit 1; }
for package in $packages; do
	tests=$(git grep -lE '\*update\b|[gG]olden|sqltest\.Check' -- "$package/*_test.go" | grep -E "^$package/[^/]+$" | xargs grep -hoE '^func Test[A-Za-z0-9_]*' | sed 's/^func //' | sort -u | paste -sd'|')
	go test -vet=off -count=1 -run "^($tests)\$" "./$package" -update
done
git status --short -- '*/testdata/*' docs
