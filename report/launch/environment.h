/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.h: what of the environment changes numbers, and nothing else of it. */
#pragma once

#include "attributes.h"

#include <stdbool.h>

/*
 * The variables of @entries ("NAME=value", ended by NULL) that matter, as a JSON object with
 * sorted names. LD_PRELOAD comes without libvotrace.so. Behind them, where the kernel gives @fixed
 * addresses, "addresses":"fixed". free() it; NULL when there is no memory.
 */
char *environment_describe(char *const *entries, bool fixed) _must_check_ _nonnull_;
