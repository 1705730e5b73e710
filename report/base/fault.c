/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: keep the first words that fit; a message is never worth a failure of its own. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return error;
}
