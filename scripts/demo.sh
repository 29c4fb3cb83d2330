#!/bin/sh
# The first lesson, run by Jupyter's own client without a browser: what each cell holds and prints.
set -eu
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv"
export PATH="$VIRTUAL_ENV/bin:$PATH"
build/warpbook install --sys-prefix
exec python scripts/demo.py notebooks/01-*.ipynb
