#!/bin/sh
# clang-tidy over the given C files, two at a time. What a file is after the preprocessor, with the
# checks and the tool's version, is kept as a number once it was clean, so the next run looks only at
# what changed: minutes the first time, seconds later. CORES=N for another number of cores.
cd "$(dirname "$0")/.."
flags="-std=c11 -I. -D_GNU_SOURCE $(pkg-config --cflags libzmq jansson uuid libsodium)"
clean=build/tidy
mkdir -p $clean
version=$({ clang-tidy --version; cat .clang-tidy; } | sha256sum)

if [ "$1" != one ]; then
    printf '%s\n' "$@" | xargs -P "${CORES:-$(nproc)}" -n 1 "$0" one
    exit
fi

number=$({ echo "$version"; ${CC:-cc} -E -C $flags "$2"; } | sha256sum | cut -c1-32)
[ -e $clean/$number ] && exit 0
found=$(clang-tidy --quiet "$2" -- $flags 2>/dev/null | grep -E '(warning|error):')
[ -z "$found" ] && touch $clean/$number && exit 0
echo "$found"
exit 1
