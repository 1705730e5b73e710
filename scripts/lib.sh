# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# lib.sh: what the scripts of this folder share: messages, and the packages votrace needs.
# Sourced, never run; `program` is the name in front of every message.
#
# What is needed is asked of the machine itself (a command, a pkg-config module, a program that
# links), not of the package database: a tool that came another way is as good. Only when
# something is missing is apt asked, so a second run needs no network.

: "${program:?lib.sh is sourced by a script that sets its name}"

say() {
    printf '%s: %s\n' "$program" "$*" >&2
}

die() {
    say "$@"
    exit 2
}

# Every need on one line: group, kind, what, Debian and Ubuntu package, and `optional` where a
# script can do without (it then says what it leaves out).
#   command  one of these commands, joined by |, is in PATH
#   module   pkg-config knows the module
#   links    this compiler command links a program
#   loads    the loader finds this library
#   file     there is a file of this name, which may be a pattern
#   python   python3, the first in PATH or the system's, can import it
requirements() {
    cat <<'EOT'
build command gcc                       gcc
build links   gcc                       libc6-dev
build command meson                     meson
build command ninja                     ninja-build
build command pkg-config                pkgconf
build module  libunwind                 libunwind-dev
build module  libxml-2.0                libxml2-dev
build module  sqlite3                   libsqlite3-dev
build module  zlib                      zlib1g-dev
build module  cfitsio                   libcfitsio-dev
build module  libdw                     libdw-dev
build module  cmocka                    libcmocka-dev
test  command clang                     clang
test  links   clang~-fsanitize=fuzzer,address,undefined libclang-rt-dev
test  command clang-format-14           clang-format-14
test  command clang-tidy-14|clang-tidy  clang-tidy
test  command shellcheck                shellcheck
test  command xmllint                   libxml2-utils
test  command memusage                  libc-devtools
test  command python3                   python3
test  python  ensurepip                 python3-venv optional
test  command git                       git
test  command sqlite3                   sqlite3
test  command ms_print                  valgrind optional
test  command protoc                    protobuf-compiler optional
test  command zsh                       zsh optional
test  command xz                        xz-utils
test  command zstd                      zstd
test  command mandoc                    mandoc optional
test  command chromium|chromium-browser|google-chrome chromium optional
test  file    /usr/lib/python3*/test/test_fork1.py libpython3.11-testsuite optional
test  file    /usr/lib/python3*/test/test_fork1.py libpython3.12-testsuite optional
test  loads   libjemalloc.so.2          libjemalloc2 optional
test  loads   libtcmalloc_minimal.so.4  libtcmalloc-minimal4 optional
test  loads   libmimalloc.so.2          libmimalloc2.0 optional
bench command xmllint                   libxml2-utils
bench command memusage                  libc-devtools
bench command heaptrack                 heaptrack
bench command valgrind                  valgrind
bench command stilts                    stilts
bench python  astropy                   python3-astropy
EOT
}

# A libFuzzer target, because that is the most any of our programs asks of a linker.
links() {
    links_dir=$(mktemp -d) || die "cannot make a temporary folder under ${TMPDIR:-/tmp}"
    cat >"$links_dir/probe.c" <<'EOT'
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    return data && size > 1000;
}
#if !defined(__has_feature)
int main(void)
{
    return 0;
}
#elif !__has_feature(address_sanitizer)
int main(void)
{
    return 0;
}
#endif
EOT
    links_status=0
    # Word splitting is wanted: ~ stands for the spaces of the command.
    # shellcheck disable=SC2046
    $(printf '%s' "$1" | tr '~' ' ') -o "$links_dir/probe" "$links_dir/probe.c" \
        >/dev/null 2>&1 || links_status=1
    rm -rf "$links_dir"
    return "$links_status"
}

can_import() {
    for import_python in python3 /usr/bin/python3; do
        "$import_python" -c "import $1" >/dev/null 2>&1 && return 0
    done
    return 1
}

any_command() {
    for any_name in $(printf '%s' "$1" | tr '|' ' '); do
        command -v "$any_name" >/dev/null 2>&1 && return 0
    done
    return 1
}

any_file() {
    # The pattern is to be expanded.
    # shellcheck disable=SC2086
    ls $1 >/dev/null 2>&1
}

is_met() {
    case $1 in
    command) any_command "$2" ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    links) links "$2" ;;
    file) any_file "$2" ;;
    loads) [ -z "$(LD_PRELOAD=$2 /bin/true 2>&1)" ] ;;
    python) can_import "$2" ;;
    *) die "lib.sh: unknown kind of need: $1" ;;
    esac
}

# Print the packages of the groups $@ whose needs are not met, each once, one a line.
# With --needed first, without those that are optional.
missing_packages() {
    missing_skip=none
    if [ "$1" = --needed ]; then
        missing_skip=optional
        shift
    fi
    requirements | while read -r group kind what package optional; do
        case " $* " in
        *" $group "*) ;;
        *) continue ;;
        esac
        [ "$optional" = "$missing_skip" ] && continue
        is_met "$kind" "$what" || printf '%s\n' "$package"
    done | awk '!seen[$0]++'
}

# Succeed if version $1 is at least $2.
version_at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# The first of the commands $@ that exists.
first_command() {
    for first_name in "$@"; do
        command -v "$first_name" 2>/dev/null && return 0
    done
    return 1
}

# Configure build folder $1 with the meson arguments after it, unless it is so already; ninja
# itself follows changed meson files. A folder that a broken setup left behind, or that this
# function configured with other arguments, is made anew; one that a person configured is theirs.
configure() {
    configure_dir=$1
    configure_stamp=$1/meson-private/votrace-arguments
    shift
    configure_wanted="${CC-} $*"
    if [ -f "$configure_dir/build.ninja" ]; then
        [ -f "$configure_stamp" ] || return 0
        [ "$(cat "$configure_stamp")" = "$configure_wanted" ] && return 0
    fi
    if [ -d "$configure_dir/meson-private" ]; then
        rm -rf "$configure_dir" || return 1
    fi
    meson setup "$@" "$configure_dir" && printf '%s\n' "$configure_wanted" >"$configure_stamp"
}
