/* SPDX-License-Identifier: BSD-3-Clause */
/* sparkline.c: blocks of Unicode, for terminals that show them (struct term's blocks). */
#include "sparkline.h"

void sparkline_write(FILE *stream, const int64_t *values, size_t count, int64_t least,
                     int64_t most) {
    static const char *const eighths[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588"};
    double span = (double)most - (double)least;
    for (size_t i = 0; i < count; i++) {
        double height = span > 0 ? ((double)values[i] - (double)least) / span : 1;
        fputs(eighths[(size_t)(height * 7 + 0.5)], stream);
    }
}
