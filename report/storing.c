/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storing.c: options of run and import, read and checked in one way. Texts are borrowed from the
 * command line, the keys of parameters are copies.
 */
#include "storing.h"

#include <stdlib.h>
#include <string.h>

void storing_init(struct storing *storing) {
    *storing = (struct storing){.params = VECTOR_OF(struct run_param)};
}

/* "KEY=VALUE" of the command line. */
static int param_add(const struct command *command, struct vector *params, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return command_usage(command, "--param takes KEY=VALUE, not '%s'", text);
    char *key = strndup(text, (size_t)(equals - text));
    const struct run_param *known = params->items;
    for (size_t i = 0; key && i < params->count; i++) {
        if (strcmp(known[i].key, key) == 0) {
            free(key);
            return command_usage(command, "--param '%s' is given twice", known[i].key);
        }
    }
    struct run_param *param = key ? vector_add(params) : NULL;
    if (!param) {
        free(key);
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    *param = (struct run_param){key, equals + 1};
    return -1;
}

int storing_option(const struct command *command, int option, char *const *arguments,
                   struct storing *storing) {
    struct command_output output = {0};
    switch (option) {
    case STORING_DB:
        storing->db = optarg;
        return -1;
    case STORING_NAME:
        storing->name = optarg;
        return -1;
    case STORING_PARAM:
        return param_add(command, &storing->params, optarg);
    case STORING_COMMIT:
        storing->commit = optarg;
        return -1;
    case STORING_BRANCH:
        storing->branch = optarg;
        return -1;
    default:
        return command_common_option(command, option, arguments, &output);
    }
}

int storing_check(const struct command *command, const struct storing *storing) {
    if (!storing->db)
        return command_usage(command, "--db is missing: which store?");
    if (storing->name && storing->name[0] == '\0')
        return command_usage(command, "--name is empty");
    if (storing->commit && storing->commit[0] == '\0')
        return command_usage(command, "--commit is empty");
    return -1;
}

void storing_finish(struct storing *storing) {
    struct run_param *params = storing->params.items;
    for (size_t i = 0; i < storing->params.count; i++)
        free((char *)params[i].key);
    vector_finish(&storing->params);
}
