/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_export.c: votreport export. */
#include "command.h"

#include "export.h"
#include "outfile.h"
#include "render.h"
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: votreport export --format FORMAT [OPTION...] STORE\n"
    "       votreport export --format difffolded [OPTION...] BEFORE AFTER\n"
    "\n"
    "Write what was measured for another program. The numbers of a region's stacks\n"
    "add up to the region's own, to the byte. STORE may be STORE@RUN, STORE@COMMIT or\n"
    "STORE@BENCHMARK.\n"
    "\n"
    "Stacks of one region, of the newest run:\n"
    "  folded          a line for each stack: flamegraph.pl, inferno, speedscope\n"
    "  difffolded      the same of two runs, with two numbers: flamegraph.pl\n"
    "  speedscope      JSON for speedscope.app\n"
    "  pprof           gzipped protocol buffer: pprof, all metrics\n"
    "  massif          live heap over time and the stacks at its peak: ms_print\n"
    "  csv-sites       a row for each call site, all metrics\n"
    "Tables over the newest run of every benchmark, of its repeats the median:\n"
    "  csv             a row for each region of each run, all metrics\n"
    "  bencher         Bencher Metric Format, all metrics\n"
    "  github          github-action-benchmark's customSmallerIsBetter\n"
    "  asv             airspeed velocity's results/MACHINE/COMMIT-votrace.json; with\n"
    "                  it go\n"
    "  asv-benchmarks  results/benchmarks.json and\n"
    "  asv-machine     results/MACHINE/machine.json\n"
    "\n"
    "  -f, --format FORMAT  which of these\n"
    "  -o, --output FILE    write there instead of to standard output; the file\n"
    "                       appears whole or not at all\n"
    "  --metric METRIC      peak_added (what else is said nothing), live_peak,\n"
    "                       live_end, net, total or count\n"
    "  --space SPACE        heap, map_anon, map_file or map_reserved\n"
    "  --region NAME        the worst instance of it; otherwise the worst of all\n"
    "  --name NAME          only this benchmark\n"
    "  --by WHAT            merge frames by function, file, module or line\n"
    "  --native             the interpreter's frames between Python's functions, too\n"
    "  --all                tables: `process`, too, where regions are marked\n"
    "  --commit HASH        asv: of this commit, where the runs know none\n"
    "  --allow-incomplete   tables: runs that failed, were killed or missed\n"
    "                       something, too\n"
    "  --help               this text\n"
    "\n"
    "Where less was live at the peak than at the start, a stack is below zero. folded\n"
    "has such lines, and drawing programs pass over them; speedscope refuses them.\n"
    "\n"
    "Exit status: 0 written, 2 not.\n"
    "\n"
    "Example: votreport export a.db -f folded | flamegraph.pl >parse.svg\n";

struct options {
    const struct export_format *format;
    struct export_request request;
    const char *output; /* NULL: standard output */
    const char *region; /* NULL: the worst of all */
    const char *name;   /* of this benchmark; NULL: of all */
    bool with_process;
    bool native; /* with the interpreter's frames between two functions of its code */
    bool allow_incomplete;
    bool metric_is_given;
};

enum { NAME = COMMAND_OWN, REGION, METRIC, SPACE, BY, ALL, NATIVE, COMMIT, INCOMPLETE };

static const struct option table[] = {
    {"help", no_argument, NULL, COMMAND_HELP},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"metric", required_argument, NULL, METRIC},
    {"space", required_argument, NULL, SPACE},
    {"region", required_argument, NULL, REGION},
    {"name", required_argument, NULL, NAME},
    {"by", required_argument, NULL, BY},
    {"all", no_argument, NULL, ALL},
    {"native", no_argument, NULL, NATIVE},
    {"commit", required_argument, NULL, COMMIT},
    {"allow-incomplete", no_argument, NULL, INCOMPLETE},
    {0},
};

/* Those that must be one of some words. Returns -1 when the command goes on. */
static int take_word(int option, struct options *options) {
    switch (option) {
    case 'f':
        options->format = export_format_find(optarg);
        if (!options->format)
            return command_usage(&cmd_export, "there is no format '%s'", optarg);
        return -1;
    case METRIC:
        options->metric_is_given = true;
        if (export_metric_parse(optarg, &options->request.metric) < 0)
            return command_usage(&cmd_export, "there is no metric '%s'", optarg);
        return -1;
    case SPACE:
        if (export_space_parse(optarg, &options->request.space) < 0)
            return command_usage(&cmd_export, "there is no space '%s'", optarg);
        return -1;
    default:
        if (export_by_parse(optarg, &options->request.by) < 0)
            return command_usage(&cmd_export,
                                 "--by takes function, file, module or line, not '%s'", optarg);
        return -1;
    }
}

static int take_option(int option, char *const *arguments, struct options *options) {
    struct command_output unused = {0};
    switch (option) {
    case 'o':
        options->output = optarg;
        return -1;
    case REGION:
        options->region = optarg;
        return -1;
    case NAME:
        options->name = optarg;
        return -1;
    case ALL:
        options->with_process = true;
        return -1;
    case NATIVE:
        options->native = true;
        return -1;
    case COMMIT:
        options->request.commit = optarg;
        return -1;
    case INCOMPLETE:
        options->allow_incomplete = true;
        return -1;
    case 'f':
    case METRIC:
    case SPACE:
    case BY:
        return take_word(option, options);
    default:
        return command_common_option(&cmd_export, option, arguments, &unused);
    }
}

static bool is_table(const struct export_format *format) {
    return format->shape == EXPORT_TABLE || format->shape == EXPORT_RUNS;
}

/* What makes sense one by one, but not together. */
static int check(const struct options *options, int stores) {
    const struct export_format *format = options->format;
    if (!format)
        return command_usage(&cmd_export, "which --format?");
    int wanted = format->shape == EXPORT_PAIR ? 2 : 1;
    if (stores != wanted)
        return command_usage(&cmd_export, "--format %s takes %s", format->name,
                             wanted == 2 ? "two stores" : "one store");
    if (options->metric_is_given && format->metrics != EXPORT_ONE_METRIC)
        return command_usage(
            &cmd_export, "--format %s has %s, there is no --metric to choose", format->name,
            format->metrics == EXPORT_ALL_METRICS ? "all metrics" : "live_peak");
    if (options->region && is_table(format))
        return command_usage(&cmd_export, "--region is for stacks; tables have all regions");
    if (options->native && is_table(format))
        return command_usage(&cmd_export, "--native is for stacks; tables have none");
    if (format->is_binary && !options->output && isatty(STDOUT_FILENO))
        return command_usage(&cmd_export, "%s is nothing for a terminal: say -o FILE",
                             format->name);
    return -1;
}

static int parse(int count, char **arguments, struct options *options) {
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":hf:o:", table, NULL)) != -1)
        status = take_option(option, arguments, options);
    return status >= 0 ? status : check(options, count - optind);
}

/* The run that @where means, of several the newest; its region is picked. */
static int load_run(const char *where, const struct options *options, struct run *ret_run,
                    const struct profile_region **ret_region, struct fault *fault) {
    struct store *store;
    const char *what;
    int64_t id;
    int r = selection_open(where, &store, &what, fault);
    if (r < 0)
        return r;
    r = selection_find(store, what, options->name, &id, fault);
    if (r == 0)
        r = store_load(store, id, ret_run, fault);
    store_close(store);
    if (r < 0)
        return r;
    if (options->native)
        profile_unfold_interpreters(&ret_run->profile);
    *ret_region = export_region_pick(ret_run, options->region);
    if (*ret_region)
        return 0;
    r = fault_set(fault, -ENOENT, "run %lld has no region '%s'", (long long)ret_run->id,
                  options->region ? options->region : "process");
    run_finish(ret_run);
    return r;
}

/* Write to where it is to go; what was there stays when anything fails. */
static int write_out(const char *path, const struct options *options,
                     const struct export_request *request) {
    struct outfile file;
    struct fault fault = {0};
    size_t skipped = 0;
    const char *output = options->output ? options->output : "-";
    if (outfile_open(output, &file, &fault) < 0)
        return command_fault(output, &fault);
    if (export_write(options->format, request, file.stream, &skipped, &fault) < 0) {
        bool was_output = ferror(file.stream) != 0;
        outfile_abandon(&file);
        return command_fault(was_output ? output : path, &fault);
    }
    if (outfile_commit(&file, &fault) < 0)
        return command_fault(output, &fault);
    if (skipped > 0)
        complain_at(path, 0,
                    "note: %zu stacks are below zero, drawing programs pass over them: "
                    "--metric live_peak has none",
                    skipped);
    return EXIT_CODE_OK;
}

static int export_stacks(const struct options *options, char *const *paths) {
    struct fault fault = {0};
    struct run runs[2];
    size_t count = options->format->shape == EXPORT_PAIR ? 2 : 1;
    struct export_request request = options->request;
    struct export_source *sources[] = {count == 2 ? &request.before : &request.after,
                                       &request.after};
    for (size_t i = 0; i < count; i++) {
        if (load_run(paths[i], options, &runs[i], &sources[i]->region, &fault) < 0) {
            if (i > 0)
                run_finish(&runs[0]);
            return command_fault(paths[i], &fault);
        }
        sources[i]->run = &runs[i];
        command_note_gaps(paths[i], &runs[i].profile);
    }
    int status = write_out(paths[count - 1], options, &request);
    for (size_t i = 0; i < count; i++)
        run_finish(&runs[i]);
    return status;
}

/* Leave out the rows whose runs are not to be trusted, each with a line. */
static void rows_filter(const char *path, struct diff *diff) {
    size_t kept = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        struct diff_row row = diff->rows[i];
        char *name = row.before.unfit ? render_row_name(&row) : NULL;
        if (!row.before.unfit) {
            diff->rows[i] = diff->rows[kept];
            diff->rows[kept++] = row;
        } else {
            complain_at(path, 0, "note: %s is left out: %s (--allow-incomplete takes it)",
                        name ? name : row.region, run_is_unfit(row.before.unfit));
        }
        free(name);
    }
    diff->row_count = kept;
}

static int export_table(const struct options *options, const char *path) {
    struct fault fault = {0};
    struct selection selection = {0};
    struct diff diff = {0};
    struct export_request request = options->request;
    if (selection_load_from(path, options->name, &selection, &fault) < 0)
        return command_fault(path, &fault);
    int status;
    if (diff_compare(selection.runs, selection.count, NULL, 0, options->with_process, &diff) <
        0) {
        complain("out of memory");
        status = EXIT_CODE_TROUBLE;
    } else {
        size_t all = diff.row_count;
        request.diff = &diff;
        request.runs = selection.runs;
        request.run_count = selection.count;
        if (!options->allow_incomplete && options->format->shape == EXPORT_TABLE)
            rows_filter(path, &diff);
        if (diff.row_count > 0) {
            status = write_out(path, options, &request);
        } else {
            complain_at(path, 0, "none of its benchmarks has a run that is complete");
            status = EXIT_CODE_TROUBLE;
        }
        diff.row_count = all;
    }
    diff_finish(&diff);
    selection_finish(&selection);
    return status;
}

static int run(int count, char **arguments) {
    struct options options = {0};
    int status = parse(count, arguments, &options);
    if (status >= 0)
        return status;
    if (is_table(options.format))
        return export_table(&options, arguments[optind]);
    return export_stacks(&options, arguments + optind);
}

const struct command cmd_export = {"export", "write for flame graphs, pprof, asv, CSV ...",
                                   help, run};
