/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.c: words that votdriver's commands share. */
#include "commands.h"

#include "decimal.h"
#include "errors.h"
#include "votable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int command_usage(const char *what) {
    /* Without words of ours getopt_long() has printed what was wrong. */
    if (what != NULL)
        complain("%s", what);
    fputs("Try 'votdriver --help'.\n", stderr);
    return EXIT_CODE_TROUBLE;
}

int command_number(const char *option, const char *text, uint64_t *ret_number) {
    int64_t value;
    if (decimal_parse_integer(text, text + strlen(text), 1, INT64_MAX, &value) == 0) {
        *ret_number = (uint64_t)value;
        return 0;
    }
    complain("--%s '%s' is no whole number from 1 to 2^63-1, correct it", option, text);
    return -1;
}

int command_limit(int choice, const char *text, struct read_limits *limits) {
    switch (choice) {
    case COMMAND_MAX_FIELDS:
        return command_number("max-fields", text, &limits->fields);
    case COMMAND_MAX_DEPTH:
        return command_number("max-depth", text, &limits->depth);
    case COMMAND_MAX_TAG_BYTES:
        return command_number("max-tag-bytes", text, &limits->tag_bytes);
    default:
        command_usage(NULL);
        return -1;
    }
}

int command_format(const char *name, enum serialization *ret_format) {
    for (int i = SERIALIZATION_TABLEDATA; i < SERIALIZATIONS; i++) {
        if (strcmp(serialization_name((enum serialization)i), name) != 0)
            continue;
        *ret_format = (enum serialization)i;
        return 0;
    }
    complain("no format '%s', use tabledata, binary, binary2 or fits", name);
    return -1;
}

void command_warn(void *context, const struct warning *warning) {
    const char *path = context;
    if (warning->count > 1)
        complain_at(path, warning->lineno, "warning W%02u: %s (%" PRIu64 " times)",
                    warning->number, warning->text, warning->count);
    else
        complain_at(path, warning->lineno, "warning W%02u: %s", warning->number, warning->text);
}

int command_end_report(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_CODE_OK;
    complain("the report cannot be written: %s%s", strerror(errno),
             errno == ENOSPC ? ", free some space" : "");
    return EXIT_CODE_TROUBLE;
}
