/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: votreport. A table of commands; each is in its own cmd_*.c. */
#include "command.h"

#include "config.h"
#include "render.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &cmd_run,   &cmd_import, &cmd_list, &cmd_show,  &cmd_top,    &cmd_diff,
    &cmd_gate,  &cmd_trend,  &cmd_html, &cmd_flame, &cmd_export, &cmd_merge,
    &cmd_prune, &cmd_check,  &cmd_sql,  &cmd_dump,
};

static void print_help(void) {
    puts("usage: votreport COMMAND [OPTION...] ...\n"
         "\n"
         "Measure what a program asks of the allocator, keep it, compare it.\n"
         "\n"
         "Commands:");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
    puts("\n"
         "votreport COMMAND --help explains each.\n"
         "\n"
         "Exit status: 0 all is well; 1 gate found a regression; 2 the question could not\n"
         "be answered. run ends like the program it ran.\n"
         "\n"
         "Example:\n"
         "  votreport run --db a.db --name parse --param format=binary -- votdriver f.vot\n"
         "  votreport diff a.db b.db");
}

static const struct command *command_find(const char *name) {
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_common_option(const struct command *command, int option, char *const *arguments,
                          struct command_output *output) {
    switch (option) {
    case COMMAND_HELP:
        fputs(command->help, stdout);
        return command_flush(EXIT_CODE_OK);
    case COMMAND_JSON:
        output->json = true;
        return -1;
    case COMMAND_BYTES:
        output->exact_bytes = true;
        return -1;
    case COMMAND_COLOR:
        if (term_when_parse(optarg, &output->color) < 0)
            return command_usage(command, "--color takes auto, always or never, not '%s'",
                                 optarg);
        return -1;
    case ':':
        return command_usage(command, "option '%s' needs a value", arguments[optind - 1]);
    default:
        /* A letter may stand among others: -xyz. */
        if (optopt > 0 && optopt < COMMAND_JSON && optopt != COMMAND_HELP)
            return command_usage(command, "there is no option '-%c'", optopt);
        return command_usage(command, "there is no option '%s'", arguments[optind - 1]);
    }
}

int command_usage(const struct command *command, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    complain("%s: %s (votreport %s --help explains)", command->name, text, command->name);
    return EXIT_CODE_TROUBLE;
}

int command_fault(const char *path, const struct fault *fault) {
    complain_at(path, 0, "%s", fault->text);
    return EXIT_CODE_TROUBLE;
}

void command_note_gaps(const char *path, const struct profile *profile) {
    char *gaps = render_gaps(profile);
    if (!gaps || gaps[0] != '\0')
        complain_at(path, 0, "note: incomplete: %s", gaps ? gaps : "no memory to say why");
    free(gaps);
}

int command_flush(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    complain("standard output cannot be written: %s", strerror(errno));
    return EXIT_CODE_TROUBLE;
}

int command_count(const struct command *command, const char *option, const char *text,
                  size_t most, size_t *ret_count) {
    char *end;
    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || count < 1 ||
        count > most)
        return command_usage(command, "%s takes a number from 1 to %zu, not '%s'", option, most,
                             text);
    *ret_count = (size_t)count;
    return -1;
}

int main(int argument_count, char **arguments) {
    errors_set_program("votreport");
    setlocale(LC_CTYPE, "");
    if (argument_count < 2) {
        complain("which command? votreport --help lists them");
        return EXIT_CODE_TROUBLE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return command_flush(EXIT_CODE_OK);
    }
    if (strcmp(name, "--version") == 0) {
        puts("votreport " VOTRACE_VERSION);
        return command_flush(EXIT_CODE_OK);
    }
    const struct command *command = command_find(name);
    if (!command) {
        complain("there is no command '%s': votreport --help lists them", name);
        return EXIT_CODE_TROUBLE;
    }
    return command->run(argument_count - 1, arguments + 1);
}
