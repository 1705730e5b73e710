/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.c: decode strictly, count columns with the C library's tables. */
#include "utf8.h"

#include <string.h>
#include <wchar.h>

size_t utf8_decode(const char *text, size_t length, uint32_t *ret_point) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)text;
    size_t bytes = b[0] < 0x80   ? 1
                   : b[0] < 0xc2 ? 0
                   : b[0] < 0xe0 ? 2
                   : b[0] < 0xf0 ? 3
                   : b[0] < 0xf5 ? 4
                                 : 0;
    *ret_point = UTF8_INVALID;
    if (bytes == 1)
        *ret_point = b[0];
    if (bytes <= 1 || bytes > length)
        return 1;

    uint32_t point = b[0] & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 1;
        point = (point << 6) | (b[i] & 0x3f);
    }
    if (point < smallest[bytes] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 1;
    *ret_point = point;
    return bytes;
}

static int point_is_safe(uint32_t point) {
    static const struct {
        uint32_t first, last;
    } unsafe[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},        {0x61c, 0x61c},
        {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},    {0xfe00, 0xfe0f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
        if (point >= unsafe[i].first && point <= unsafe[i].last)
            return 0;
    return 1;
}

void utf8_clean(char *text) {
    size_t left = strlen(text);
    char *out = text;
    while (left > 0) {
        uint32_t point;
        size_t bytes = utf8_decode(text, left, &point);
        if (point != UTF8_INVALID && point_is_safe(point)) {
            memmove(out, text, bytes);
            out += bytes;
        } else {
            *out++ = '?';
        }
        text += bytes;
        left -= bytes;
    }
    *out = '\0';
}

size_t utf8_width(const char *text) {
    size_t left = strlen(text);
    size_t width = 0;
    while (left > 0) {
        uint32_t point;
        size_t bytes = utf8_decode(text, left, &point);
        /* In the C locale wcwidth() knows ASCII only; then every character takes one column. */
        int columns = point == UTF8_INVALID ? 1 : wcwidth((wchar_t)point);
        width += columns >= 0 ? (size_t)columns : 1;
        text += bytes;
        left -= bytes;
    }
    return width;
}
