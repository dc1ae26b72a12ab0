#!/usr/bin/env bash
# once.sh name command [argument...]: runs a check whose result depends only on the text on standard input: the versions of its tools, and
# the names and hashes of its files. A check that passed on this machine with the same text is not run again. `SVC_ONCE=0` runs it anyway.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc/passed
name=$1
mark=$cache/$name-$(sha256sum | cut -c1-32)
shift
if [ "${SVC_ONCE:-1}" != 0 ] && [ -e "$mark" ] && touch "$mark" 2>/dev/null; then
	echo "$name: passed before with the same files (${mark/#"$HOME"/\~})"
	exit
fi
"$@" </dev/null
{ mkdir -p "$cache" && touch "$mark" && find "$cache" -type f -mtime +30 -delete; } 2>/dev/null || true
