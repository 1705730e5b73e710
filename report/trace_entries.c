/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_entries.c: the entries of a trace's tables, one by one. What they say of each other has
 * to be possible; whether the numbers add up is profile.c's question.
 */
#include "trace_entries.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int entry_fault(struct fault *fault, const char *what, uint64_t id) {
    return fault_set(fault, -EBADMSG, "trace damaged: %s %" PRIu64 " cannot be", what, id);
}

static int nodes_check(const struct trace *trace, struct fault *fault) {
    const struct trace_node *nodes = trace->nodes;
    if (nodes[0].parent != 0 || nodes[0].depth != 0)
        return entry_fault(fault, "stack node", 0);
    for (uint32_t i = 1; i < trace->header->node_count; i++)
        if (nodes[i].parent >= i || nodes[i].depth != nodes[nodes[i].parent].depth + 1)
            return entry_fault(fault, "stack node", i);
    return 0;
}

static int sites_check(const struct trace *trace, struct fault *fault) {
    for (uint32_t i = 0; i < trace->header->site_count; i++) {
        const struct trace_site *site = &trace->sites[i];
        if (site->node >= trace->header->node_count || site->space >= TRACE_SPACES ||
            site->flags > (TRACE_SITE_NO_STACK | TRACE_SITE_OTHER | TRACE_SITE_TRUNCATED))
            return entry_fault(fault, "call site", i);
    }
    return 0;
}

static int regions_check(const struct trace *trace, struct fault *fault) {
    for (uint32_t i = 0; i < trace->header->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        bool place_ok = i == 0 ? region->parent == 0 && region->open == 1 && region->flags == 0
                               : region->parent < i;
        bool scope_ok = !(region->flags & TRACE_REGION_THREAD) || region->begin_thread != 0;
        if (!place_ok || !scope_ok || region->open > 1 ||
            region->flags > (TRACE_REGION_NO_ROWS | TRACE_REGION_THREAD) ||
            region->instance == 0 || memchr(region->name, '\0', sizeof(region->name)) == NULL)
            return entry_fault(fault, "region", i);
    }
    return 0;
}

/* Without its lane's record nobody can say whether rows were caught inside an event. */
static int lanes_check(const struct trace *trace, struct fault *fault) {
    for (size_t i = 0; !trace->truncated && i < trace->rows_count; i++) {
        uint32_t lane = trace->rows[i].lane;
        if (lane > 0 && !trace->lanes[lane])
            return fault_set(fault, -EBADMSG,
                             "trace damaged: rows of lane %" PRIu32 ", which has no record",
                             lane);
    }
    return 0;
}

/* Only a forked child has a parent, and that is another. */
static int parent_check(const struct trace *trace, struct fault *fault) {
    static const uint8_t none[TRACE_UUID_BYTES];
    const struct trace_header *header = trace->header;
    bool forked = (header->flags & TRACE_FORKED) != 0;
    bool named = memcmp(header->parent_uuid, none, sizeof(none)) != 0;
    if ((!forked && (named || trace->parent.data)) ||
        (named && memcmp(header->uuid, header->parent_uuid, TRACE_UUID_BYTES) == 0))
        return fault_set(fault, -EBADMSG, "trace damaged: a parent that cannot be");
    return 0;
}

int trace_entries_check(const struct trace *trace, struct fault *fault) {
    static int (*const checks[])(const struct trace *, struct fault *) = {
        nodes_check, sites_check, regions_check, lanes_check, parent_check,
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(checks) / sizeof(checks[0]); i++)
        r = checks[i](trace, fault);
    return r;
}
