/* SPDX-License-Identifier: BSD-3-Clause */
/* sysmem_wrap.c: stands in front of preload/base/sysmem.c, by the linker's --wrap. */
#include "sysmem_wrap.h"

#include <stddef.h>

static int left = SYSMEM_NEVER;

void *__real_sysmem_map(size_t bytes);
void *__wrap_sysmem_map(size_t bytes);

void sysmem_refuse_after(int mappings) {
    left = mappings;
}

void *__wrap_sysmem_map(size_t bytes) {
    if (left == 0)
        return NULL;
    if (left != SYSMEM_NEVER)
        left--;
    return __real_sysmem_map(bytes);
}
