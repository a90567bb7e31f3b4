#!/bin/sh
# run-sample.sh HOLOSCOPE GENTRACE: a sample run in the store, then the server. `make run` ends here.
#
# The sample is four ranks of a made-up training job with a story to find: one rank is slow, the data loader is slow,
# communication overlaps poorly. It is made and imported once; a run that is already there is left alone.
set -eu
BIN=$1
GEN=$2
DATA=${HOLOSCOPE_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/holoscope}
LISTEN=${HOLOSCOPE_LISTEN:-127.0.0.1:8080}

if ! "$BIN" analyze overview --run sample --data "$DATA" >/dev/null 2>&1; then
    TMP=$(mktemp -d "${TMPDIR:-/tmp}/holoscope-sample.XXXXXX")
    trap 'rm -rf "$TMP"' EXIT
    echo "making the sample run ..." >&2
    "$GEN" --out "$TMP" --story sample --ranks 4 --seed 1 --gzip --memory >/dev/null
    rm -f "$TMP/truth.json" # the answers, for tests
    "$BIN" import "$TMP" --run sample --data "$DATA" >/dev/null
    rm -rf "$TMP"
    trap - EXIT
fi
echo "open http://$LISTEN/?run=sample  (the store is $DATA; Ctrl-C ends the server)" >&2
exec "$BIN" serve --listen "$LISTEN" --data "$DATA"
