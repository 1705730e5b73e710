/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++: new, new[], aligned new, containers and an exception, each counted once: 1000 strings, a
 * vector that doubles 10 times, an array, a wide one, an exception and its text.
 */
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
        /* A pair that nobody looks at would be left out. */
        __asm__ volatile("" : "+r"(numbers), "+r"(aligned)::"memory");
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
