/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_diff.c: votreport diff. */
#include "command.h"

#include "comparison.h"
#include "outfile.h"
#include "page.h"
#include "render.h"

#include <string.h>

static const char help[] =
    "usage: votreport diff [OPTION...] BEFORE AFTER\n"
    "\n"
    "Compare the newest run of every benchmark in two stores by the bytes that its\n"
    "regions added at their peak, and show the tree of calls that made the\n"
    "difference. BEFORE and AFTER are stores, or parts of one: STORE@RUN,\n"
    "STORE@COMMIT, STORE@BENCHMARK. Benchmarks are matched by name, parameters and\n"
    "region; calls by function, so that moved lines and renamed files are no\n"
    "difference.\n"
    "\n"
    "Marks: + worse, - better, ~ the same to the byte, or within the noise of repeats\n"
    "that vary, ? too few repeats to tell. Of several instances of a region the worst\n"
    "counts, of several repeats the median. A line below says where anonymous\n"
    "mappings changed.\n"
    "\n"
    "  --metric METRIC   peak_added (the default), live_end, total, count, peak_map,\n"
    "                    combined, rss or time\n"
    "  --by WHAT         merge the tree by function, file, module or line (function)\n"
    "  --max-frames N    lines of the tree for each benchmark (20)\n"
    "  --sites N         list N call sites instead of the tree\n"
    "  --name NAME       only this benchmark, with all its parameters\n"
    "  --all             compare `process`, too, where regions are marked\n"
    "  --native          the interpreter's frames between Python's functions, too\n"
    "  --format FORMAT   text (the default), markdown (for a comment), json (for\n"
    "                    scripts: exact numbers, every field, whole stacks), csv or\n"
    "                    html (as votreport html)\n"
    "  --json            --format json\n"
    "  -o, --output FILE where to write it; otherwise standard output\n"
    "  --bytes           exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN      auto, always or never\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 compared, whatever the outcome (see votreport gate); 2 not\n"
    "compared.\n"
    "\n"
    "Example: votreport diff main.db branch.db\n";

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML };

struct options {
    struct command_output output;
    struct comparison_settings settings;
    struct render_diff render;
    enum format format;
    const char *path; /* NULL: standard output */
};

static int parse_format(const char *text, struct options *options) {
    static const char *const words[] = {"text", "markdown", "json", "csv", "html"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            options->format = (enum format)i;
            return -1;
        }
    }
    return command_usage(&cmd_diff,
                         "--format takes text, markdown, json, csv or html, not '%s'", text);
}

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

enum { OUTPUT = 'o', SITES = COMMAND_OWN, METRIC, BY, FRAMES, FORMAT };

static int parse_count(const char *option, size_t *ret_count) {
    return command_count(&cmd_diff, option, optarg, 1000000, ret_count);
}

static int take_option(int option, char **arguments, struct options *options) {
    switch (option) {
    case SITES:
        return parse_count("--sites", &options->render.sites_max);
    case FRAMES:
        return parse_count("--max-frames", &options->render.frames_max);
    case METRIC:
        return parse_metric(optarg, options);
    case BY:
        return parse_by(optarg, options);
    case FORMAT:
        return parse_format(optarg, options);
    case OUTPUT:
        options->path = optarg;
        return -1;
    default:
        if (comparison_option(&options->settings, option, optarg))
            return -1;
        return command_common_option(&cmd_diff, option, arguments, &options->output);
    }
}

static int parse(int count, char **arguments, struct options *options) {
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        COMPARISON_OPTIONS,
        COMPARISON_NATIVE_OPTION,
        {"sites", required_argument, NULL, SITES},
        {"metric", required_argument, NULL, METRIC},
        {"by", required_argument, NULL, BY},
        {"max-frames", required_argument, NULL, FRAMES},
        {"format", required_argument, NULL, FORMAT},
        {"output", required_argument, NULL, OUTPUT},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":ho:", table, NULL)) != -1)
        status = take_option(option, arguments, options);
    if (status >= 0)
        return status;
    if (options->output.json)
        options->format = FORMAT_JSON;
    if (count - optind != 2)
        return command_usage(&cmd_diff, "it takes two stores: BEFORE and AFTER");
    if (options->format == FORMAT_HTML && options->settings.metric != METRIC_PEAK_ADDED)
        return command_usage(&cmd_diff,
                             "a page is about peak_added: --format html takes no other "
                             "--metric");
    return -1;
}

static int write_as(FILE *stream, const struct options *options, const struct diff *diff) {
    struct term term = term_open(stream, options->output.color, options->output.exact_bytes);
    switch (options->format) {
    case FORMAT_MARKDOWN:
        return render_diff_markdown(stream, diff, &options->render);
    case FORMAT_JSON:
        return render_diff_json(stream, diff, &options->render);
    case FORMAT_CSV:
        return render_diff_csv(stream, diff);
    case FORMAT_HTML:
        return page_write(stream, diff, true);
    default:
        return render_diff_text(&term, diff, &options->render);
    }
}

/* Whole, or not at all where it is a file. */
static int write_out(const struct options *options, const struct diff *diff) {
    struct outfile file;
    struct fault fault = {0};
    const char *path = options->path ? options->path : "standard output";
    int r = outfile_open(options->path, &file, &fault);
    if (r < 0)
        return command_fault(path, &fault);
    r = write_as(file.stream, options, diff);
    if (r < 0) {
        outfile_abandon(&file);
        complain_at(path, 0, "%s", strerror(-r));
        return EXIT_CODE_TROUBLE;
    }
    return outfile_commit(&file, &fault) < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
}

static int diff(const struct options *options, char **stores) {
    struct fault fault = {0};
    struct comparison comparison;
    const char *path;
    if (comparison_load(stores[0], stores[1], &options->settings, &comparison, &path, &fault) <
        0)
        return command_fault(path, &fault);
    int status = write_out(options, &comparison.diff);
    comparison_finish(&comparison);
    return status;
}

static int run(int count, char **arguments) {
    struct options options = {.render = {.frames_max = 20}};
    int status = parse(count, arguments, &options);
    return status < 0 ? diff(&options, arguments + optind) : status;
}

const struct command cmd_diff = {"diff", "compare two stores, and say where it comes from",
                                 help, run};
