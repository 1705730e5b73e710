#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_names.sh VOTREPORT LIBVOTRACE [CXX...]: how the functions of C++ programs are named, for
# each of the compilers. Prints TAP; without a compiler all is skipped.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
VOTRACE_LIBRARY=$(absolute "$2")
shift 2
VOTRACE_STACKS=all
export VOTRACE_LIBRARY VOTRACE_STACKS
[ $# -gt 0 ] || skip_all 'there is no C++ compiler'
begin

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
__attribute__((noinline)) static char *within(int count) {
    struct local {
        __attribute__((noinline)) static char *keep(int count) {
            char *block = new char[count];
            block[0] = 1; // no tail call
            return block;
        }
    };
    return local::keep(count);
}
int main(int count, char **) {
    char *kept = within(444 * count);
    ns::table table;
    table.fill(5000 * count);
    std::vector<int> *built = ns::build(1000 * count);
    std::string *text = hidden(777 * count);
    bool good = built->size() > 0 && text->size() > 0 && table.cells.empty();
    delete[] kept;
    delete built;
    delete text;
    return good ? 0 : 1;
}
EOF

# shows NAME COMPILER FLAG...: compile, measure, and have what was measured in out.
shows() {
    what=$1
    shift
    "$@" -o names names.cc || exit 1
    rm -f names.db
    "$votreport" run --db names.db -- ./names || exit 1
    "$votreport" show --bytes --color never names.db >out || exit 1
    ! grep -v ' via ' out | grep -E 'new_allocator|_ZNK?St| std::' >err
    result $? "$what nothing of the library is a call site"
}

for compiler; do
    for level in -O0 -O2; do
        shows "$(basename "$compiler") $level:" "$compiler" "$level" -g
        says "$what a container is named by the method that fills it" out ' ns::table::fill ('
        says "$what an allocation in a namespace by its function" out ' ns::build ('
        says "$what with the file that is its own" out "names.cc:11)"
        says "$what of no namespace's name, too" out '(anonymous namespace)::hidden ('
        says "$what a class in a function by its method" out ' keep ('
    done
    # clang describes no functions then; gcc knows no such option.
    if echo 'int main() {}' | "$compiler" -gline-tables-only -x c++ -o tables - 2>bad; then
        shows "$(basename "$compiler"), lines only:" "$compiler" -gline-tables-only
        says "$what a symbol and a line are a name" out ' ns::build ('
        says "$what with the file that is its own" out 'names.cc:11)'
    fi
done
finish
