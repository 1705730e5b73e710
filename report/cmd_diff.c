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
    "added at their peak, and show the tree of calls that made the difference. BEFORE and\n"
    "AFTER are stores, or parts of one: STORE@RUN, STORE@COMMIT, STORE@BENCHMARK. Benchmarks\n"
    "are matched by name, parameters and region; calls by function, so that moved lines and\n"
    "renamed files are no difference.\n"
    "\n"
    "Marks: + worse, - better, ~ the same to the byte, or within the noise of repeats that\n"
    "vary, ? too few repeats to tell. Of several instances of a region the worst counts, of\n"
    "several repeats the median. A line below says where anonymous mappings changed.\n"
    "\n"
    "  --metric METRIC   peak_added (the default), live_end, total, count, peak_map, "
    "combined,\n"
    "                    rss or time\n"
    "  --by WHAT         merge the tree by function (the default), file, module or line\n"
    "  --max-frames N    lines of the tree for each benchmark (20)\n"
    "  --sites N         list N call sites instead of the tree\n"
    "  --name NAME       only this benchmark, with all its parameters\n"
    "  --all             compare `process`, too, where regions are marked\n"
    "  --json            for scripts: exact numbers, every field, whole stacks\n"
    "  --bytes           exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN      auto, always or never\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 compared, whatever the outcome (see votreport gate); 2 not compared.\n"
    "\n"
    "Example: votreport diff main.db branch.db\n";

struct options {
    struct command_output output;
    struct comparison_settings settings;
    struct render_diff render;
};

static int parse_metric(const char *text, struct options *options) {
    if (metric_parse(text, &options->settings.metric) < 0)
        return command_usage(&cmd_diff, "--metric takes %s, not '%s'", metric_names(), text);
    return -1;
}

static int parse_by(const char *text, struct options *options) {
    static const char *const words[] = {
        [CALLTREE_BY_FUNCTION] = "function",
        [CALLTREE_BY_FILE] = "file",
        [CALLTREE_BY_MODULE] = "module",
        [CALLTREE_BY_LINE] = "line",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            options->settings.by = (enum calltree_by)i;
            options->render.by = options->settings.by;
            return -1;
        }
    }
    return command_usage(&cmd_diff, "--by takes function, file, module or line, not '%s'",
                         text);
}

static int parse(int count, char **arguments, struct options *options) {
    enum { SITES = COMMAND_OWN, METRIC, BY, FRAMES };
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        COMPARISON_OPTIONS,
        {"sites", required_argument, NULL, SITES},
        {"metric", required_argument, NULL, METRIC},
        {"by", required_argument, NULL, BY},
        {"max-frames", required_argument, NULL, FRAMES},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case SITES:
            if (!command_count_parse(&cmd_diff, "--sites", optarg, 1000000,
                                     &options->render.sites_max))
                status = EXIT_CODE_TROUBLE;
            break;
        case FRAMES:
            if (!command_count_parse(&cmd_diff, "--max-frames", optarg, 1000000,
                                     &options->render.frames_max))
                status = EXIT_CODE_TROUBLE;
            break;
        case METRIC:
            status = parse_metric(optarg, options);
            break;
        case BY:
            status = parse_by(optarg, options);
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
    int r = options->output.json ? render_diff_json(stdout, &comparison.diff, &options->render)
                                 : render_diff_text(&term, &comparison.diff, &options->render);
    comparison_finish(&comparison);
    if (r < 0)
        complain("%s", strerror(-r));
    return command_flush(r < 0 ? EXIT_CODE_TROUBLE : EXIT_CODE_OK);
}

static int run(int count, char **arguments) {
    struct options options = {.render = {.frames_max = 20}};
    int status = parse(count, arguments, &options);
    return status < 0 ? diff(&options, arguments + optind) : status;
}

const struct command cmd_diff = {"diff", "compare two stores, and say where it comes from",
                                 help, run};
