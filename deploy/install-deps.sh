#!/bin/sh
# Installs what building, testing and running Holoscope needs on Debian 12. Does nothing, and asks for nothing, when
# all of it is there. `--run-only` leaves out what only tests need (Chromium, Node).
set -eu

BUILD="gcc make pkg-config libmicrohttpd-dev libjansson-dev zlib1g-dev libsqlite3-dev libarchive-dev libxxhash-dev libsodium-dev libpcre2-dev"
TEST="check libcurl4-gnutls-dev clang llvm libclang-rt-14-dev libjansson-dev"
case "$(dpkg --print-architecture 2>/dev/null || echo amd64)" in
amd64 | arm64) BUILD="$BUILD libisal-dev" TEST="$TEST isal" ;; # ISA-L inflates 3x as fast; zlib is used elsewhere
esac
WEB="chromium"
WANT="$BUILD"
[ "${1:-}" = --run-only ] || WANT="$WANT $TEST $WEB"

MISSING=""
for p in $WANT; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || MISSING="$MISSING $p"
done
# Any Node will do for the page's tests; Debian's only where there is none.
if [ "${1:-}" != --run-only ] && ! command -v npm >/dev/null 2>&1; then
    MISSING="$MISSING nodejs npm"
fi
[ -n "$MISSING" ] || exit 0

SUDO=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "install-deps: these packages are missing and need root to install:$MISSING" >&2; exit 1; }
    SUDO=sudo
fi
echo "installing:$MISSING" >&2
$SUDO apt-get update -qq
# shellcheck disable=SC2086  # a list of words
DEBIAN_FRONTEND=noninteractive $SUDO apt-get install -y -qq --no-install-recommends $MISSING >/dev/null
