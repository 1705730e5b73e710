/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_advice.c: how a run could have told more.
 *
 * CPython takes arenas from the kernel and puts its small objects into them: what is counted then
 * is arenas, as anonymous mappings. A mapping may be one when its site is an arena's function, or
 * cannot be told: it was made before stacks were taken, or strip took the name.
 */
#include "render.h"

#include <string.h>

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_python(const char *path) {
    const char *name = last_part(path);
    return strncmp(name, "libpython3", 10) == 0 || strncmp(name, "python3", 7) == 0;
}

static bool runs_python(const struct profile *profile) {
    for (size_t i = 0; i < profile->module_count; i++)
        if (is_python(profile->modules[i].path))
            return true;
    return is_python(profile->exe);
}

static bool may_be_arena(const struct profile *profile, const struct profile_site *site) {
    if (site->space != TRACE_MAP_ANON)
        return false;
    if (site->node == 0)
        return true;
    const struct profile_frame *frame = &profile->frames[profile->nodes[site->node].frame];
    const char *function = frame->function;
    if (function[0] == '\0')
        return is_python(profile->modules[frame->module].path);
    return strncmp(function, "_PyMem_Arena", 12) == 0 ||
           strncmp(function, "_PyObject_Arena", 15) == 0;
}

static int64_t arena_bytes(const struct profile *profile, const struct profile_region *region) {
    int64_t bytes = 0;
    for (size_t i = 0; i < region->rows_count; i++)
        if (may_be_arena(profile, &profile->sites[region->rows[i].site]))
            bytes += region->rows[i].peak.bytes;
    return bytes;
}

void render_advice(const struct term *term, const struct run *run) {
    const struct profile *profile = &run->profile;
    const struct profile_region *process = &profile->regions[0];
    int64_t mapped = process->totals[TRACE_MAP_ANON].peak_bytes;
    if (mapped <= process->totals[TRACE_HEAP].peak_bytes ||
        strstr(run->origin.environment, "\"PYTHONMALLOC\":\"malloc") || !runs_python(profile) ||
        arena_bytes(profile, process) <= mapped / 2)
        return;
    fprintf(
        term->stream,
        "\n%snote:%s most of its memory is Python's arenas, which hide the objects in them: "
        "votreport run --python shows each\n",
        term_on(term, TERM_BOLD), term_off(term, TERM_BOLD));
}
