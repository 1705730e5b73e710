/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors.c: one message, one line, one write.
 *
 * Messages quote names from files that may be hostile, so control bytes never reach the
 * terminal.
 */
#include "errors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *program_name = "votrace";

void errors_set_program(const char *name) {
    program_name = name;
}

static void clean(char *text) {
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

_printf_(2, 0) static void print_line(const char *place, const char *format,
                                      va_list arguments) {
    char line[2048];
    vsnprintf(line, sizeof(line), format, arguments);
    clean(line);
    fflush(stdout);
    fprintf(stderr, "%s: %s%s\n", program_name, place, line);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("", format, arguments);
    va_end(arguments);
}

void complain_at(const char *file, uint64_t lineno, const char *format, ...) {
    char place[1024];
    if (lineno > 0)
        snprintf(place, sizeof(place), "%s:%" PRIu64 ": ", file, lineno);
    else
        snprintf(place, sizeof(place), "%s: ", file);
    clean(place);

    va_list arguments;
    va_start(arguments, format);
    print_line(place, format, arguments);
    va_end(arguments);
}
