#!/usr/bin/env bash
# Runs the checks of CI: generated code is current, lint finds nothing, tests pass. Lint and the check of generated code run beside the
# tests at a lower priority: they use the time in which tests wait, and do not slow them down. With RACE=all or RACE=<commit>, the
# tests with the race detector follow: for all packages in which goroutines meet, or for those that a change since the commit reaches.
# The logs of the steps stay in .cache/check.
set -euo pipefail
cd "$(dirname "$0")/.."

logs=.cache/check
rm -rf "$logs"
mkdir -p "$logs"

# step NAME COMMAND... runs a command, keeps its output, and prints its duration.
step() {
	local name=$1 began=$SECONDS status=0
	shift
	"$@" >"$logs/$name.log" 2>&1 || status=$?
	if [ "$status" != 0 ]; then sed "s/^/$name: /" "$logs/$name.log"; fi
	finished "$name" "$began" "$status"
}

# shown NAME COMMAND... is step with the output shown at once.
shown() {
	local name=$1 began=$SECONDS status=0
	shift
	"$@" 2>&1 | tee "$logs/$name.log" || status=$?
	finished "$name" "$began" "$status"
}

finished() {
	echo "check: $1: $((SECONDS - $2)) s, $([ "$3" = 0 ] && echo passed || echo "FAILED with status $3")" | tee -a "$logs/steps"
	return "$3"
}

shown prepare make -j2 prepare

{
	nice -n 10 true 2>/dev/null && renice -n 10 $BASHPID >/dev/null
	status=0
	step generated tools/generated.sh || status=1
	step lint make lint || status=1
	exit "$status"
} &
beside=$!
trap 'kill "$beside" 2>/dev/null || true' EXIT

status=0
shown test make test || status=1
case ${RACE:-} in
'') ;;
all) shown race make race WITHOUT="${RACE_WITHOUT:-}" || status=1 ;;
*) shown race make race SINCE="$RACE" WITHOUT="${RACE_WITHOUT:-}" || status=1 ;;
esac
wait "$beside" || status=1
trap - EXIT
exit "$status"
