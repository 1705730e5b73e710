/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c: what programs that the program starts are told.
 *
 * The loader separates entries by colons and spaces. They are compared by their last component:
 * the loader may have found the library in another folder than the entry says.
 */
#include "environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define VARIABLE   "LD_PRELOAD="
#define SEPARATORS ": "

static bool is_entry_of(const char *entry, size_t length, const char *library) {
    const char *slash = strrchr(library, '/');
    const char *name = slash != NULL ? slash + 1 : library;
    size_t name_length = strlen(name);
    if (length < name_length || memcmp(entry + length - name_length, name, name_length) != 0)
        return false;
    return length == name_length || entry[length - name_length - 1] == '/';
}

/* Returns whether an entry is left. */
static bool drop_entries(char *list, const char *library) {
    bool left = false;
    for (char *entry = list; *entry != '\0';) {
        size_t length = strcspn(entry, SEPARATORS);
        char *next = entry + length + (entry[length] != '\0');
        if (length > 0 && is_entry_of(entry, length, library)) {
            memmove(entry, next, strlen(next) + 1);
            continue;
        }
        left |= length > 0;
        entry = next;
    }
    /* The separator before a last entry that went. */
    size_t length = strlen(list);
    while (length > 0 && strchr(SEPARATORS, list[length - 1]) != NULL)
        list[--length] = '\0';
    return left;
}

void environment_drop_preload(char **environment, const char *library) {
    for (char **variable = environment; variable != NULL && *variable != NULL; variable++) {
        if (strncmp(*variable, VARIABLE, strlen(VARIABLE)) != 0)
            continue;
        if (drop_entries(*variable + strlen(VARIABLE), library))
            continue;
        char **end = variable;
        do
            end[0] = end[1];
        while (*end++ != NULL);
        variable--;
    }
}
