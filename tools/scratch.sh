#!/usr/bin/env bash
# Prints a new folder for the temporary files of a test run. The folder is in memory where 8 GiB of it are free: tests create and delete
# hundreds of thousands of small files, and ext4 searches long for a free inode after many deletions.
set -euo pipefail
memory=/dev/shm
free_mib() {
	local room available
	room=$(df --output=avail -BM "$memory" 2>/dev/null | tail -1 | tr -dc 0-9)
	available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null)
	echo $((${room:-0} < ${available:-0} ? ${room:-0} : ${available:-0}))
}
# A run that was killed could not delete its folder. The name has the process of the run.
for left in "$memory"/svc-test.*; do
	run=${left#"$memory"/svc-test.}
	if [ -d "$left" ] && ! kill -0 "${run%%.*}" 2>/dev/null; then rm -rf "$left"; fi
done

folder=
if [ -w "$memory" ] && [ "$(free_mib)" -ge 8192 ]; then
	folder=$(mktemp -d "$memory/svc-test.$PPID.XXXXXX")
else
	folder=$(mktemp -d)
fi
chmod 755 "$folder" # tests run PostgreSQL as another user
echo "$folder"
