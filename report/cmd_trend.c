/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_trend.c: votreport trend. */
#include "command.h"

#include "render_trend.h"
#include "store_trend.h"

#include <errno.h>
#include <string.h>

static const char help[] =
    "usage: votreport trend [OPTION...] STORE NAME\n"
    "\n"
    "One number of the benchmark NAME over the commits in a store: a line that shows\n"
    "its shape, the first commit of each step, and the newest commits. Commits are in\n"
    "the order of their times. Any byte is a step, unless runs of one commit differ:\n"
    "then steps are those that are more than noise, 1 of 100. Runs that failed or\n"
    "missed something are left out.\n"
    "\n"
    "  --metric METRIC  peak_added (the default), live_end, total, count, peak_map,\n"
    "                   combined, rss or time\n"
    "  --region NAME    this region; otherwise the newest run's most telling\n"
    "  --branch NAME    only runs of this branch\n"
    "  --last N         the newest commits to list, and the newest steps (20)\n"
    "  --csv            for spreadsheets: every commit\n"
    "  --json           for scripts: every commit, exact numbers\n"
    "  --bytes          exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN     auto, always or never\n"
    "  --help           this text\n"
    "\n"
    "Exit status: 0 shown, 2 there is nothing to show.\n"
    "\n"
    "Example: votreport trend a.db votable.parse\n";

struct options {
    struct command_output output;
    struct render_trend render;
    const char *branch;
    bool csv;
};

static int parse(int count, char **arguments, struct options *options) {
    enum { METRIC = COMMAND_OWN, REGION, BRANCH, LAST, CSV };
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        {"metric", required_argument, NULL, METRIC},
        {"region", required_argument, NULL, REGION},
        {"branch", required_argument, NULL, BRANCH},
        {"last", required_argument, NULL, LAST},
        {"csv", no_argument, NULL, CSV},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case METRIC:
            if (metric_parse(optarg, &options->render.metric) < 0)
                status = command_usage(&cmd_trend, "--metric takes %s, not '%s'",
                                       metric_names(), optarg);
            break;
        case REGION:
            options->render.region = optarg;
            break;
        case BRANCH:
            options->branch = optarg;
            break;
        case LAST:
            status =
                command_count(&cmd_trend, "--last", optarg, 1000000, &options->render.last);
            break;
        case CSV:
            options->csv = true;
            break;
        default:
            status = command_common_option(&cmd_trend, option, arguments, &options->output);
        }
    }
    if (status >= 0)
        return status;
    if (count - optind != 2)
        return command_usage(&cmd_trend, "it takes a store and the name of a benchmark");
    return -1;
}

static int points_load(const char *path, struct options *options, struct arena *arena,
                       struct store_trend_point **ret_points, size_t *ret_count,
                       struct fault *fault) {
    struct render_trend *render = &options->render;
    const char *wanted = render->region;
    const char *headline = NULL;
    struct store *store;
    int r = store_open(path, STORE_READ, &store, fault);
    if (r < 0)
        return r;
    r = store_trend_region(store, render->benchmark, arena, &headline, fault);
    if (r == 0) {
        if (!wanted)
            wanted = metric_facts[render->metric].of_process ? "process" : headline;
        render->region = wanted;
        r = store_trend(store, render->benchmark, wanted, options->branch,
                        trend_value(render->metric), arena, ret_points, ret_count, fault);
    }
    store_close(store);
    if (r == 0 && *ret_count == 0)
        r = fault_set(fault, -ENODATA, "no run of '%s'%s%s has a region '%s'",
                      render->benchmark, options->branch ? " of the branch " : "",
                      options->branch ? options->branch : "", wanted);
    return r;
}

static int show(const struct options *options, const struct trend *trends, size_t count) {
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    if (options->output.json)
        return render_trend_json(stdout, trends, count, &options->render);
    if (options->csv)
        return render_trend_csv(stdout, trends, count, &options->render);
    return render_trend_text(&term, trends, count, &options->render);
}

static int run(int count, char **arguments) {
    struct options options = {.render = {.last = 20}};
    struct arena arena = {0};
    struct fault fault = {0};
    struct store_trend_point *points = NULL;
    struct trend *trends = NULL;
    size_t point_count = 0;
    size_t trend_count = 0;
    int status = parse(count, arguments, &options);
    if (status >= 0)
        return status;
    const char *path = arguments[optind];
    options.render.benchmark = arguments[optind + 1];
    int r = points_load(path, &options, &arena, &points, &point_count, &fault);
    status = r < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
    if (r == 0) {
        r = trend_make(points, point_count, options.render.metric, &arena, &trends,
                       &trend_count);
        if (r == 0)
            r = show(&options, trends, trend_count);
        if (r < 0) {
            complain("%s", strerror(-r));
            status = EXIT_CODE_TROUBLE;
        }
    }
    arena_finish(&arena);
    return command_flush(status);
}

const struct command cmd_trend = {"trend", "a number over commits, and where it changed", help,
                                  run};
