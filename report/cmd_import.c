/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_import.c: votreport import. All traces go in, or none does. */
#include "storing.h"

#include "importer.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: votreport import --db STORE [OPTION...] TRACE...\n"
    "\n"
    "Store the traces that a preloaded libvotrace.so wrote. All of them or, when one\n"
    "is damaged, none. A trace whose process was killed is marked so and has its\n"
    "peaks so far.\n"
    "\n"
    "  --db STORE         the store (SQLite file); made when it is not there\n"
    "  --name NAME        name of the benchmark; otherwise the program's name\n"
    "  --param KEY=VALUE  a parameter of the benchmark; may be given several times\n"
    "  --commit COMMIT    what was measured; otherwise as git or CI's variables say\n"
    "  --branch BRANCH    of which branch it is; likewise\n"
    "  --regions LIST     store regions as runs of their own: a line of LIST is a\n"
    "                     region's name, a tab, and the name of the benchmark\n"
    "  --force            a process that still runs: store a snapshot of now\n"
    "  --help             this text\n"
    "\n"
    "Exit status: 0 stored, 2 not stored (nothing was changed).\n"
    "\n"
    "Example: votreport import --db a.db --name parse votrace.votdriver.4711.vtr\n";

struct options {
    struct storing storing;
    struct importer_settings settings;
    const char *regions; /* --regions, or NULL */
};

static int parse(int count, char **arguments, struct options *options) {
    enum { FORCE = STORING_OWN, REGIONS };
    static const struct option table[] = {
        STORING_OPTIONS,
        {"regions", required_argument, NULL, REGIONS},
        {"force", no_argument, NULL, FORCE},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case REGIONS:
            options->regions = optarg;
            break;
        case FORCE:
            options->settings.allow_running = true;
            break;
        default:
            status = storing_option(&cmd_import, option, arguments, &options->storing);
        }
    }
    if (status < 0)
        status = storing_check(&cmd_import, &options->storing);
    if (status >= 0)
        return status;
    if (optind == count)
        return command_usage(&cmd_import, "no trace is given");
    if (options->storing.name && options->regions)
        return command_usage(&cmd_import, "--regions has the names, --name is one too many");
    options->settings.name = options->storing.name;
    options->settings.params = options->storing.params.items;
    options->settings.param_count = options->storing.params.count;
    return -1;
}

static int store_all(const char *db, struct run *runs, size_t count) {
    struct fault fault = {0};
    struct store *store;
    struct run **pointers = calloc(count, sizeof(*pointers));
    if (!pointers) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    for (size_t i = 0; i < count; i++)
        pointers[i] = &runs[i];
    int status = EXIT_CODE_OK;
    if (store_open(db, STORE_WRITE, &store, &fault) < 0) {
        status = command_fault(db, &fault);
    } else {
        if (store_add(store, pointers, count, &fault) < 0)
            status = command_fault(db, &fault);
        store_close(store);
    }
    free(pointers);
    return status;
}

/* The regions of the list, instead of the runs that they are in. */
static int store_parts(const struct options *options, const struct run *runs, size_t count) {
    struct fault fault = {0};
    struct parts parts;
    struct vector split = VECTOR_OF(struct run);
    if (parts_read(options->regions, &parts, &fault) < 0)
        return command_fault(options->regions, &fault);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = parts_split(&parts, &runs[i], &split);
    struct run *all = split.items;
    int status = EXIT_CODE_TROUBLE;
    if (r < 0)
        complain("%s", strerror(-r));
    else if (split.count == 0)
        complain_at(options->regions, 0, "none of its regions is in these traces");
    else
        status = store_all(options->storing.db, all, split.count);
    for (size_t i = 0; i < split.count; i++)
        run_finish(&all[i]);
    vector_finish(&split);
    parts_finish(&parts);
    return status;
}

static int import(const struct options *options, char **traces, size_t count) {
    struct fault fault = {0};
    size_t done = 0;
    struct run *runs = calloc(count, sizeof(*runs));
    int status = EXIT_CODE_OK;
    if (!runs) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    if (store_probe(options->storing.db, &fault) < 0)
        status = command_fault(options->storing.db, &fault);
    for (; status == EXIT_CODE_OK && done < count; done++) {
        size_t changed;
        if (importer_read(traces[done], &options->settings, &runs[done], &changed, &fault) <
            0) {
            status = command_fault(traces[done], &fault);
            break;
        }
        if (changed > 0)
            complain_at(traces[done], 0,
                        "note: %zu of its files changed since the run, their functions have no "
                        "names",
                        changed);
        if (runs[done].profile.end == PROFILE_KILLED)
            complain_at(traces[done], 0,
                        "note: the program's end was not seen (killed); peaks are those so "
                        "far");
        command_note_gaps(traces[done], &runs[done].profile);
    }
    if (status == EXIT_CODE_OK)
        status = options->regions ? store_parts(options, runs, count)
                                  : store_all(options->storing.db, runs, count);
    for (size_t i = 0; i < done; i++)
        run_finish(&runs[i]);
    free(runs);
    return status;
}

static int run(int count, char **arguments) {
    struct options options = {0};
    struct revision revision = {0};
    storing_init(&options.storing);
    int status = parse(count, arguments, &options);
    if (status < 0 &&
        revision_find(options.storing.commit, options.storing.branch, &revision) < 0) {
        complain("out of memory");
        status = EXIT_CODE_TROUBLE;
    }
    options.settings.revision = &revision;
    if (status < 0)
        status = import(&options, arguments + optind, (size_t)(count - optind));
    revision_finish(&revision);
    storing_finish(&options.storing);
    return status;
}

const struct command cmd_import = {"import", "store traces that a program left", help, run};
