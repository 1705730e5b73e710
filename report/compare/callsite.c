/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callsite.c: which frame tells something, and when two frames are the same.
 *
 * Helpers are told by where they live (libraries of the system, headers of C++'s library, the
 * interpreter and its own extensions) and by their names (functions that hand memory through); what
 * interpreted code called counts only where its sources are known. The rule only chooses what is
 * shown and how sites are grouped; sums are the same under any rule.
 */
#include "callsite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *callsite_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *callsite_file(const struct profile *profile, const struct profile_frame *frame) {
    static const char *const everywhere[] = {"__init__.py", "__main__.py"};
    const char *name = callsite_basename(frame->file);
    if (!profile->modules[frame->module].is_code)
        return name;
    for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++) {
        if (strcmp(name, everywhere[i]) != 0 || name == frame->file)
            continue;
        const char *folder = name - 1;
        while (folder > frame->file && folder[-1] != '/')
            folder--;
        return folder;
    }
    return name;
}

const struct profile_frame *callsite_frame(const struct profile *profile, uint32_t node) {
    return &profile->frames[profile->nodes[node].frame];
}

/* "/usr/lib/x86_64-linux-gnu/libxml2.so.2" and the like; not a plugin in a folder below. */
static bool path_is_system_library(const char *path) {
    static const char *const folders[] = {"/usr/lib/", "/lib/", "/usr/lib64/", "/lib64/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0)
            continue;
        const char *rest = path + length;
        const char *slash = strchr(rest, '/');
        if (!slash)
            return true;
        const char *triplet = strstr(rest, "-linux-");
        return triplet && triplet < slash && strchr(slash + 1, '/') == NULL;
    }
    return false;
}

static bool ends_with(const char *text, size_t length, const char *end) {
    size_t end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* The name without what compilers append to clones: ".constprop.0", ".part.1", ".cold". */
static size_t plain_length(const char *function) {
    const char *dot = strchr(function, '.');
    return dot && dot > function ? (size_t)(dot - function) : strlen(function);
}

static bool function_hands_memory_through(const char *function) {
    static const char *const ends[] = {"alloc",  "alloc0",     "allocarray", "reallocn",
                                       "strdup", "strndup",    "memdup",     "asprintf",
                                       "_new0",  "alloc_array"};
    static const char *const starts[] = {
        "operator new", "std::",  "__gnu_cxx::", "_Znwm",        "_Znam",
        "_ZNSt",        "_ZNKSt", "_ZSt",        "_ZN9__gnu_cxx"};
    size_t length = plain_length(function);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_with(function, length, ends[i]))
            return true;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(function, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Containers and allocators of C++'s library, wherever they were inlined. */
static bool file_is_helper(const char *file) {
    static const char *const folders[] = {"/include/c++/", "/libstdc++-v3/",
                                          "/libcxx/include/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (strstr(file, folders[i]))
            return true;
    return false;
}

bool callsite_module_is_system(const struct profile *profile, uint32_t module) {
    const char *path = profile->modules[module].path;
    /* Python's own extensions are there: _json, _pickle, _ssl. */
    if (profile->modules[module].is_interpreter || strstr(path, "/lib-dynload/"))
        return true;
    if (strncmp(callsite_basename(path), "libvotrace", strlen("libvotrace")) == 0)
        return true;
    return path_is_system_library(path) && strcmp(path, profile->exe) != 0;
}

static bool frame_is_helper(const struct profile *profile, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(profile, node);
    if (profile->modules[frame->module].is_code)
        return false;
    return callsite_module_is_system(profile, frame->module) || file_is_helper(frame->file) ||
           function_hands_memory_through(frame->function);
}

bool callsite_is_in_system(const struct profile *profile, uint32_t node) {
    return callsite_module_is_system(profile, callsite_frame(profile, node)->module);
}

bool callsite_is_outermost(const struct profile *profile, uint32_t node) {
    const char *function = callsite_frame(profile, node)->function;
    static const char *const names[] = {"main", "_start", "start_thread", "__clone3",
                                        "__libc_start_main"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return profile->nodes[node].parent == 0;
}

/*
 * An extension of an interpreter without its sources' lines, as packages come, tells less than
 * who called it: interpreted code, or an extension that has them. @own where neither did.
 */
static uint32_t node_with_source(const struct profile *profile, uint32_t own) {
    uint32_t with_source = 0;
    if (callsite_frame(profile, own)->file[0] != '\0')
        return own;
    for (uint32_t node = own; node != 0; node = profile->nodes[node].parent) {
        const struct profile_frame *frame = callsite_frame(profile, node);
        bool is_code = profile->modules[frame->module].is_code;
        bool has_source = frame->file[0] != '\0' && !frame_is_helper(profile, node);
        if (with_source == 0 && (is_code || has_source))
            with_source = node;
        if (is_code)
            return with_source;
    }
    return own;
}

uint32_t callsite_telling_node(const struct profile *profile, uint32_t innermost) {
    for (uint32_t node = innermost; node != 0; node = profile->nodes[node].parent) {
        const char *function = callsite_frame(profile, node)->function;
        if (strcmp(function, "_start") == 0)
            break; /* what ran before main: the loader, constructors */
        if (!frame_is_helper(profile, node))
            return node_with_source(profile, node);
    }
    return innermost;
}

static int compare_lengths(const char *a, size_t a_length, const char *b, size_t b_length) {
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    if (order != 0)
        return order;
    return a_length < b_length ? -1 : a_length > b_length;
}

static bool module_is_same_build(const struct profile_module *a,
                                 const struct profile_module *b) {
    return strcmp(a->build_id, b->build_id) == 0 &&
           (a->build_id[0] != '\0' || strcmp(a->path, b->path) == 0);
}

int callsite_vague_modules(const struct profile *profile, const struct profile *peer,
                           bool **ret_vague) {
    bool *vague = calloc(profile->module_count, sizeof(*vague));
    if (!vague)
        return -ENOMEM;
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        bool has_build = false;
        bool has_name = false;
        for (size_t j = 0; j < peer->module_count; j++) {
            has_build |= module_is_same_build(module, &peer->modules[j]);
            has_name |= strcmp(callsite_basename(module->path),
                               callsite_basename(peer->modules[j].path)) == 0;
        }
        vague[i] = module->path[0] == '\0' || (has_name && !has_build);
    }
    *ret_vague = vague;
    return 0;
}

bool callsite_is_vague(const struct callsite *site, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(site->profile, node);
    return frame->function[0] == '\0' && site->vague && site->vague[frame->module];
}

int callsite_compare_nameless(const struct callsite *a_site, uint32_t a_node,
                              const struct callsite *b_site, uint32_t b_node) {
    const struct profile_frame *a = callsite_frame(a_site->profile, a_node);
    const struct profile_frame *b = callsite_frame(b_site->profile, b_node);
    const struct profile_module *a_module = &a_site->profile->modules[a->module];
    const struct profile_module *b_module = &b_site->profile->modules[b->module];
    int order = strcmp(callsite_basename(a_module->path), callsite_basename(b_module->path));
    if (order != 0)
        return order;
    bool a_vague = callsite_is_vague(a_site, a_node);
    bool b_vague = callsite_is_vague(b_site, b_node);
    if (a_vague || b_vague)
        return a_vague - b_vague;
    order = strcmp(a_module->build_id, b_module->build_id);
    if (order == 0 && a_module->build_id[0] == '\0')
        order = strcmp(a_module->path, b_module->path);
    return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static bool is_code(const struct callsite *site, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(site->profile, node);
    return site->profile->modules[frame->module].is_code;
}

/* Dots in names of interpreted code are its own: "Table.parse". */
static size_t name_length(const struct callsite *site, uint32_t node) {
    const char *function = callsite_frame(site->profile, node)->function;
    return is_code(site, node) ? strlen(function) : plain_length(function);
}

/* Function and file; where there is no function, the place in the module. */
static int frame_compare(const struct callsite *a_site, uint32_t a_node,
                         const struct callsite *b_site, uint32_t b_node) {
    const struct profile_frame *a = callsite_frame(a_site->profile, a_node);
    const struct profile_frame *b = callsite_frame(b_site->profile, b_node);
    if (a == b)
        return 0;
    int order = compare_lengths(a->function, name_length(a_site, a_node), b->function,
                                name_length(b_site, b_node));
    if (order == 0)
        order = strcmp(callsite_file(a_site->profile, a), callsite_file(b_site->profile, b));
    if (order == 0 && a->function[0] == '\0')
        order = callsite_compare_nameless(a_site, a_node, b_site, b_node);
    return order;
}

/* How an interpreter comes from one function of its program to the next tells nothing. */
static bool is_between_code(const struct callsite *site, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(site->profile, node);
    return site->profile->modules[frame->module].is_interpreter && is_code(site, site->node);
}

uint32_t callsite_caller(const struct callsite *site, uint32_t node) {
    uint32_t caller = site->profile->nodes[node].parent;
    while (caller != 0 &&
           (frame_compare(site, node, site, caller) == 0 || is_between_code(site, caller)))
        caller = site->profile->nodes[caller].parent;
    return caller;
}

int callsite_compare(const struct callsite *a, const struct callsite *b) {
    uint32_t a_node = a->node;
    uint32_t b_node = b->node;
    while (a_node != 0 && b_node != 0) {
        if (a_node == b_node && a->profile == b->profile)
            return 0;
        int order = frame_compare(a, a_node, b, b_node);
        if (order != 0)
            return order;
        a_node = callsite_caller(a, a_node);
        b_node = callsite_caller(b, b_node);
    }
    if (a_node != b_node)
        return a_node == 0 ? -1 : b_node == 0 ? 1 : 0;
    return (a->flags > b->flags) - (a->flags < b->flags);
}

int callsite_compare_telling(const struct callsite *a, const struct callsite *b) {
    if (a->node == 0 || b->node == 0)
        return callsite_compare(a, b);
    return frame_compare(a, a->node, b, b->node);
}

static const char *telling_function(const struct callsite *site) {
    return site->node != 0 ? callsite_frame(site->profile, site->node)->function : "";
}

int callsite_compare_function(const struct callsite *a, const struct callsite *b) {
    const char *left = telling_function(a);
    const char *right = telling_function(b);
    size_t left_length = a->node != 0 ? name_length(a, a->node) : 0;
    size_t right_length = b->node != 0 ? name_length(b, b->node) : 0;
    return compare_lengths(left, left_length, right, right_length);
}

static int compare_items(const void *a, const void *b) {
    return callsite_compare(a, b);
}

static void pair_add(struct profile_pair *sum, const struct profile_pair *value) {
    sum->blocks += value->blocks;
    sum->bytes += value->bytes;
}

static struct callsite callsite_of_row(const struct profile *profile, const bool *vague,
                                       const struct profile_row *row) {
    const struct profile_site *site = &profile->sites[row->site];
    int64_t added = row->peak.bytes - row->start.bytes;
    return (struct callsite){
        .profile = profile,
        .vague = vague,
        .node = callsite_telling_node(profile, site->node),
        .innermost = site->node,
        .flags = site->node == 0 ? site->flags & (TRACE_SITE_NO_STACK | TRACE_SITE_OTHER) : 0,
        .site_count = 1,
        .largest_bytes = added < 0 ? -added : added,
        .allocated = row->allocated,
        .start = row->start,
        .peak = row->peak,
        .end = row->end,
    };
}

static void callsite_merge(struct callsite *into, const struct callsite *from) {
    pair_add(&into->allocated, &from->allocated);
    pair_add(&into->start, &from->start);
    pair_add(&into->peak, &from->peak);
    pair_add(&into->end, &from->end);
    into->site_count += from->site_count;
    if (from->largest_bytes <= into->largest_bytes)
        return;
    into->largest_bytes = from->largest_bytes;
    into->node = from->node;
    into->innermost = from->innermost;
}

int callsite_collect(const struct profile *profile, const struct profile_region *region,
                     enum trace_space space, struct callsite_list *ret_list) {
    return callsite_collect_comparable(profile, NULL, region, space, ret_list);
}

int callsite_collect_comparable(const struct profile *profile, const bool *vague,
                                const struct profile_region *region, enum trace_space space,
                                struct callsite_list *ret_list) {
    size_t count = 0;
    struct callsite *items = calloc(region->rows_count + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < region->rows_count; i++)
        if (profile->sites[region->rows[i].site].space == space)
            items[count++] = callsite_of_row(profile, vague, &region->rows[i]);
    qsort(items, count, sizeof(*items), compare_items);

    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && callsite_compare(&items[kept - 1], &items[i]) == 0)
            callsite_merge(&items[kept - 1], &items[i]);
        else
            items[kept++] = items[i];
    }
    *ret_list = (struct callsite_list){items, kept};
    return 0;
}
