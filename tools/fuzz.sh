#!/usr/bin/env bash
# fuzz.sh PATTERN TIME: runs each fuzz target whose name contains PATTERN for TIME. It continues after a failure, and lists the
# failures at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
pattern=$1 time=$2

targets=$(git grep -hoE --full-name '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | wc -l)
ran=0 failed=()
while IFS=: read -r file declaration; do
	target=${declaration#func }
	[[ $target == *"$pattern"* ]] || continue
	package=./$(dirname "$file")
	echo "fuzz: $package $target for $time"
	ran=$((ran + 1))
	go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed+=("$package $target")
done < <(git grep -oE '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go')

[ "$ran" -gt 0 ] || { echo "fuzz: none of $targets targets contains '$pattern'" >&2; exit 1; }
if [ ${#failed[@]} -gt 0 ]; then
	printf 'fuzz: FAILED: %s\n' "${failed[@]}" >&2
	echo "fuzz: the input of a failure is in testdata/fuzz of its package: commit it with the fix" >&2
	exit 1
fi
echo "fuzz: $ran targets passed"
