/* SPDX-License-Identifier: BSD-3-Clause */
/* sysmem_wrap.h: a kernel that refuses memory when a test wants it to (--wrap=sysmem_map). */
#pragma once

#include <limits.h>

#define SYSMEM_NEVER INT_MAX

/* How many more mappings succeed; SYSMEM_NEVER: all. Not thread-safe. */
void sysmem_refuse_after(int mappings);
