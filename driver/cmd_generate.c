/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_generate.c: `votdriver generate`: options in, a file out. */
#include "commands.h"

#include "decimal.h"
#include "errors.h"
#include "generate.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

static int read_count(const char *option, const char *text, uint64_t *ret_value) {
    int64_t value;
    if (decimal_parse_integer(text, text + strlen(text), 0, INT64_MAX, &value) == 0) {
        *ret_value = (uint64_t)value;
        return 0;
    }
    complain("--%s '%s' is no whole number from 0 to 2^63-1, correct it", option, text);
    return -1;
}

static int read_fraction(const char *text, double *ret_value) {
    double value;
    if (decimal_parse_double(text, text + strlen(text), &value) == 0 && value >= 0 &&
        value <= 1) {
        *ret_value = value;
        return 0;
    }
    complain("--null-fraction '%s' is no number from 0 to 1, correct it", text);
    return -1;
}

static int read_line_length(const char *text, uint64_t *ret_value) {
    if (read_count("line-length", text, ret_value) < 0)
        return -1;
    if (*ret_value % 4 == 0)
        return 0;
    complain("--line-length '%s' is no multiple of 4, which groups of base64 are, correct it",
             text);
    return -1;
}

static int read_stream_file(const char *text, const char **ret_value) {
    *ret_value = text;
    if (*text != '\0' && strchr(text, '/') == NULL)
        return 0;
    complain("--stream-file '%s' is no name of a file beside the document, leave its folder "
             "out",
             text);
    return -1;
}

/* Returns 0, or -1 after a message. */
static int read_option(int option, struct generate_options *generate, bool *ret_has_rows) {
    switch (option) {
    case 'p':
        generate->preset = optarg;
        return 0;
    case 'S':
        generate->schema = optarg;
        return 0;
    case 'r':
        *ret_has_rows = true;
        return read_count("rows", optarg, &generate->rows);
    case 'f':
        return command_format(optarg, &generate->format);
    case 's':
        return read_count("seed", optarg, &generate->seed);
    case 'n':
        return read_fraction(optarg, &generate->null_fraction);
    case 'l':
        return read_line_length(optarg, &generate->line_characters);
    case 'c':
        generate->cdata = true;
        return 0;
    case 'F':
        return read_stream_file(optarg, &generate->stream_file);
    case 'o':
        generate->path = optarg;
        return 0;
    default:
        command_usage(NULL);
        return -1;
    }
}

/* What is wrong with the options together, or NULL. */
static const char *find_conflict(const struct generate_options *generate, bool has_rows) {
    if (generate->preset == NULL && generate->schema == NULL)
        return "generate needs --preset or --schema, --rows and --format";
    if (generate->preset != NULL && generate->schema != NULL)
        return "generate takes a --preset or a --schema, not both";
    if (!has_rows || generate->format == SERIALIZATION_NONE)
        return "generate needs --preset or --schema, --rows and --format";
    if (generate->stream_file != NULL && generate->format == SERIALIZATION_TABLEDATA)
        return "--stream-file is for binary, binary2 and fits, TABLEDATA has no STREAM";
    if (generate->stream_file != NULL && strcmp(generate->path, "-") == 0)
        return "--stream-file needs -o FILE, beside which it lies";
    return NULL;
}

int cmd_generate(int argc, char **argv) {
    static const struct option options[] = {
        {"preset", required_argument, NULL, 'p'},
        {"schema", required_argument, NULL, 'S'},
        {"rows", required_argument, NULL, 'r'},
        {"format", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},
        {"null-fraction", required_argument, NULL, 'n'},
        {"line-length", required_argument, NULL, 'l'},
        {"cdata", no_argument, NULL, 'c'},
        {"stream-file", required_argument, NULL, 'F'},
        {"output", required_argument, NULL, 'o'},
        {0},
    };
    struct generate_options generate = {
        .path = "-", .null_fraction = GENERATE_NULLS_UNSAID, .line_characters = 64};
    struct problem problem = {0};
    const char *bad_path;
    bool has_rows = false;
    int option;
    while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1)
        if (read_option(option, &generate, &has_rows) < 0)
            return EXIT_CODE_TROUBLE;
    if (optind < argc)
        return command_usage("generate takes no file but -o FILE");
    const char *conflict = find_conflict(&generate, has_rows);
    if (conflict != NULL)
        return command_usage(conflict);
    if (generate.preset != NULL && strcmp(generate.preset, "all-types") == 0 &&
        generate.null_fraction < 0)
        generate.null_fraction = 0.125;
    int r = generate_run(&generate, &bad_path, &problem);
    if (r == 0)
        return EXIT_CODE_OK;
    if (r == -EINVAL)
        complain("%s", problem.text);
    else
        complain_at(bad_path, 0, "%s", problem.text);
    return EXIT_CODE_TROUBLE;
}
