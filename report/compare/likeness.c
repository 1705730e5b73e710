/* SPDX-License-Identifier: BSD-3-Clause */
/* likeness.c: a table of what has to be the same, and a sentence for the first that is not. */
#include "likeness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trait {
    const char *words;
    const char *before;
    const char *after;
    bool of_timing; /* matters to what varies with the machine only */
};

/*
 * "glibc 2.36" of "glibc 2.36 (Debian GLIBC 2.36-9+deb12u10)": a distribution's fix is no
 * other.
 */
static size_t version_length(const char *text) {
    size_t length = strcspn(text, "(");
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

static bool differs(const char *before, const char *after) {
    size_t length = version_length(before);
    if (!before[0] || !after[0])
        return false;
    return length != version_length(after) || strncmp(before, after, length) != 0;
}

static const char *or_unknown(const char *text) {
    return text ? text : "";
}

char *likeness_fault(const struct run *before, const struct run *after, enum metric metric) {
    char processors[2][32] = {"", ""};
    const struct origin *old = &before->origin;
    const struct origin *new = &after->origin;
    if (old->cpu_count > 0 && new->cpu_count > 0) {
        snprintf(processors[0], sizeof(processors[0]), "%u", (unsigned int)old->cpu_count);
        snprintf(processors[1], sizeof(processors[1]), "%u", (unsigned int)new->cpu_count);
    }
    const struct trait traits[] = {
        {"architecture", before->machine, after->machine, false},
        {"C library", old->libc, new->libc, false},
        {"allocator", old->allocator, new->allocator, false},
        {"processor", old->cpu_model, new->cpu_model, true},
        {"number of processors", processors[0], processors[1], true},
    };
    for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
        char *text;
        const char *was = or_unknown(traits[i].before);
        const char *is = or_unknown(traits[i].after);
        if ((traits[i].of_timing && !metric_facts[metric].varies) || !differs(was, is))
            continue;
        if (asprintf(&text, "another %s: %s before, %s after", traits[i].words, was, is) < 0)
            return NULL;
        return text;
    }
    return strdup("");
}
