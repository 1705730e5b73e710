/* SPDX-License-Identifier: BSD-3-Clause */
/* store_index.c: one statement over two tables, and no JSON. */
#include "store_index.h"

#include "store_reader.h"
#include "vector.h"

#include <string.h>

static int entry_take(struct store_reader *reader, sqlite3_stmt *s,
                      struct store_index_entry *entry) {
    const char **texts[] = {&entry->benchmark, &entry->parameters, &entry->uuid,
                            &entry->set_uuid,  &entry->commit,     &entry->branch};
    entry->id = sqlite3_column_int64(s, 0);
    entry->benchmark_id = sqlite3_column_int64(s, 1);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i] = store_text(reader->arena, s, (int)i + 2);
        if (!*texts[i])
            return store_no_memory(reader);
    }
    return 0;
}

int store_index(struct store *store, struct arena *arena,
                struct store_index_entry **ret_entries, size_t *ret_count,
                struct fault *fault) {
    static const char sql[] = "SELECT run.id, benchmark_id, name, parameters, uuid, set_uuid, "
                              "commit_hash, branch FROM run JOIN benchmark "
                              "ON benchmark.id=benchmark_id ORDER BY run.id";
    struct store_reader reader = {.store = store, .fault = fault, .arena = arena};
    struct vector entries = VECTOR_OF(struct store_index_entry);
    sqlite3_stmt *s = NULL;
    int r = store_prepare(store, sql, &s, fault);
    while (r == 0 && (r = store_step(store, s, fault)) > 0) {
        struct store_index_entry *entry = vector_add(&entries);
        r = entry ? entry_take(&reader, s, entry) : store_no_memory(&reader);
    }
    sqlite3_finalize(s);
    struct store_index_entry *kept = NULL;
    if (r == 0) {
        kept = arena_array(arena, entries.count, sizeof(*kept));
        r = kept ? 0 : store_no_memory(&reader);
    }
    if (r == 0) {
        if (entries.count > 0)
            memcpy(kept, entries.items, entries.count * sizeof(*kept));
        *ret_entries = kept;
        *ret_count = entries.count;
    }
    vector_finish(&entries);
    return r;
}
