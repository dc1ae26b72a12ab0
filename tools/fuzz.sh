#!/usr/bin/env bash
# fuzz.sh PATTERN TIME [JOBS]: runs each fuzz target whose name contains PATTERN for TIME, with JOBS workers (without it, one for each
# processor). It continues after a failure, and lists the failures at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
pattern=$1 time=$2 jobs=${3:-$(getconf _NPROCESSORS_ONLN)}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# run PACKAGE TARGET: fuzzes one target. At the end of the time, go test sometimes reports its own deadline as a failure. It has then
# written no failing input, and has run for the whole time. Minimizing an input that is merely interesting is bounded, because it counts as
# time.
run() {
	go test -vet=off -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 20x -parallel "$jobs" "$1" 2>&1 | tee "$output" && return
	grep -q '^    context deadline exceeded$' "$output" && ! grep -q 'Failing input written' "$output"
}

targets=$(git grep -hoE --full-name '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | wc -l)
ran=0 failed=()
while IFS=: read -r file declaration; do
	target=${declaration#func }
	[[ $target == *"$pattern"* ]] || continue
	package=./$(dirname "$file")
	echo "fuzz: $package $target for $time"
	ran=$((ran + 1))
	run "$package" "$target" || failed+=("$package $target")
done < <(git grep -oE '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go')

[ "$ran" -gt 0 ] || { echo "fuzz: none of $targets targets contains '$pattern'" >&2; exit 1; }
if [ ${#failed[@]} -gt 0 ]; then
	printf 'fuzz: FAILED: %s\n' "${failed[@]}" >&2
	echo "fuzz: the input of a failure is in testdata/fuzz of its package: commit it with the fix" >&2
	exit 1
fi
echo "fuzz: $ran targets passed"
