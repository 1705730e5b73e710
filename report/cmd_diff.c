/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_diff.c: votreport diff. */
#include "command.h"

#include "comparison.h"
#include "render.h"

#include <string.h>

static const char help[] =
    "usage: votreport diff [OPTION...] BEFORE AFTER\n"
    "\n"
    "Compare the newest run of every benchmark in two stores by the bytes that its regions\n"
    "added at their peak, and name the call sites that made the difference. Benchmarks are\n"
    "matched by name, parameters and region; call sites by function and file along the stack.\n"
    "\n"
    "Marks: + worse, - better, ~ the same to the byte. Of several instances of a region the\n"
    "worst counts, of several repeats the median. A line below says where anonymous\n"
    "mappings changed.\n"
    "\n"
    "  --name NAME   only this benchmark, with all its parameters\n"
    "  --all         compare `process`, too, where regions are marked\n"
    "  --sites N     call sites to list for each benchmark (10)\n"
    "  --json        for scripts: exact numbers, every field, whole stacks\n"
    "  --bytes       exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN  auto, always or never\n"
    "  --help        this text\n"
    "\n"
    "Exit status: 0 compared, whatever the outcome (see votreport gate); 2 not compared.\n"
    "\n"
    "Example: votreport diff main.db branch.db\n";

struct options {
    struct command_output output;
    struct comparison_settings settings;
    size_t sites_max;
};

static int parse(int count, char **arguments, struct options *options) {
    enum { SITES = COMMAND_OWN };
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        COMPARISON_OPTIONS,
        {"sites", required_argument, NULL, SITES},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case SITES:
            if (!command_count_parse(&cmd_diff, "--sites", optarg, 1000000,
                                     &options->sites_max))
                status = EXIT_CODE_TROUBLE;
            break;
        default:
            if (!comparison_option(&options->settings, option, optarg))
                status = command_common_option(&cmd_diff, option, arguments, &options->output);
        }
    }
    if (status >= 0)
        return status;
    if (count - optind != 2)
        return command_usage(&cmd_diff, "it takes two stores: BEFORE and AFTER");
    return -1;
}

static int diff(const struct options *options, char **stores) {
    struct fault fault = {0};
    struct comparison comparison;
    const char *path;
    if (comparison_load(stores[0], stores[1], &options->settings, &comparison, &path, &fault) <
        0)
        return command_fault(path, &fault);
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    int r = options->output.json
                ? render_diff_json(stdout, &comparison.diff, options->sites_max)
                : render_diff_text(&term, &comparison.diff, options->sites_max);
    comparison_finish(&comparison);
    if (r < 0)
        complain("%s", strerror(-r));
    return command_flush(r < 0 ? EXIT_CODE_TROUBLE : EXIT_CODE_OK);
}

static int run(int count, char **arguments) {
    struct options options = {.sites_max = 10};
    int status = parse(count, arguments, &options);
    return status < 0 ? diff(&options, arguments + optind) : status;
}

const struct command cmd_diff = {"diff", "compare two stores, and say where it comes from",
                                 help, run};
