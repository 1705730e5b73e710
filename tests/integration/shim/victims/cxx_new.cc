/* SPDX-License-Identifier: BSD-3-Clause */
/* C++: new, new[], aligned new, containers and an exception (140 bytes and more, all freed). */
#include <votrace.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

struct alignas(128) wide {
    char bytes[128];
};

int main() {
    int caught = 0;
    votrace_region_begin("v");
    {
        std::vector<std::string> strings;
        for (int i = 0; i < 1000; i++)
            strings.push_back(std::string(100, 'x'));
        int *numbers = new int[10];
        wide *aligned = new wide;
        delete[] numbers;
        delete aligned;
        try {
            throw std::runtime_error("a message that is longer than fifteen bytes");
        } catch (const std::exception &) {
            caught++;
        }
    }
    votrace_region_end("v");
    std::printf("%d\n", caught);
    return 0;
}
