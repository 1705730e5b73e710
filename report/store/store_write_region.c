/* SPDX-License-Identifier: BSD-3-Clause */
/* store_write_region.c: a region of a run that is being stored: its totals, sites and timeline. */
#include "store_writer.h"

#include "store_series.h"

#include <errno.h>

static bool totals_are_empty(const struct profile_totals *totals) {
    return totals->peak_bytes == 0 && totals->allocated.blocks == 0 &&
           totals->freed.blocks == 0 && totals->start.blocks == 0 && totals->failed == 0;
}

static int write_totals(struct store_writer *writer, int64_t region_id, size_t space,
                        const struct profile_totals *t) {
    int64_t id;
    int r = WRITER_BIND(writer, ADD_TOTAL, "itiiiiiiiiiiiiii", region_id,
                        store_space_names[space], t->start.bytes, t->peak_bytes, t->end.bytes,
                        t->start.blocks, t->end.blocks, t->allocated.blocks, t->freed.blocks,
                        t->allocated.bytes, t->freed.bytes, t->temporary, t->largest_bytes,
                        t->failed, t->reallocations, t->owned_peak_bytes);
    return r < 0 ? r : store_writer_insert(writer, ADD_TOTAL, &id);
}

static int write_timeline(struct store_writer *writer, int64_t region_id,
                          const struct store_series *series) {
    sqlite3_stmt *statement = writer->statements[ADD_TIMELINE];
    int64_t id;
    int r = WRITER_BIND(writer, ADD_TIMELINE, "i", region_id);
    if (r == 0 && sqlite3_bind_blob64(statement, 2, series->timeline, series->timeline_bytes,
                                      SQLITE_STATIC) != SQLITE_OK)
        r = store_fault(writer->store, sqlite3_sql(statement), writer->fault);
    return r < 0 ? r : store_writer_insert(writer, ADD_TIMELINE, &id);
}

static int write_region_row(struct store_writer *writer, const struct profile_region *region,
                            size_t ordinal, int64_t run_id, struct store_set_place place,
                            int64_t *ret_id) {
    struct store_series series;
    if (store_series_write(region, &series) < 0)
        return fault_set(writer->fault, -ENOMEM, "out of memory");
    bool known = region->usable_is_known;
    int r = WRITER_BIND(
        writer, ADD_REGION,
        "iiitiiiiiiiiiiiooot"
        "oi",
        run_id, (int64_t)ordinal, (int64_t)region->parent, region->name,
        (int64_t)region->instance, (int64_t)region->thread, (int64_t)region->open,
        (int64_t)region->has_rows, region->begin_elapsed_ns, region->end_elapsed_ns,
        region->cpu_ns, region->combined_start_bytes, region->combined_peak_bytes,
        region->combined_end_bytes, region->peak_elapsed_ns,
        known ? &region->usable_start_bytes : NULL, known ? &region->usable_peak_bytes : NULL,
        known ? &region->usable_end_bytes : NULL, series.sizes,
        place.id != 0 ? &place.id : NULL, place.origin);
    if (r == 0)
        r = store_writer_insert(writer, ADD_REGION, ret_id);
    if (r == 0 && series.timeline)
        r = write_timeline(writer, *ret_id, &series);
    store_series_finish(&series);
    return r;
}

/* The sites that these are likely to be like: of the same region in the run before, or else of
 * the last region of this run. */
static int find_like(struct store_writer *writer, const struct profile_region *region,
                     struct store_set_place *ret_like) {
    sqlite3_stmt *statement = writer->statements[FIND_LIKE];
    *ret_like = writer->last;
    if (writer->run_before == 0)
        return 0;
    int r = WRITER_BIND(writer, FIND_LIKE, "tii", region->name, writer->run_before,
                        (int64_t)region->instance);
    if (r == 0)
        r = store_step(writer->store, statement, writer->fault);
    if (r > 0)
        *ret_like = (struct store_set_place){sqlite3_column_int64(statement, 0),
                                             sqlite3_column_int64(statement, 1)};
    sqlite3_reset(statement);
    return r < 0 ? r : 0;
}

static int write_sites(struct store_writer *writer, const struct profile *profile,
                       const struct profile_region *region, struct store_set_place *ret_place) {
    struct store_sites sites;
    struct store_set_place like;
    *ret_place = (struct store_set_place){0};
    if (!region->has_rows)
        return 0;
    int r = store_sites_collect(profile, region, writer->nodes, &sites, writer->fault);
    if (r < 0)
        return r;
    r = find_like(writer, region, &like);
    if (r == 0)
        r = store_sets_put(&writer->sets, &sites, like, ret_place);
    store_sites_finish(&sites);
    if (r == 0)
        writer->last = *ret_place;
    return r;
}

int store_writer_put_region(struct store_writer *writer, const struct profile *profile,
                            size_t ordinal, int64_t run_id) {
    const struct profile_region *region = &profile->regions[ordinal];
    struct store_set_place place;
    int64_t id = 0;
    int r = write_sites(writer, profile, region, &place);
    if (r == 0)
        r = write_region_row(writer, region, ordinal, run_id, place, &id);
    for (size_t space = 0; r == 0 && space < TRACE_SPACES; space++)
        if (space == TRACE_HEAP || !totals_are_empty(&region->totals[space]))
            r = write_totals(writer, id, space, &region->totals[space]);
    return r;
}
