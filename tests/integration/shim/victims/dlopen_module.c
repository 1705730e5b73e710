/* SPDX-License-Identifier: BSD-3-Clause */
/* A module comes and goes 50 times and allocates each time: 50 blocks of 33 bytes among others. */
#include "load_module.h"

int main(void) {
    votrace_region_begin("v");
    for (int i = 0; i < 50; i++) {
        struct module module = load_module(RTLD_NOW);
        free(module.allocate(33));
        if (dlsym(module.handle, "not_there") != NULL)
            return 1;
        dlclose(module.handle);
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
