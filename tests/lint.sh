#!/bin/sh
# make lint: formatting, static analysis, and the rules of the house that a tool can check. Says what is wrong, fails if
# anything is.
set -u
cd "$(dirname "$0")/.." || exit 1
BAD=0
wrong() { echo "lint: $*" >&2; BAD=1; }

# ---- formatting ----
UNFORMATTED=$(git ls-files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 | sed -n 's|^\([^: ]*\):[0-9].*|\1|p' | sort -u)
[ -z "$UNFORMATTED" ] || wrong "not formatted (make format): $UNFORMATTED"

# ---- house rules ----
# Rooms include only rooms below them.
ROOMS="base trace store ingest analysis report render record http cli"
level() {
    case $1 in
    base) echo 0 ;; trace) echo 1 ;; store) echo 2 ;; ingest) echo 3 ;; analysis) echo 4 ;;
    report | render) echo 5 ;; record) echo 6 ;; http) echo 7 ;; cli) echo 8 ;;
    esac
}
for room in $ROOMS; do
    for f in "server/$room"/*.[ch]; do
        [ -f "$f" ] || continue
        # shellcheck disable=SC2013  # words
        for other in $(sed -n 's|^#include "\([a-z]*\)/.*|\1|p' "$f" | sort -u); do
            [ "$(level "$other")" -le "$(level "$room")" ] || wrong "$f includes $other, a room above its own"
        done
        n=$(wc -l <"$f")
        [ "$n" -le 600 ] || wrong "$f has $n lines; it asks to be two files"
    done
done
# Functions that cannot be used safely.
BANNED=$(git ls-files 'server/*.c' | xargs grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca)\(')
[ -z "$BANNED" ] || wrong "banned function: $BANNED"
# Unfinished work is an issue, not a comment.
MARKS=$(git ls-files 'server/*' 'web/*' 'schema/*' | xargs grep -nE '\b(TODO|FIXME|XXX)\b' /dev/null)
[ -z "$MARKS" ] || wrong "unfinished: $MARKS"
# Every file of the page is built in.
for f in $(git ls-files 'web/*.html' 'web/*.js' 'web/*.css' 'web/*.svg'); do
    grep -qF "\"${f#web/}\"" server/http/assets.c || wrong "$f is not in server/http/assets.c"
done

# ---- static analysis ----
command -v shellcheck >/dev/null && { shellcheck deploy/*.sh tests/*.sh tests/*/*.sh .ci/run || BAD=1; }
command -v cppcheck >/dev/null && {
    cppcheck --quiet --std=c17 -Iserver -I. --enable=warning,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=ctuuninitvar --suppress=normalCheckLevelMaxBranches server || BAD=1
}
[ $BAD = 0 ] && echo "lint: nothing to say"
exit $BAD
