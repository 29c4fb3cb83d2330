#!/bin/sh
# Every benchmark once, one table after the other. Arguments: the C benchmarks as built.
set -eu
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv"
export PATH="$VIRTUAL_ENV/bin:$PATH"
build/warpbook install --sys-prefix
for program in "$@"; do
    "$program"
    echo
done
for script in tests/bench/bench_*.py; do
    [ -e "$script" ] || continue
    python "$script"
    echo
done
