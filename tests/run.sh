#!/bin/sh
# run.sh BUILD_DIR [tsan]: the test programs of a build. `make check`, `check-asan` and `check-tsan` end here.
#
# The page's tests (Chromium) run with the release build only: a sanitizer would test the browser's patience. The
# thread sanitizer gets what has threads: import, store and HTTP. The last lines are Check's.
set -eu
B=$1
KIND=${2:-$(basename "$B")}
HERE=$(pwd)
TMPDIR=${TMPDIR:-/tmp}
export TMPDIR
export HOLOSCOPE_BIN="$HERE/$B/holoscope"
export HOLOSCOPE_GENTRACE="$HERE/$B/gentrace"
# Leaks count; a child that a test kills on purpose reports none.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"

case "$KIND" in
tsan)
    exec "$B/tests/check" import http store thread
    ;;
asan) ;;
*)
    tests/web/run.sh "$B"
    ;;
esac
exec "$B/tests/check"
