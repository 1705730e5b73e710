/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection.c: lists as they are given on the command line, searched where they stand.
 *
 * A name that nothing has is an error: it is a typing mistake, and silence would look like an
 * empty result.
 */
#include "selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct entry {
    const char *text;
    size_t length;
};

/* The entry that begins at *at; moves it behind. False at the end. */
static bool next_entry(const char **at, struct entry *ret_entry) {
    if (*at == NULL || **at == '\0')
        return false;
    ret_entry->text = *at;
    ret_entry->length = strcspn(*at, ",");
    *at += ret_entry->length;
    if (**at == ',')
        (*at)++;
    return true;
}

static bool entry_is(const struct entry *entry, const char *name) {
    return name != NULL && strlen(name) == entry->length &&
           memcmp(entry->text, name, entry->length) == 0;
}

bool selection_has(const char *list, const char *name) {
    struct entry entry;
    while (next_entry(&list, &entry))
        if (entry_is(&entry, name))
            return true;
    return false;
}

static bool entry_is_table(const struct entry *entry, const struct table *table,
                           size_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%zu", number);
    return entry_is(entry, digits) || entry_is(entry, table->name) ||
           entry_is(entry, table->id);
}

bool selection_has_table(const char *list, const struct table *table, size_t number) {
    struct entry entry;
    if (list == NULL)
        return true;
    while (next_entry(&list, &entry))
        if (entry_is_table(&entry, table, number))
            return true;
    return false;
}

int selection_mark_fields(const char *list, struct table *table, struct problem *problem) {
    if (list == NULL)
        return 0;
    for (size_t i = 0; i < table->field_count; i++)
        table->fields[i]->skipped = !selection_has(list, table->fields[i]->name);

    struct entry entry;
    while (next_entry(&list, &entry)) {
        bool found = false;
        for (size_t i = 0; !found && i < table->field_count; i++)
            found = entry_is(&entry, table->fields[i]->name);
        if (!found)
            return problem_set(problem, -EINVAL, table->lineno,
                               "table '%.60s' has no FIELD '%.*s', correct --columns or choose "
                               "other tables with --tables",
                               table->name != NULL ? table->name : "(no name)",
                               (int)(entry.length < 60 ? entry.length : 60), entry.text);
    }
    return 0;
}

int selection_check_tables(const char *list, const struct votable *votable,
                           struct problem *problem) {
    struct entry entry;
    while (next_entry(&list, &entry)) {
        bool found = false;
        for (size_t i = 0; !found && i < votable->table_count; i++)
            found = entry_is_table(&entry, votable->tables[i], i + 1);
        if (!found)
            return problem_set(problem, -EINVAL, 0,
                               "has no table '%.*s', correct --tables: numbers count from 1, "
                               "names are those of TABLE name or ID",
                               (int)(entry.length < 60 ? entry.length : 60), entry.text);
    }
    return 0;
}
