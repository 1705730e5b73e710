#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_names.sh VOTREPORT LIBVOTRACE [CXX...]: how the functions of C++ programs are named, for
# each of the compilers. Prints TAP; without a compiler all is skipped.
set -u

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}
votreport=$(absolute "$1")
VOTRACE_LIBRARY=$(absolute "$2")
shift 2
VOTRACE_STACKS=all
export VOTRACE_LIBRARY VOTRACE_STACKS
unset LD_PRELOAD VOTRACE_OUTPUT VOTRACE_DEPTH
if [ $# -eq 0 ]; then
    echo '1..0 # SKIP there is no C++ compiler'
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
tests=0

# says NAME TEXT: a line of out contains TEXT.
says() {
    tests=$((tests + 1))
    if grep -qF -- "$2" out; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        head -n 20 out | sed 's/^/# /'
    fi
}

cat >names.cc <<'EOF'
#include <string>
#include <vector>
namespace ns {
struct table {
    std::vector<int> cells;
    __attribute__((noinline)) void fill(int count) {
        cells.reserve(count);
    }
};
__attribute__((noinline)) std::vector<int> *build(int count) {
    return new std::vector<int>(count);
}
} // namespace ns
namespace {
__attribute__((noinline)) std::string *hidden(int count) {
    return new std::string(count, 'x');
}
} // namespace
int main(int count, char **) {
    ns::table table;
    table.fill(5000 * count);
    std::vector<int> *built = ns::build(1000 * count);
    std::string *text = hidden(777 * count);
    bool good = built->size() > 0 && text->size() > 0 && table.cells.empty();
    delete built;
    delete text;
    return good ? 0 : 1;
}
EOF

for compiler; do
    for level in -O0 -O2; do
        "$compiler" "$level" -g -o names names.cc || exit 1
        rm -f names.db
        "$votreport" run --db names.db -- ./names || exit 1
        "$votreport" show --bytes --color never names.db >out || exit 1
        what="$(basename "$compiler") $level:"
        says "$what a container is named by the method that fills it" ' ns::table::fill ('
        says "$what an allocation in a namespace by its function" ' ns::build ('
        says "$what with the file that is its own" "names.cc:11)"
        says "$what of no namespace's name, too" '(anonymous namespace)::hidden ('
        tests=$((tests + 1))
        if grep -v ' via ' out | grep -E 'new_allocator|_ZN| std::' >bad; then
            echo "not ok $tests - $what nothing of the library is a call site"
            sed 's/^/# /' bad
        else
            echo "ok $tests - $what nothing of the library is a call site"
        fi
    done
done
echo "1..$tests"
