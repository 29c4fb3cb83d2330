#!/bin/sh
# Who may include whom: jupyter-kernel -> cells -> kernels -> model, and cells -> model.
# Includes are written from the top of the tree, so that grep can tell.
cd "$(dirname "$0")/.."
status=0

# forbid ROOM PATTERN WHY: no file of ROOM includes what PATTERN matches
forbid() {
    if found=$(grep -rnE --include='*.[ch]' --include='*.def' "^[[:space:]]*# *include [<\"]($2)" "$1" 2>/dev/null |
        grep -vE "${4:-^$}"); then
        echo "$found" | sed "s|\$|   <- $3|"
        status=1
    fi
}

forbid model '(jupyter-kernel|cells|kernels)/' 'model includes no other room'
forbid model '(jansson|zmq|sodium|uuid/uuid|cuda|nvrtc)' 'model uses libc, libm and pthreads alone'
forbid model '(time|sys/time|sys/socket|sys/wait|unistd|fcntl|dlfcn)\.h' 'model does no I/O and has no clock'
forbid kernels '(jupyter-kernel|cells)/' 'kernels includes model alone'
forbid kernels '(jansson|zmq)' 'kernels knows no JSON and no sockets of Jupyter'
forbid cells 'jupyter-kernel/' 'cells does not know Jupyter'
forbid cells 'zmq' 'cells does not know ZeroMQ'
# The way down goes through cells; main.c alone starts a child.
forbid jupyter-kernel 'kernels/' 'only main.c may, and only kernels/child.h' \
    '^jupyter-kernel/main\.c:[0-9]+:#include "kernels/child\.h"'
forbid jupyter-kernel 'model/(ptx/|[a-z_]+\.h)' 'jupyter-kernel may use model/base'
# A file includes its own header first, which proves that the header stands alone.
for file in $(find model kernels cells jupyter-kernel -name '*.c' 2>/dev/null); do
    header=${file%.c}.h
    [ -e "$header" ] || continue
    first=$(grep -m1 -E '^#include' "$file")
    [ "$first" = "#include \"$header\"" ] || { echo "$file: its first include is not \"$header\""; status=1; }
done
exit $status
