/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_top.c: votreport top. */
#include "command.h"

#include "export.h"
#include "one_run.h"
#include "render.h"
#include "render_calls.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: votreport top [OPTION...] STORE\n"
    "\n"
    "Who holds most in one region of a run: for every function what it allocated\n"
    "itself, and what it and all that it called did; a recursion counts once. What\n"
    "libraries of the system did for a function is the function's own.\n"
    "\n"
    "  --run ID       this run (see votreport list); otherwise the newest\n"
    "  --name NAME    the newest run of this benchmark\n"
    "  --region NAME  the worst instance of this region; otherwise of the one that\n"
    "                 added most\n"
    "  --by WHAT      function, file, module or line (function)\n"
    "  --metric NAME  peak_added (heap added at the peak), live_end, total (bytes\n"
    "                 allocated), count (allocations) or peak_map (anonymous\n"
    "                 mappings) (peak_added)\n"
    "  --callees      the largest with all that they called first\n"
    "  --tree         a tree of calls instead of a list\n"
    "  --all-frames   what the libraries did, too\n"
    "  --native       the interpreter's frames between Python's functions, too\n"
    "  --lines N      lines to print (20)\n"
    "  --json         for scripts: exact numbers, every entry\n"
    "  --bytes        exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN   auto, always or never\n"
    "  --help         this text\n"
    "\n"
    "Exit status: 0 shown, 2 there is nothing to show.\n"
    "\n"
    "Example: votreport top a.db --region parse --by module\n";

struct options {
    struct command_output output;
    struct one_run_choice chosen;
    bool by_callees;
    bool as_tree;
    bool all_frames;
    size_t lines_max;
    enum metric metric;
    struct calltree_settings tree;
};

enum { BY = ONE_RUN_OWN, METRIC, CALLEES, TREE, ALL_FRAMES, LINES };

/* -1 when the command goes on, else the exit status. */
static int take_words(int option, struct options *options) {
    if (option == BY && export_by_parse(optarg, &options->tree.by) < 0)
        return command_usage(&cmd_top, "--by takes function, file, module or line, not '%s'",
                             optarg);
    if (option != METRIC)
        return -1;
    if (metric_parse(optarg, &options->metric) < 0 || !metric_facts[options->metric].has_tree)
        return command_usage(
            &cmd_top, "--metric takes peak_added, live_end, total, count or peak_map, not '%s'",
            optarg);
    options->tree.space = metric_facts[options->metric].space;
    return -1;
}

static int take(int option, char **arguments, struct options *options) {
    switch (option) {
    case LINES:
        return command_count(&cmd_top, "--lines", optarg, 1000000, &options->lines_max);
    case CALLEES:
        options->by_callees = true;
        return -1;
    case TREE:
        options->as_tree = true;
        return -1;
    case ALL_FRAMES:
        options->all_frames = true;
        return -1;
    case BY:
    case METRIC:
        return take_words(option, options);
    default:
        return one_run_option(&cmd_top, option, arguments, &options->chosen, &options->output);
    }
}

static int parse(int count, char **arguments, struct options *options) {
    static const struct option table[] = {
        ONE_RUN_OPTIONS,
        {"by", required_argument, NULL, BY},
        {"metric", required_argument, NULL, METRIC},
        {"callees", no_argument, NULL, CALLEES},
        {"tree", no_argument, NULL, TREE},
        {"all-frames", no_argument, NULL, ALL_FRAMES},
        {"lines", required_argument, NULL, LINES},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1)
        status = take(option, arguments, options);
    if (status >= 0)
        return status;
    if (count - optind != 1)
        return command_usage(&cmd_top, "it takes one store");
    /* Which library it was is what --by module asks. */
    options->tree.fold_helpers = !options->all_frames && options->tree.by != CALLTREE_BY_MODULE;
    if (options->as_tree && options->output.json)
        return command_usage(&cmd_top, "--json has no tree: votreport export has");
    return -1;
}

static int print_tree(const struct term *term, struct calltree *tree,
                      const struct render_calls *render) {
    struct outline outline;
    enum calltree_metric metric = metric_facts[render->metric].tree;
    calltree_sort(tree, metric);
    int r = outline_make(tree, metric, render->lines_max, &outline);
    if (r < 0)
        return r;
    r = render_calls_tree(term, tree, &outline, render);
    outline_finish(&outline);
    return r;
}

static int print_list(const struct term *term, const struct calltree *tree,
                      const struct render_calls *render, const struct options *options) {
    struct toplist list;
    int r = toplist_make(tree, render->side, metric_facts[render->metric].tree,
                         options->by_callees, &list);
    if (r < 0)
        return r;
    r = options->output.json ? render_calls_top_json(stdout, tree, &list, render)
                             : render_calls_top(term, tree, &list, render);
    free(list.items);
    return r;
}

static int print_headline(const struct term *term, const struct run *run, const char *region,
                          enum metric metric) {
    char *name = render_benchmark(run);
    char *cleaned = strdup(region);
    int r = name && cleaned ? 0 : -ENOMEM;
    if (r == 0) {
        utf8_clean(cleaned);
        fprintf(term->stream, "%srun %lld: %s%s\n%s: %s\n\n", term_on(term, TERM_BOLD),
                (long long)run->id, name, term_off(term, TERM_BOLD), cleaned,
                metric_facts[metric].words);
    }
    free(name);
    free(cleaned);
    return r;
}

static int print(const struct run *run, const struct profile_region *region,
                 struct calltree *tree, const struct options *options) {
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    const struct render_calls render = {
        .side = CALLTREE_AFTER,
        .metric = options->metric,
        .by = options->tree.by,
        .lines_max = options->lines_max,
        .region = region->name,
    };
    int r =
        options->output.json ? 0 : print_headline(&term, run, region->name, options->metric);
    if (r < 0)
        return r;
    return options->as_tree ? print_tree(&term, tree, &render)
                            : print_list(&term, tree, &render, options);
}

/* 0; a negative errno, then @fault says why where strerror() would not. */
static int top(const struct run *run, const struct options *options, struct fault *fault) {
    struct calltree_source sources[CALLTREE_SIDES] = {0};
    struct calltree tree;
    const struct profile_region *region = one_run_region(run, options->chosen.region);
    if (!region)
        return fault_set(fault, -ENODATA, "run %lld has no region '%s'", (long long)run->id,
                         options->chosen.region);
    sources[CALLTREE_AFTER] = (struct calltree_source){&run->profile, region};
    int r = calltree_build(sources, &options->tree, &tree);
    if (r == -ENODATA)
        return fault_set(fault, r, "call sites of run %lld were not kept", (long long)run->id);
    if (r < 0)
        return r;
    r = print(run, region, &tree, options);
    calltree_finish(&tree);
    return r;
}

static int run(int count, char **arguments) {
    struct options options = {.lines_max = 20, .tree = {.space = TRACE_HEAP}};
    struct fault fault = {0};
    struct run run;
    int status = parse(count, arguments, &options);
    if (status >= 0)
        return status;
    const char *path = arguments[optind];
    if (one_run_load(path, &options.chosen, &run, &fault) < 0)
        return command_fault(path, &fault);
    int r = top(&run, &options, &fault);
    run_finish(&run);
    if (r < 0 && fault.text[0] == '\0')
        fault_set(&fault, r, "%s", strerror(-r));
    if (r < 0)
        status = command_fault(path, &fault);
    return command_flush(r < 0 ? status : EXIT_CODE_OK);
}

const struct command cmd_top = {"top", "list who holds most, or show it as a tree", help, run};
