#!/bin/sh
# make bench: ratios measured in one run. `run.sh BUILD_DIR`; HOLOSCOPE_TRACES names the folder of real traces.
#
# The large trace is ../shared/traces/v100_train twenty times over (bench_repeat), about 1 GB of JSON; without the real
# traces, the generator makes one of that size. Every figure is a median of several runs; compare the ratios, not the
# times: machines differ and are shared.
set -eu
B=$1
D=$B/bench
TR=${HOLOSCOPE_TRACES:-../shared/traces}
RUNS=${BENCH_RUNS:-5}
H=$B/holoscope
mkdir -p "$D"

for t in repeat run; do
    cc -std=c17 -D_GNU_SOURCE -O2 -o "$D/$t" "tests/bench/bench_$t.c" -lz
done
# shellcheck disable=SC2046  # words
cc -std=c17 -D_GNU_SOURCE -O2 -o "$D/naive" tests/bench/bench_naive.c $(pkg-config --libs jansson sqlite3) -lz

SRC=$TR/v100_train/rank1.json.gz
if [ ! -r "$SRC" ]; then
    "$B/gentrace" --out "$D/gen" --ranks 1 --events 220000 --memory --gzip >/dev/null
    SRC=$D/gen/rank0.json.gz
fi
make_trace() { # copies -> file
    [ -s "$D/x$1.json.gz" ] || { echo "making a trace of $1 copies ..." >&2; "$D/repeat" "$SRC" "$D/x$1.json.gz" "$1"; }
}
make_trace 5
make_trace 20
make_trace 50
BIG=$D/x20.json.gz

med() { "$D/run" "$RUNS" "$@"; } # -> "wall cpu rss"
w() { echo "$1" | cut -d' ' -f1; }
c() { echo "$1" | cut -d' ' -f2; }
m() { echo "$1" | cut -d' ' -f3; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
row() { printf '%-46s %10s %10s %10s   %s\n' "$@"; }

JSON=$(gzip -dc "$BIG" | wc -c)
GZ=$(wc -c <"$BIG")
echo "trace: $((JSON / 1000000)) MB of JSON, $((GZ / 1000000)) MB as .json.gz; $RUNS runs each, medians"
row "" "wall ms" "CPU ms" "peak MB" "ratio"

if command -v igzip >/dev/null; then
    ref=$(med igzip -dc "$BIG")
    row "igzip -dc (the yardstick)" "$(w "$ref")" "$(c "$ref")" "$(($(m "$ref") / 1024))" "1"
else
    ref=$(med gzip -dc "$BIG")
fi
gz=$(med gzip -dc "$BIG")
row "gzip -dc" "$(w "$gz")" "$(c "$gz")" "$(($(m "$gz") / 1024))" "$(ratio "$(w "$gz")" "$(w "$ref")") x"

import() { # file -> medians of an import into an empty store
    # shellcheck disable=SC2016  # the inner shell expands
    med sh -c 'rm -rf "$1" && exec "$2" import --data "$1" --run bench "$3"' sh "$D/data" "$H" "$1"
}
five=$(import "$D/x5.json.gz")
fifty=$(import "$D/x50.json.gz")
big=$(import "$BIG")
row "import: .json.gz -> committed store" "$(w "$big")" "$(c "$big")" "$(($(m "$big") / 1024))" "$(ratio "$(w "$big")" "$(w "$ref")") x igzip (bar: 4)"
row "import of 0.27 GB" "$(w "$five")" "$(c "$five")" "$(($(m "$five") / 1024))" ""
# Both larger than what starting costs (about 20 ms), both small enough for memory that this machine has touched before:
# a first touch costs a virtual machine more than all of link does.
row "import of 2.7 GB" "$(w "$fifty")" "$(c "$fifty")" "$(($(m "$fifty") / 1024))" "ten times the events: $(ratio "$(w "$fifty")" "$(w "$five")") x the time (bar: 8.5..11.5)"
STORE=$(cat "$D"/data/traces/*.db | wc -c)
echo "store: $((STORE / 1000)) kB = $(ratio "$STORE" "$GZ") x the .json.gz (bar: 1.2); throughput $(awk -v j="$JSON" -v t="$(w "$big")" 'BEGIN{printf "%.2f", j/t/1e6}') GB/s of JSON"

naive=$("$D/run" 1 "$D/naive" "$SRC" "$D/naive.db")
one=$(import "$SRC")
row "one copy, naive (jansson DOM + a row an event)" "$(w "$naive")" "$(c "$naive")" "$(($(m "$naive") / 1024))" "$(ratio "$(w "$naive")" "$(w "$one")") x ours"
row "one copy, import" "$(w "$one")" "$(c "$one")" "$(($(m "$one") / 1024))" ""

import "$BIG" >/dev/null
# Every analysis of the registry that asks about one run; the bar is 150 ms, of the two that follow launches up to
# operators 500 ms.
NAMES=$("$H" analyze --list | cut -d' ' -f1 | grep -vx -e diff -e diff-ops -e critical-path-what-if)
for a in $NAMES; do
    bar=150
    case $a in
    kernel-sequences) bar=500; set -- --set operator_name=aten:: ;;
    annotations) set -- --set use_gpu_annotation=false ;;
    op-launch-delays) bar=500; set -- ;;
    *) set -- ;;
    esac
    cold=$(med "$H" analyze "$a" --data "$D/data" --run bench "$@")
    row "cold: analyze $a" "$(w "$cold")" "$(c "$cold")" "$(($(m "$cold") / 1024))" "$(ratio "$(w "$cold")" "$(w "$ref")") x igzip (bar: $bar ms)"
done

# Issue-sized questions, beside what reading the same columns once takes (CPU annotations: operators and device work).
make_trace 19
"$H" import --data "$D/data" --run five "$D/x5.json.gz" >/dev/null
"$H" import --data "$D/data" --run other "$D/x19.json.gz" >/dev/null
[ -d "$D/ranks" ] || "$B/gentrace" --out "$D/ranks" --ranks 64 --events 20000 --gzip >/dev/null
"$H" import --data "$D/data" --run ranks "$D/ranks" >/dev/null 2>&1
cols=$(med "$H" analyze annotations --set use_gpu_annotation=false --data "$D/data" --run five)
row "cold: columns of 1 M events, once" "$(w "$cols")" "$(c "$cols")" "$(($(m "$cols") / 1024))" "1"
for a in critical-path critical-path-summary critical-path-what-if idle-causes; do
    set --
    [ $a = critical-path-what-if ] && set -- --set reweight=class:compute=0.5
    t=$(med "$H" analyze $a --data "$D/data" --run five "$@")
    row "cold: $a, 1 M events" "$(w "$t")" "$(c "$t")" "$(($(m "$t") / 1024))" "$(ratio "$(w "$t")" "$(w "$cols")") x (bar: 2000 ms)"
done

PORT=$((20000 + $$ % 20000))
"$H" serve --data "$D/data" --listen "127.0.0.1:$PORT" 2>/dev/null &
SERVER=$!
trap 'kill $SERVER 2>/dev/null || true' EXIT
i=0
until curl -fs "http://127.0.0.1:$PORT/healthz" >/dev/null 2>&1; do
    i=$((i + 1))
    [ $i -lt 100 ] || { echo "the server did not start" >&2; exit 1; }
    sleep 0.1
done
for a in $NAMES; do
    url="http://127.0.0.1:$PORT/api/v1/runs/bench/$a"
    [ "$a" = kernel-sequences ] && url="$url?operator_name=aten::"
    curl -fs "$url" >/dev/null
    warm=$(for _ in 1 2 3 4 5 6 7 8 9; do curl -fs -o /dev/null -w '%{time_total}\n' "$url"; done | sort -n | sed -n 5p)
    row "warm: GET $a" "$(awk -v t="$warm" 'BEGIN{printf "%.2f", t*1000}')" "" "" "(bar: 5 ms)"
done
# Warm: everything that they read is in memory; another format each time, so that no answer is given from the cache.
again() { # name url
    curl -fs -o /dev/null "$2"
    warm=$(for f in csv columns md; do curl -fs -o /dev/null -w '%{time_total}\n' "$2&format=$f"; done | sort -n | sed -n 2p)
    row "$1" "$(awk -v t="$warm" 'BEGIN{printf "%.2f", t*1000}')" "" "" "(bar: 1000 ms)"
}
again "warm: compare two 1 GB traces" "http://127.0.0.1:$PORT/api/v1/compare?base=bench&test=other"
again "warm: stragglers over 64 ranks" "http://127.0.0.1:$PORT/api/v1/runs/ranks/stragglers?"
