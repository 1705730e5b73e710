/* SPDX-License-Identifier: BSD-3-Clause */
/* sizes.c: binary units for output, both kinds for input. Never the locale's decimal comma. */
#include "sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 uint128;

char *sizes_format(char ret_text[SIZES_TEXT_BYTES], int64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const char *sign = bytes < 0 ? "-" : "";
    uint64_t magnitude = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;

    if (magnitude < 1024) {
        snprintf(ret_text, SIZES_TEXT_BYTES, "%s%" PRIu64 " B", sign, magnitude);
        return ret_text;
    }
    double value = (double)magnitude;
    size_t unit = 0;
    /* 999.5 would be printed with four digits: 1023.7 KiB becomes 1.00 MiB. */
    while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(ret_text, SIZES_TEXT_BYTES, "%s%.*f %s", sign, decimals, value, units[unit]);
    return ret_text;
}

char *sizes_group(char ret_text[SIZES_TEXT_BYTES], int64_t number) {
    char digits[SIZES_TEXT_BYTES];
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, magnitude);

    char *out = ret_text;
    if (number < 0)
        *out++ = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return ret_text;
}

static int unit_factor(const char *unit, int64_t *ret_factor) {
    static const struct {
        const char *name;
        int64_t factor;
    } units[] = {
        {"", 1},
        {"b", 1},
        {"k", INT64_C(1) << 10},
        {"kib", INT64_C(1) << 10},
        {"m", INT64_C(1) << 20},
        {"mib", INT64_C(1) << 20},
        {"g", INT64_C(1) << 30},
        {"gib", INT64_C(1) << 30},
        {"t", INT64_C(1) << 40},
        {"tib", INT64_C(1) << 40},
        {"kb", 1000},
        {"mb", 1000000},
        {"gb", 1000000000},
        {"tb", INT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(unit, units[i].name) == 0) {
            *ret_factor = units[i].factor;
            return 0;
        }
    }
    return -EINVAL;
}

int sizes_parse(const char *text, int64_t *ret_bytes) {
    /* Whole and fraction are kept as integers: "9223372036854775807" must come back exactly. */
    uint64_t whole = 0;
    uint64_t fraction = 0;
    uint64_t fraction_scale = 1;
    const char *c = text;

    if (*c < '0' || *c > '9')
        return -EINVAL;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*c - '0'), &whole))
            return -ERANGE;
    if (*c == '.') {
        c++;
        if (*c < '0' || *c > '9')
            return -EINVAL;
        for (; *c >= '0' && *c <= '9'; c++) {
            if (fraction_scale >= 1000000)
                continue;
            fraction = fraction * 10 + (uint64_t)(*c - '0');
            fraction_scale *= 10;
        }
    }
    while (*c == ' ')
        c++;

    int64_t factor;
    int r = unit_factor(c, &factor);
    if (r < 0)
        return r;

    uint128 bytes = (uint128)whole * (uint64_t)factor +
                    (uint128)fraction * (uint64_t)factor / fraction_scale;
    if (bytes > INT64_MAX)
        return -ERANGE;
    *ret_bytes = (int64_t)bytes;
    return 0;
}
