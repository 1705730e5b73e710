/* SPDX-License-Identifier: BSD-3-Clause */
/* glob.h: patterns with * and ?, in time that no pattern can blow up. */
#pragma once

#include "attributes.h"

#include <stdbool.h>

/* Is @text what @pattern says? * is any text, ? any byte, everything else itself. */
bool glob_matches(const char *pattern, const char *text) _nonnull_;
