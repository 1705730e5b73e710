/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_show.c: votreport show. */
#include "command.h"

#include "one_run.h"
#include "render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: votreport show [OPTION...] STORE\n"
    "\n"
    "Show one run: its regions, and who held the memory at the peak. A call site is\n"
    "named by the innermost function that is the program's own; behind `<` stand its\n"
    "callers.\n"
    "\n"
    "  --run ID       this run (see votreport list); otherwise the newest\n"
    "  --name NAME    the newest run of this benchmark\n"
    "  --region NAME  all instances of this region, and the call sites of the worst\n"
    "                 one; otherwise the worst instance of every region\n"
    "  --sites N      call sites to list; otherwise up to 15 that hold a thousandth\n"
    "                 or more. --json has all of them always\n"
    "  --tree         a tree of calls instead of the list of call sites; --sites N:\n"
    "                 its lines\n"
    "  --native       the interpreter's frames between Python's functions, too\n"
    "  --sizes        a histogram of the sizes of its allocations\n"
    "  --timeline     its live heap over time, as a table\n"
    "  --json         for scripts: exact numbers, every field, whole stacks\n"
    "  --bytes        exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN   auto, always or never\n"
    "  --help         this text\n"
    "\n"
    "Exit status: 0 shown, 2 there is nothing to show.\n"
    "\n"
    "Example: votreport show a.db --run 3 --region parse\n";

struct options {
    struct command_output output;
    struct one_run_choice chosen;
    struct render_show show;
};

static int parse(int count, char **arguments, struct options *options) {
    enum { SITES = ONE_RUN_OWN, TREE, SIZES, TIMELINE };
    static const struct option table[] = {
        ONE_RUN_OPTIONS,
        {"sites", required_argument, NULL, SITES},
        {"tree", no_argument, NULL, TREE},
        {"sizes", no_argument, NULL, SIZES},
        {"timeline", no_argument, NULL, TIMELINE},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case SITES:
            status =
                command_count(&cmd_show, "--sites", optarg, 1000000, &options->show.sites_max);
            break;
        case TREE:
            options->show.tree = true;
            break;
        case SIZES:
            options->show.sizes = true;
            break;
        case TIMELINE:
            options->show.timeline = true;
            break;
        default:
            status = one_run_option(&cmd_show, option, arguments, &options->chosen,
                                    &options->output);
        }
    }
    options->show.region = options->chosen.region;
    if (status >= 0)
        return status;
    if (count - optind != 1)
        return command_usage(&cmd_show, "it takes one store");
    return -1;
}

static bool has_region(const struct run *run, const char *name) {
    for (size_t i = 0; i < run->profile.region_count; i++)
        if (strcmp(run->profile.regions[i].name, name) == 0)
            return true;
    return false;
}

static int show(const char *path, const struct options *options) {
    struct fault fault = {0};
    struct run run;
    if (one_run_load(path, &options->chosen, &run, &fault) < 0)
        return command_fault(path, &fault);
    int status = EXIT_CODE_OK;
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    if (options->show.region && !has_region(&run, options->show.region)) {
        complain_at(path, 0, "run %lld has no region '%s'", (long long)run.id,
                    options->show.region);
        status = EXIT_CODE_TROUBLE;
    } else {
        int r = options->output.json ? render_show_json(stdout, &run, &options->show)
                                     : render_show_text(&term, &run, &options->show);
        if (r < 0) {
            complain("%s", strerror(-r));
            status = EXIT_CODE_TROUBLE;
        }
    }
    run_finish(&run);
    return command_flush(status);
}

static int run(int count, char **arguments) {
    struct options options = {0};
    int status = parse(count, arguments, &options);
    return status < 0 ? show(arguments[optind], &options) : status;
}

const struct command cmd_show = {"show", "show one run: regions and call sites", help, run};
