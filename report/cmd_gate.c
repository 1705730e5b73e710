/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_gate.c: votreport gate. */
#include "command.h"

#include "gate_input.h"
#include "outfile.h"
#include "render_gate.h"
#include "repository.h"
#include "sizes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: votreport gate [OPTION...] BASE NEW\n"
    "\n"
    "Did memory grow? Compares like votreport diff, and takes STORE or STORE@WHAT\n"
    "like it. A benchmark fails when its peak added grew beyond the ratio AND by more\n"
    "than the floor: small numbers may double, large ones may grow a little; real\n"
    "growth breaks both limits. The heap is judged, and by the same limits the heap\n"
    "and the anonymous mappings together.\n"
    "\n"
    "  --max-ratio R       the ratio NEW/BASE that is still good (1.05)\n"
    "  --max-added SIZE    the growth that is still good, whatever the ratio (64KiB)\n"
    "  --thresholds FILE   limits for each benchmark and metric, and growth that is\n"
    "                      allowed until a day; votreport-gate(1) describes the file\n"
    "  --baseline STORE    compare with this, too: many small steps are found there\n"
    "  --allow-incomplete  also judge runs that failed or missed something\n"
    "  --allow-unlike      also judge runs of other machines, C libraries, allocators\n"
    "  --allow-missing     benchmarks of BASE that NEW does not have are no matter\n"
    "  --summary FILE      write what was found as Markdown; `github` adds it to the\n"
    "                      job's summary, $GITHUB_STEP_SUMMARY\n"
    "  --annotate github   print ::error lines, with file and line of what grew most\n"
    "  --root FOLDER       the repository that those files are in; otherwise found\n"
    "                      from here\n"
    "  --junit FILE        write JUnit's XML\n"
    "  --name NAME         only this benchmark, with all its parameters\n"
    "  --all               judge `process`, too, where regions are marked\n"
    "  --json              for scripts: exact numbers, every field\n"
    "  --bytes             exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN        auto, always or never\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 no benchmark fails. 1 at least one does; they are named. 2 the\n"
    "question could not be answered: a store or the file of limits cannot be read, no\n"
    "benchmark is in both, a benchmark of BASE is missing in NEW, a run is not fit to\n"
    "be judged or unlike the other, or it takes more repeats. New benchmarks pass.\n"
    "\n"
    "Example: votreport gate main.db branch.db --max-ratio 1.02 --max-added 256KiB\n";

struct options {
    struct command_output output;
    struct gate_limits limits;
    struct comparison_settings settings;
    struct gate_stores stores;
    const char *thresholds;
    const char *summary;
    const char *junit;
    const char *root; /* NULL: to be found */
    bool annotate;
};

static int parse_ratio(const char *text, double *ret_ratio) {
    char *end;
    double ratio = strtod(text, &end);
    bool is_decimal = text[0] != '.' && text[strspn(text, "0123456789.")] == '\0';
    if (!is_decimal || end == text || *end != '\0' || !isfinite(ratio) || ratio < 1.0)
        return command_usage(&cmd_gate, "--max-ratio takes a number from 1, not '%s'", text);
    *ret_ratio = ratio;
    return -1;
}

static int parse_added(const char *text, int64_t *ret_bytes) {
    if (sizes_parse(text, ret_bytes) < 0)
        return command_usage(&cmd_gate, "--max-added takes a size like 64KiB, not '%s'", text);
    return -1;
}

static int parse_annotate(const char *text, struct options *options) {
    if (strcmp(text, "github") != 0)
        return command_usage(&cmd_gate, "--annotate takes github, not '%s'", text);
    options->annotate = true;
    return -1;
}

enum {
    RATIO = COMMAND_OWN,
    ADDED,
    THRESHOLDS,
    BASELINE,
    INCOMPLETE,
    UNLIKE,
    MISSING,
    SUMMARY,
    ANNOTATE,
    ROOT,
    JUNIT,
};

/* The options that take any text, or none. False when @option is another. */
static bool take_plain(int option, struct options *options) {
    const struct {
        int option;
        const char **text;
        bool *flag;
    } plain[] = {
        {THRESHOLDS, &options->thresholds, NULL},
        {BASELINE, &options->stores.baseline, NULL},
        {SUMMARY, &options->summary, NULL},
        {ROOT, &options->root, NULL},
        {JUNIT, &options->junit, NULL},
        {INCOMPLETE, NULL, &options->limits.allow_incomplete},
        {UNLIKE, NULL, &options->limits.allow_unlike},
        {MISSING, NULL, &options->limits.allow_missing},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (plain[i].option != option)
            continue;
        if (plain[i].text)
            *plain[i].text = optarg;
        else
            *plain[i].flag = true;
        return true;
    }
    return false;
}

static int take_option(int option, char **arguments, struct options *options) {
    switch (option) {
    case RATIO:
        return parse_ratio(optarg, &options->limits.max_ratio);
    case ADDED:
        return parse_added(optarg, &options->limits.max_added_bytes);
    case ANNOTATE:
        return parse_annotate(optarg, options);
    default:
        if (take_plain(option, options) ||
            comparison_option(&options->settings, option, optarg))
            return -1;
        return command_common_option(&cmd_gate, option, arguments, &options->output);
    }
}

static int parse(int count, char **arguments, struct options *options) {
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        COMPARISON_OPTIONS,
        {"max-ratio", required_argument, NULL, RATIO},
        {"max-added", required_argument, NULL, ADDED},
        {"thresholds", required_argument, NULL, THRESHOLDS},
        {"baseline", required_argument, NULL, BASELINE},
        {"allow-incomplete", no_argument, NULL, INCOMPLETE},
        {"allow-unlike", no_argument, NULL, UNLIKE},
        {"allow-missing", no_argument, NULL, MISSING},
        {"summary", required_argument, NULL, SUMMARY},
        {"annotate", required_argument, NULL, ANNOTATE},
        {"root", required_argument, NULL, ROOT},
        {"junit", required_argument, NULL, JUNIT},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1)
        status = take_option(option, arguments, options);
    if (status >= 0)
        return status;
    if (count - optind != 2)
        return command_usage(&cmd_gate, "it takes two stores: BASE and NEW");
    options->stores.base = arguments[optind];
    options->stores.new = arguments[optind + 1];
    return -1;
}

/* What is written to a file or to one that grows. */
struct report {
    const struct options *options;
    const struct gate *gate;
};

static int write_summary(FILE *stream, const struct report *report) {
    return render_gate_markdown(stream, report->gate, &report->options->limits);
}

static int write_junit(FILE *stream, const struct report *report) {
    return render_gate_junit(stream, report->gate);
}

/* 0, or an exit status after complaining. */
static int file_write(const char *path, const struct report *report,
                      int (*write)(FILE *stream, const struct report *report)) {
    struct outfile file;
    struct fault fault = {0};
    if (outfile_open(path, &file, &fault) < 0)
        return command_fault(path, &fault);
    int r = write(file.stream, report);
    if (r < 0) {
        outfile_abandon(&file);
        complain_at(path, 0, "%s", strerror(-r));
        return EXIT_CODE_TROUBLE;
    }
    if (outfile_commit(&file, &fault) < 0)
        return command_fault(path, &fault);
    return 0;
}

/* Other steps of the job may have written to it: it is added to. */
static int job_summary_write(const struct report *report) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (!path || path[0] == '\0') {
        complain("gate: --summary github: $GITHUB_STEP_SUMMARY is not set: this is no job of "
                 "GitHub's, name a file");
        return EXIT_CODE_TROUBLE;
    }
    FILE *stream = fopen(path, "ae");
    if (!stream) {
        complain_at(path, 0, "%s", strerror(errno));
        return EXIT_CODE_TROUBLE;
    }
    int r = write_summary(stream, report);
    if (fclose(stream) != 0 && r == 0)
        r = -errno;
    if (r < 0)
        complain_at(path, 0, "%s", strerror(-r));
    return r < 0 ? EXIT_CODE_TROUBLE : 0;
}

static int annotations_write(const struct report *report) {
    char root[PATH_MAX];
    if (!report->options->root)
        repository_find(root);
    else if (!realpath(report->options->root, root)) {
        complain_at(report->options->root, 0, "--root: %s", strerror(errno));
        return EXIT_CODE_TROUBLE;
    }
    /* GitHub reads both streams. */
    FILE *stream = report->options->output.json ? stderr : stdout;
    int r = render_gate_annotations(stream, report->gate, root);
    if (r < 0)
        complain("%s", strerror(-r));
    return r < 0 ? EXIT_CODE_TROUBLE : 0;
}

/* 0, or the exit status of the first that failed; all are tried. */
static int reports_write(const struct report *report) {
    const struct options *options = report->options;
    int status = 0;
    if (options->summary) {
        bool of_job = strcmp(options->summary, "github") == 0;
        status = of_job ? job_summary_write(report)
                        : file_write(options->summary, report, write_summary);
    }
    if (options->junit) {
        int written = file_write(options->junit, report, write_junit);
        status = status == 0 ? written : status;
    }
    if (options->annotate) {
        int written = annotations_write(report);
        status = status == 0 ? written : status;
    }
    return status;
}

static int judge(const struct options *options, const struct gate_input *input) {
    static const int statuses[] = {
        [GATE_PASS] = EXIT_CODE_OK,
        [GATE_REGRESSION] = EXIT_CODE_REGRESSION,
        [GATE_UNANSWERED] = EXIT_CODE_TROUBLE,
    };
    struct gate gate;
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    int r = gate_judge(input->comparisons, input->count, &options->limits, &gate);
    if (r < 0) {
        complain("%s", strerror(-r));
        return EXIT_CODE_TROUBLE;
    }
    r = options->output.json ? render_gate_json(stdout, &gate, &options->limits)
                             : render_gate_text(&term, &gate, &options->limits);
    if (r < 0)
        complain("%s", strerror(-r));
    int status = r < 0 ? EXIT_CODE_TROUBLE : statuses[gate.verdict];
    const struct report report = {options, &gate};
    int written = reports_write(&report);
    gate_finish(&gate);
    return command_flush(written != 0 ? written : status);
}

static void today_find(char ret_today[THRESHOLDS_DAY_BYTES]) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    if (strftime(ret_today, THRESHOLDS_DAY_BYTES, "%Y-%m-%d", &parts) == 0)
        ret_today[0] = '\0';
}

/* The file of limits, when there is one. 0, or an exit status after complaining. */
static int thresholds_load(struct options *options, struct thresholds *ret_thresholds) {
    struct fault fault = {0};
    uint64_t lineno;
    if (!options->thresholds)
        return 0;
    if (thresholds_read(options->thresholds, ret_thresholds, &lineno, &fault) < 0) {
        complain_at(options->thresholds, lineno, "%s", fault.text);
        return EXIT_CODE_TROUBLE;
    }
    options->limits.thresholds = ret_thresholds;
    return 0;
}

static int run(int count, char **arguments) {
    struct fault fault = {0};
    struct gate_input input;
    struct thresholds thresholds = {0};
    const char *path;
    struct options options = {
        .limits = {.max_ratio = GATE_MAX_RATIO, .max_added_bytes = GATE_MAX_ADDED_BYTES}};
    int status = parse(count, arguments, &options);
    if (status >= 0)
        return status;
    today_find(options.limits.today);
    status = thresholds_load(&options, &thresholds);
    if (status == 0 && gate_input_load(&options.stores, &options.settings, &options.limits,
                                       &input, &path, &fault) < 0)
        status = command_fault(path, &fault);
    else if (status == 0) {
        status = judge(&options, &input);
        gate_input_finish(&input);
    }
    thresholds_finish(&thresholds);
    return status;
}

const struct command cmd_gate = {"gate", "fail when memory grew beyond limits", help, run};
