/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * votable.c: the document's tables and their lifetimes. Knows no XML.
 *
 * Lists of tables and fields are short pointers to fixed places: columns borrow their fields,
 * so these must not move when another one is appended.
 */
#include "votable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const serialization_names[SERIALIZATIONS] = {
    [SERIALIZATION_NONE] = "none",     [SERIALIZATION_TABLEDATA] = "tabledata",
    [SERIALIZATION_BINARY] = "binary", [SERIALIZATION_BINARY2] = "binary2",
    [SERIALIZATION_FITS] = "fits",
};

static const struct {
    const char *name;
    const char *summary;
} strategies[STRATEGIES] = {
    [STRATEGY_STREAM] = {"stream", "rows are decoded while the XML arrives, as STIL, gavo and "
                                   "astropy since 2026 do: holds the columns and one piece"},
    [STRATEGY_BUFFER] = {"buffer", "a STREAM is collected, then decoded, then unpacked, as "
                                   "astropy did until 2026: holds text and bytes beside the "
                                   "columns"},
    [STRATEGY_DOM] = {"dom", "the whole document becomes a tree, as with tablator, CARTA and "
                             "IRAF: holds a node for every cell beside the columns"},
    [STRATEGY_READER] = {"reader", "xmlTextReader's nodes one by one, as VOTables.jl and "
                                   "libVOTable do: holds the text of one STREAM or cell as a "
                                   "node"},
};

const char *serialization_name(enum serialization serialization) {
    return serialization_names[serialization];
}

const char *strategy_name(enum strategy strategy) {
    return strategies[strategy].name;
}

const char *strategy_summary(enum strategy strategy) {
    return strategies[strategy].summary;
}

int strategy_find(const char *name, enum strategy *ret_strategy) {
    for (size_t i = 0; i < STRATEGIES; i++) {
        if (strcmp(strategies[i].name, name) != 0)
            continue;
        *ret_strategy = (enum strategy)i;
        return 0;
    }
    return -EINVAL;
}

/* Append @item to a list whose room doubles: it is full at every power of two. */
static int append_pointer(void ***list, size_t *count, void *item) {
    if ((*count & (*count - 1)) == 0) {
        size_t room = *count == 0 ? 1 : *count * 2;
        void **grown = reallocarray(*list, room, sizeof(**list));
        if (grown == NULL)
            return -ENOMEM;
        *list = grown;
    }
    (*list)[(*count)++] = item;
    return 0;
}

struct table *votable_add_table(struct votable *votable) {
    struct table *table = calloc(1, sizeof(*table));
    if (table == NULL)
        return NULL;
    void **list = (void **)votable->tables;
    int r = append_pointer(&list, &votable->table_count, table);
    votable->tables = (struct table **)list;
    if (r < 0) {
        free(table);
        return NULL;
    }
    return table;
}

struct field *table_add_field(struct table *table) {
    struct field *field = calloc(1, sizeof(*field));
    if (field == NULL)
        return NULL;
    void **list = (void **)table->fields;
    int r = append_pointer(&list, &table->field_count, field);
    table->fields = (struct field **)list;
    if (r < 0) {
        free(field);
        return NULL;
    }
    return field;
}

int table_begin_data(struct table *table, enum serialization serialization) {
    table->serialization = serialization;
    if (table->field_count == 0)
        return 0;
    table->columns = calloc(table->field_count, sizeof(*table->columns));
    if (table->columns == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < table->field_count; i++)
        column_init(&table->columns[i], table->fields[i]);
    return 0;
}

static void table_free(struct table *table) {
    for (size_t i = 0; i < table->field_count; i++) {
        if (table->columns != NULL)
            column_finish(&table->columns[i]);
        field_finish(table->fields[i]);
        free(table->fields[i]);
    }
    free(table->columns);
    free(table->fields);
    free(table->name);
    free(table->id);
    free(table);
}

void votable_finish(struct votable *votable) {
    for (size_t i = 0; i < votable->table_count; i++)
        table_free(votable->tables[i]);
    free(votable->tables);
    memset(votable, 0, sizeof(*votable));
}
