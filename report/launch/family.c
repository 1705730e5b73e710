/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * family.c: each of the other processes is a benchmark of its own, so that a child is compared
 * with that child of another run and never with its parent. They are told apart by program and
 * by the order in which they started.
 */
#include "family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "make/cc1", or "make/cc1#2" when there is one before. NULL when there is no memory. */
static char *benchmark_name(const char *base, const struct family *family,
                            const char *program) {
    char *name = NULL;
    size_t before = 0;
    for (size_t i = 0; i < family->count; i++)
        before += strcmp(family->runs[i].profile.program, program) == 0;
    int length = before == 0 ? asprintf(&name, "%s/%s", base, program)
                             : asprintf(&name, "%s/%s#%zu", base, program, before + 1);
    return length < 0 ? NULL : name;
}

static int name_set(struct family *family, struct run *run, const char *base) {
    char *name = benchmark_name(base, family, run->profile.program);
    if (!name)
        return -ENOMEM;
    run->benchmark = arena_text(&run->profile.arena, name, strlen(name));
    free(name);
    return run->benchmark ? 0 : -ENOMEM;
}

static int run_take(struct family *family, struct run *run, const char *base,
                    const struct run *program) {
    int r = name_set(family, run, base);
    if (r < 0)
        return r;
    run->repeat = program->repeat;
    memcpy(run->set_uuid, program->set_uuid, sizeof(run->set_uuid));
    family->runs[family->count++] = *run;
    return 0;
}

static int leave_out(struct family *family, const char *path, const struct fault *fault) {
    if (family->left_out++ > 0)
        return 0;
    family->first_fault = *fault;
    family->first_path = strdup(path);
    return family->first_path ? 0 : -ENOMEM;
}

int family_read(const struct launch *launch, const struct importer_settings *settings,
                const struct run *program, struct family *ret_family) {
    const struct launch_other *others = launch->others.items;
    struct family family = {.runs = calloc(launch->others.count + 1, sizeof(*family.runs))};
    int r = family.runs ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < launch->others.count; i++) {
        struct fault fault = {0};
        struct run run;
        size_t changed;
        r = importer_read(others[i].path, settings, &run, &changed, &fault);
        if (r < 0) {
            r = r == -ENOMEM ? r : leave_out(&family, others[i].path, &fault);
            continue;
        }
        r = run_take(&family, &run, settings->name, program);
        if (r < 0)
            run_finish(&run);
    }
    if (r < 0) {
        family_finish(&family);
        return r;
    }
    *ret_family = family;
    return 0;
}

void family_finish(struct family *family) {
    for (size_t i = 0; i < family->count; i++)
        run_finish(&family->runs[i]);
    free(family->runs);
    free(family->first_path);
    *family = (struct family){0};
}
