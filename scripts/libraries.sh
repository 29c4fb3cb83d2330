#!/bin/sh
# Says which Debian package brings a library that pkg-config does not know.
command -v pkg-config >/dev/null || { echo "pkg-config is missing: apt-get install pkg-config" >&2; exit 1; }
status=0
for library in "$@"; do
    pkg-config --exists "$library" && continue
    case $library in
    libzmq) package=libzmq3-dev ;;
    jansson) package=libjansson-dev ;;
    uuid) package=uuid-dev ;;
    *) package=$library-dev ;;
    esac
    echo "$library is missing: apt-get install $package" >&2
    status=1
done
exit $status
