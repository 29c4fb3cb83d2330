#!/bin/sh
# JupyterLab on the lessons, with this checkout's kernel. Arguments go to `jupyter lab`.
set -eu
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv"
export PATH="$VIRTUAL_ENV/bin:$PATH"
build/warpbook install --sys-prefix
# Nothing asks, and nothing calls home, when a lesson opens.
mkdir -p .venv/share/jupyter/lab/settings
cat >.venv/share/jupyter/lab/settings/overrides.json <<'END'
{ "@jupyterlab/apputils-extension:notification": { "fetchNews": "false", "checkForUpdates": false } }
END
[ "$(id -u)" = 0 ] && set -- --allow-root "$@"
exec jupyter lab --ServerApp.root_dir="$PWD/notebooks" "$@" notebooks/01-*.ipynb
