/* SPDX-License-Identifier: BSD-3-Clause */
/* one_run.c: choose, open, find, load, close. */
#include "one_run.h"

#include "selection.h"
#include "store.h"

#include <string.h>

int one_run_option(const struct command *command, int option, char *const *arguments,
                   struct one_run_choice *choice, struct command_output *output) {
    switch (option) {
    case ONE_RUN_ID:
        return command_count(command, "--run", optarg, INT64_MAX, &choice->id);
    case ONE_RUN_NAME:
        choice->name = optarg;
        return -1;
    case ONE_RUN_REGION:
        choice->region = optarg;
        return -1;
    case ONE_RUN_NATIVE:
        choice->native = true;
        return -1;
    default:
        return command_common_option(command, option, arguments, output);
    }
}

int one_run_load(const char *where, const struct one_run_choice *choice, struct run *ret_run,
                 struct fault *fault) {
    struct store *store;
    const char *what;
    int64_t found = (int64_t)choice->id;
    int r = selection_open(where, &store, &what, fault);
    if (r < 0)
        return r;
    if (found == 0)
        r = selection_find(store, what, choice->name, &found, fault);
    if (r == 0)
        r = store_load(store, found, ret_run, fault);
    if (r == 0 && choice->native)
        profile_unfold_interpreters(&ret_run->profile);
    store_close(store);
    return r;
}

static int64_t added_bytes(const struct profile_region *region) {
    return profile_peak_added(&region->totals[TRACE_HEAP]);
}

const struct profile_region *one_run_region(const struct run *run, const char *name) {
    const struct profile *profile = &run->profile;
    const struct profile_region *best = NULL;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        bool counts = name ? strcmp(region->name, name) == 0 : i > 0;
        if (counts && (!best || added_bytes(region) > added_bytes(best)))
            best = region;
    }
    return best || name ? best : &profile->regions[0];
}
