#!/bin/sh
# Installs what a bare Debian 12, Debian 13 or Ubuntu 24.04 lacks, and nothing that is there.
#
#   scripts/setup.sh build   compiler and libraries
#   scripts/setup.sh lab     and the CUDA compiler, and JupyterLab in .venv
#   scripts/setup.sh test    and what the tests need
#   scripts/setup.sh lint    and clang-format and clang-tidy
#
# Never asks. A second run finds everything in place and needs no network.
set -eu
cd "$(dirname "$0")/.."
level=${1:-lab}
case $level in build | lab | test | lint) ;; *)
    echo "usage: scripts/setup.sh build|lab|test|lint" >&2
    exit 2
    ;;
esac

say() { echo "setup: $*"; }

die() {
    echo "setup: $*" >&2
    exit 1
}

# ---- Debian packages ---------------------------------------------------------------------------

# missing PACKAGE...: those that dpkg does not know as installed
missing() {
    for p in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || printf '%s ' "$p"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -n "$@" || die "sudo asks for a password: run 'sudo scripts/setup.sh $level' first"
    else
        die "neither root nor sudo: as root, apt-get install $want"
    fi
}

install_packages() {
    want=$(missing "$@")
    [ -n "$want" ] || { say "packages: all there"; return; }
    command -v apt-get >/dev/null || die "no apt-get here; install by hand: $want"
    say "apt-get install $want"
    log=$(mktemp)
    apt="as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0"
    $apt update >"$log" 2>&1 || say "apt-get update failed; trying with the lists at hand"
    $apt install --no-install-recommends $want </dev/null >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "apt-get install $want failed"
    }
    rm -f "$log"
}

packages="gcc make libc6-dev binutils pkg-config libzmq3-dev libjansson-dev uuid-dev libsodium-dev"
# Ubuntu and Debian 13 know pkg-config as a name of pkgconf.
[ -z "$(missing pkgconf)" ] && packages=$(echo "$packages" | sed 's/pkg-config/pkgconf/')
if [ "$level" != build ] && [ "$level" != lint ]; then
    packages="$packages ca-certificates"
    # Another Python that can make environments will do as well.
    python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        packages="$packages python3 python3-venv"
fi
if [ "$level" = test ]; then
    packages="$packages libcmocka-dev git"
    # Ubuntu's chromium is a snap, which no container can run: there the browser tests skip.
    grep -q '^ID=debian' /etc/os-release && packages="$packages chromium chromium-driver fonts-dejavu-core"
fi
[ "$level" = lint ] && packages="$packages clang-format clang-tidy"
install_packages $packages
case $level in build | lint) exit 0 ;; esac

# ---- Python packages, pinned, in .venv ---------------------------------------------------------

# Also where an earlier one was interrupted, or moved with the checkout: its programs name its path.
if ! .venv/bin/python -c 'import pip' 2>/dev/null || ! grep -qF "$(pwd -P)/.venv" .venv/bin/activate; then
    say "python3 -m venv --clear .venv"
    python3 -m venv --clear .venv
fi

# install_wheels FILE: what a requirements file names; remembers the file's content
install_wheels() {
    stamp=.venv/.$(echo "$1" | tr / -)
    if [ -f "$stamp" ] && cmp -s "$1" "$stamp"; then
        say "$1: all there"
        return
    fi
    say "pip install -r $1"
    .venv/bin/python -m pip install -q --no-compile --disable-pip-version-check -r "$1" </dev/null ||
        die "pip install -r $1 failed"
    cp "$1" "$stamp"
}

# ---- the CUDA compiler -------------------------------------------------------------------------

# The toolkit that is here, in the order in which the compiler child looks.
find_toolkit() {
    nvcc=$(command -v nvcc || true)
    [ -z "$nvcc" ] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    for home in "${CUDA_HOME:-}" /usr/local/cuda "$nvcc"; do
        [ -n "$home" ] && [ -f "$home/include/cuda_runtime.h" ] || continue
        for lib in "$home"/lib64/libnvrtc.so* "$home"/lib/libnvrtc.so* \
            "$home"/targets/*/lib/libnvrtc.so*; do
            [ -e "$lib" ] && echo "$home" && return
        done
    done
}

toolkit=$(find_toolkit)
if [ -n "$toolkit" ]; then
    say "CUDA Toolkit: $toolkit"
else
    install_wheels scripts/requirements-cuda.txt
    say "CUDA compiler: the wheels in .venv"
fi

install_wheels scripts/requirements-lab.txt
[ "$level" = test ] && install_wheels tests/requirements.txt
exit 0
