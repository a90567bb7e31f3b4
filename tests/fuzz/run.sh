#!/bin/sh
# tests/fuzz/run.sh BUILD_DIR SECONDS: every fuzz target of BUILD_DIR for SECONDS each, from the corpus of odd files and
# what earlier runs found (BUILD_DIR/corpus_*). Fails on a crash, a sanitizer's report, an input that takes over ten
# seconds, or more than 2 GB; the input is left in BUILD_DIR/crash_*.
set -eu
build=$1
seconds=${2:-60}
here=$(cd "$(dirname "$0")/../.." && pwd)
found=0
for target in "$build"/fuzz_*; do
    case $target in *.[od] | *\*) continue ;; esac
    [ -x "$target" ] || continue
    found=1
    name=$(basename "$target")
    corpus=$build/corpus_$name
    mkdir -p "$corpus"
    seeds=
    [ -d "$here/tests/corpus/files" ] && seeds=$here/tests/corpus/files
    echo "fuzz: $name, $seconds s"
    # shellcheck disable=SC2086  # no seeds is no argument
    "$target" -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
        -dict="$here/tests/fuzz/json.dict" -artifact_prefix="$build/crash_${name}_" "$corpus" $seeds
done
if [ "$found" = 0 ]; then
    echo "fuzz: no targets in $build" >&2
    exit 1
fi
