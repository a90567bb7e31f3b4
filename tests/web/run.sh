#!/bin/sh
# Drives the page in Chromium against the program and the trace generator of BUILD_DIR. Ends with node's summary.
set -eu
build=$(cd "${1:?usage: tests/web/run.sh BUILD_DIR}" && pwd)
cd "$(dirname "$0")"
export HOLOSCOPE_BIN="${HOLOSCOPE_BIN:-$build/holoscope}" HOLOSCOPE_GENTRACE="${HOLOSCOPE_GENTRACE:-$build/gentrace}"
for tool in node npm "${CHROMIUM:-chromium}"; do
    command -v "$tool" >/dev/null || { echo "tests/web: $tool is missing; deploy/install-deps.sh installs it" >&2; exit 1; }
done
# The lock file decides; a second run finds its packages there already.
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed-lock.json
fi
exec node --test --test-concurrency=1 --test-reporter=spec ./*.test.mjs
