/* SPDX-License-Identifier: BSD-3-Clause */
/* amount.c: three significant digits, or all of them. */
#include "amount.h"

#include <stdio.h>
#include <string.h>

static void time_text(char *text, int64_t ns) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    double value = (double)ns;
    double size = value < 0 ? -value : value;
    size_t i = 0;
    while (i < 3 && size < units[i].ns)
        i++;
    double shown = size / units[i].ns;
    int decimals = i == 3 || shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
    snprintf(text, AMOUNT_TEXT_BYTES - 1, "%s%.*f %s", value < 0 ? "-" : "", decimals, shown,
             units[i].unit);
}

char *amount_text(const struct term *term, char ret_text[AMOUNT_TEXT_BYTES],
                  enum metric_unit unit, int64_t value, bool sign) {
    char *at = ret_text;
    if (unit == METRIC_BYTES)
        return term_bytes(term, ret_text, value, sign);
    if (sign && value > 0)
        *at++ = '+';
    if (unit == METRIC_NS && !term->exact_bytes)
        time_text(at, value);
    else
        sizes_group(at, value);
    if (unit == METRIC_NS && term->exact_bytes)
        strcat(at, " ns");
    return ret_text;
}
