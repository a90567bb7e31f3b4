#!/bin/sh
# run.sh [BINARY] [ARGUMENTS OF THE TOOL...]: compares compat=hta with the answers HolisticTraceAnalysis 0.6 gave.
#
# Those answers and the traces they are of are not part of the repository: they are looked for beside it. Without them
# there is nothing to compare, and that is no failure.
set -eu
HERE=$(cd "$(dirname "$0")/../.." && pwd)
TOOL="$HERE/../shared/tools/parity"
BIN=${1:-$HERE/build/release/holoscope}
[ $# -eq 0 ] || shift
if [ ! -r "$TOOL" ]; then
    echo "parity: no recorded answers of HTA here; nothing compared"
    exit 0
fi
exec python3 "$TOOL" --bin "$BIN" "$@"
