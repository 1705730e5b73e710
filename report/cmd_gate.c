/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_gate.c: votreport gate. */
#include "command.h"

#include "comparison.h"
#include "render.h"
#include "sizes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: votreport gate [OPTION...] BASE NEW\n"
    "\n"
    "Did memory grow? Compares like votreport diff. A benchmark fails when its peak added "
    "grew\n"
    "beyond the ratio AND by more than the floor: small numbers may double, large ones may\n"
    "grow a little; real growth breaks both limits. The heap is judged, and by the same "
    "limits\n"
    "the heap and the anonymous mappings together.\n"
    "\n"
    "  --max-ratio R       the ratio NEW/BASE that is still good (1.05)\n"
    "  --max-added SIZE    the growth that is still good, whatever the ratio (64KiB)\n"
    "  --allow-incomplete  also judge runs that were killed, failed or missed something\n"
    "  --allow-missing     benchmarks of BASE that NEW does not have are no matter\n"
    "  --name NAME         only this benchmark, with all its parameters\n"
    "  --all               judge `process`, too, where regions are marked\n"
    "  --json              for scripts: exact numbers, every field\n"
    "  --bytes             exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN        auto, always or never\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 no benchmark fails. 1 at least one does; they are named. 2 the question\n"
    "could not be answered: a store cannot be read, no benchmark is in both, a benchmark of\n"
    "BASE is missing in NEW, or a run is not fit to be judged. New benchmarks pass.\n"
    "\n"
    "Example: votreport gate main.db branch.db --max-ratio 1.02 --max-added 256KiB\n";

struct options {
    struct command_output output;
    struct gate_limits limits;
    struct comparison_settings settings;
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

static int parse(int count, char **arguments, struct options *options) {
    enum { RATIO = COMMAND_OWN, ADDED, INCOMPLETE, MISSING };
    static const struct option table[] = {
        COMMAND_OUTPUT_OPTIONS,
        COMPARISON_OPTIONS,
        {"max-ratio", required_argument, NULL, RATIO},
        {"max-added", required_argument, NULL, ADDED},
        {"allow-incomplete", no_argument, NULL, INCOMPLETE},
        {"allow-missing", no_argument, NULL, MISSING},
        {0},
    };
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        switch (option) {
        case RATIO:
            status = parse_ratio(optarg, &options->limits.max_ratio);
            break;
        case ADDED:
            status = parse_added(optarg, &options->limits.max_added_bytes);
            break;
        case INCOMPLETE:
            options->limits.allow_incomplete = true;
            break;
        case MISSING:
            options->limits.allow_missing = true;
            break;
        default:
            if (!comparison_option(&options->settings, option, optarg))
                status = command_common_option(&cmd_gate, option, arguments, &options->output);
        }
    }
    if (status >= 0)
        return status;
    if (count - optind != 2)
        return command_usage(&cmd_gate, "it takes two stores: BASE and NEW");
    return -1;
}

static int judge(const struct options *options, const struct diff *diff) {
    static const int statuses[] = {
        [GATE_PASS] = EXIT_CODE_OK,
        [GATE_REGRESSION] = EXIT_CODE_REGRESSION,
        [GATE_UNANSWERED] = EXIT_CODE_TROUBLE,
    };
    struct gate_finding *findings = calloc(diff->row_count + 1, sizeof(*findings));
    if (!findings) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    enum gate_verdict verdict = gate_judge(diff, &options->limits, findings);
    struct term term = term_open(stdout, options->output.color, options->output.exact_bytes);
    int r = options->output.json
                ? render_gate_json(stdout, diff, findings, &options->limits, verdict)
                : render_gate_text(&term, diff, findings, &options->limits, verdict);
    free(findings);
    if (r < 0)
        complain("%s", strerror(-r));
    return command_flush(r < 0 ? EXIT_CODE_TROUBLE : statuses[verdict]);
}

static int run(int count, char **arguments) {
    struct fault fault = {0};
    struct comparison comparison;
    const char *path;
    struct options options = {.limits = {GATE_MAX_RATIO, GATE_MAX_ADDED_BYTES, false, false}};
    int status = parse(count, arguments, &options);
    if (status >= 0)
        return status;
    if (comparison_load(arguments[optind], arguments[optind + 1], &options.settings,
                        &comparison, &path, &fault) < 0)
        return command_fault(path, &fault);
    status = judge(&options, &comparison.diff);
    comparison_finish(&comparison);
    return status;
}

const struct command cmd_gate = {"gate", "fail when memory grew beyond limits", help, run};
