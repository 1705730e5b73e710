/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refused_alloc.h: refuse the Nth allocation of the code under test.
 *
 * Link with the refuse_allocations dependency, which turns malloc and its kin to the wrappers here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The wrappers have no other way to be told. */
struct refused_alloc {
    size_t left;   /* allocations until one is refused; 0: none is */
    bool for_good; /* and all that follow it, until left is set again */
    bool happened; /* one was refused since this was cleared */
};

extern struct refused_alloc refused_alloc;
