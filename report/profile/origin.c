/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.c: what was measured, where. */
#include "origin.h"

const struct origin origin_unknown = {
    .commit = "",
    .branch = "",
    .libc = "",
    .allocator = "",
    .environment = "",
    .cpu_model = "",
};
