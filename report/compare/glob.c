/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * glob.c: only the last star is ever tried again, because an earlier one could give it nothing
 * that it cannot take itself. At most pattern times text steps; fnmatch(3) may take forever.
 */
#include "glob.h"

#include <stddef.h>

bool glob_matches(const char *pattern, const char *text) {
    const char *star = NULL;  /* what follows the last star */
    const char *taken = NULL; /* where that was last tried */
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == '?' || (*pattern == *text && *pattern != '\0')) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
