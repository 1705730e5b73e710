/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_entries.c: the entries of a trace's tables, one by one. What they say of each other has
 * to be possible; whether the numbers add up is profile.c's question.
 */
#include "trace_entries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int entry_fault(struct fault *fault, const char *what, uint64_t id) {
    return fault_set(fault, -EBADMSG, "trace damaged: %s %" PRIu64 " cannot be", what, id);
}

/* A function is noted before the first frame of it; in a file that was cut off it may be gone. */
static bool code_is_there(const struct trace *trace, uint64_t address) {
    uint64_t id = (address & ~TRACE_CODE_FRAME) >> TRACE_CODE_LINE_BITS;
    return (address & TRACE_CODE_FRAME) == 0 || id <= trace->code_count || trace->truncated;
}

static int nodes_check(const struct trace *trace, struct fault *fault) {
    const struct trace_node *nodes = trace->nodes;
    if (nodes[0].parent != 0 || nodes[0].depth != 0 || nodes[0].address != 0)
        return entry_fault(fault, "stack node", 0);
    for (uint32_t i = 1; i < trace->header->node_count; i++)
        if (nodes[i].parent >= i || nodes[i].depth != nodes[nodes[i].parent].depth + 1 ||
            nodes[i].depth > trace->header->depth_limit ||
            !code_is_there(trace, nodes[i].address))
            return entry_fault(fault, "stack node", i);
    return 0;
}

/* One for each space without a stack, then one for each where the table was full. */
static bool fixed_site_holds(const struct trace_site *site, uint32_t id) {
    uint16_t flags = id < TRACE_SPACES ? TRACE_SITE_NO_STACK : TRACE_SITE_OTHER;
    return site->node == 0 && site->space == id % TRACE_SPACES && site->flags == flags;
}

/* @taken has a bit for each space of each node: a stack is one site in a space. */
static bool site_holds(const struct trace *trace, uint32_t id, unsigned char *taken) {
    const struct trace_site *site = &trace->sites[id];
    if (site->node >= trace->header->node_count || site->space >= TRACE_SPACES)
        return false;
    if (id < TRACE_FIXED_SITES)
        return fixed_site_holds(site, id);
    unsigned bit = 1u << site->space;
    if (site->node == 0 || site->flags > TRACE_SITE_TRUNCATED ||
        (site->flags & ~TRACE_SITE_TRUNCATED) != 0 || (taken[site->node] & bit) != 0)
        return false;
    taken[site->node] |= (unsigned char)bit;
    return true;
}

static int sites_check(const struct trace *trace, struct fault *fault) {
    _Static_assert(TRACE_SPACES <= 8, "a bit for each space");
    unsigned char *taken = calloc(trace->header->node_count, 1);
    int r = taken ? 0 : fault_set(fault, -ENOMEM, "out of memory");
    for (uint32_t i = 0; r == 0 && i < trace->header->site_count; i++)
        if (!site_holds(trace, i, taken))
            r = entry_fault(fault, "call site", i);
    free(taken);
    return r;
}

static int regions_check(const struct trace *trace, struct fault *fault) {
    for (uint32_t i = 0; i < trace->header->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        bool process_ok = region->parent == 0 && region->open == 1 && region->flags == 0 &&
                          strncmp(region->name, "process", sizeof(region->name)) == 0;
        bool place_ok = i == 0 ? process_ok : region->parent < i;
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

/* A forked child has a parent, which is another, and only a forked child has one. */
static int parent_check(const struct trace *trace, struct fault *fault) {
    static const uint8_t none[TRACE_UUID_BYTES];
    const struct trace_header *header = trace->header;
    bool forked = (header->flags & TRACE_FORKED) != 0;
    bool named = memcmp(header->parent_uuid, none, sizeof(none)) != 0;
    if (forked != named || (!forked && trace->parent.data) ||
        (forked && memcmp(header->uuid, header->parent_uuid, TRACE_UUID_BYTES) == 0))
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
