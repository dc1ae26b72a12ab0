#!/usr/bin/env bash
# Fetches the pinned Scalar API reference and its licence into the folder that the program embeds. Run it after a change of the
# version and the hash below. Git holds the result, so that a build needs neither npm nor the network.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.72.1
integrity=sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --silent "@scalar/api-reference@$version" >/dev/null)
archive=$scratch/scalar-api-reference-$version.tgz
got=sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)
if [ "$got" != "$integrity" ]; then
	echo "reference: the archive is not the pinned one: $got" >&2
	exit 1
fi
tar -xzf "$archive" -C "$scratch" package/dist/browser/standalone.js
gzip -9 -n -c "$scratch/package/dist/browser/standalone.js" >server/openapi/page/scalar.js.gz
echo "reference: server/openapi/page/scalar.js.gz, Scalar $version" >&2
