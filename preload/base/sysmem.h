/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysmem.h: memory for the recorder itself, straight from the kernel.
 *
 * Never through malloc or the interposed mmap: what votrace needs must not be in what it
 * counts.
 */
#pragma once

#include <stddef.h>

/* Zeroed, page-aligned memory; NULL when the kernel refuses. errno is left as it was. */
void *sysmem_map(size_t bytes);

/* Give back what sysmem_map() returned; @memory may be NULL. */
void sysmem_unmap(void *memory, size_t bytes);
