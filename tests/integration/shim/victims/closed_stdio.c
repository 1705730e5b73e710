/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard streams closed before the end. */
#include "victim.h"

int main(void) {
    fclose(stdin);
    fclose(stdout);
    fclose(stderr);
    votrace_region_begin("v");
    free(opaque(malloc(77)));
    votrace_region_end("v");
    return 0;
}
