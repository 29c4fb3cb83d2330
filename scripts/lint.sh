#!/bin/sh
# What `make lint` checks beside the arrows and the words: layout and clang-tidy.
cd "$(dirname "$0")/.."
status=0
fail() { echo "lint: $*"; status=1; }

sources=$(git ls-files '*.c' ':!tests/data')
headers=$(git ls-files '*.h' ':!tests/data')

clang-format --dry-run --Werror $sources $headers >/dev/null 2>&1 || {
    for file in $sources $headers; do
        clang-format --dry-run --Werror "$file" >/dev/null 2>&1 || fail "$file: make format changes it"
    done
}

scripts/tidy.sh $(echo "$sources" | grep -v '^tests/') || fail clang-tidy

[ $status = 0 ] && echo "lint: clean"
exit $status
