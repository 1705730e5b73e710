/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.h: why an input was refused, in words, next to the negative errno that says what kind.
 *
 * The library parts fill it and never print; the commands put the file's name in front.
 */
#pragma once

#include "attributes.h"

#define FAULT_TEXT_BYTES 512

struct fault {
    char text[FAULT_TEXT_BYTES]; /* one sentence without a full stop; "" when nothing failed */
};

/* Write the sentence and return @error, so that `return fault_set(...)` reads well. */
int fault_set(struct fault *fault, int error, const char *format, ...) _printf_(3, 4);
