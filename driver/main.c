/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c: votdriver's commands and their options.
 *
 * A command is a row in the table and one function that turns arguments into an options struct
 * and calls what does the work. `parse` may be left out.
 */
#include "check.h"
#include "cmd_parse.h"
#include "commands.h"
#include "config.h"
#include "errors.h"
#include "generate.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    int (*run)(int argc, char **argv); /* returns an enum exit_code */
};

static int run_check(int argc, char **argv);

/* The first is what runs when no command is named. */
static const struct command commands[] = {
    {"parse",
     "[--strategy stream|buffer|dom|reader] [--columns NAME,...] [--tables NUMBER|NAME,...]\n"
     "    [--limit ROWS] [--discard] [--repeat N] [--no-checksum] [--strict] [--json]\n"
     "    [--max-fields N] [--max-depth N] [--max-tag-bytes N] FILE...",
     "parse VOTables (.gz too, - for standard input) and tell what they hold and cost",
     cmd_parse},
    {"strategies", "", "tell the ways to parse, who parses so, and what each holds",
     cmd_strategies},
    {"stats", "[--strict] [--json] FILE", "count, sum and bound the values of every column",
     cmd_stats},
    {"convert", "--format tabledata|binary|binary2|fits [--strict] [-o FILE[.gz]] FILE",
     "write a document again with its tables in another serialization", cmd_convert},
    {"generate",
     "--preset NAME | --schema NAME:DATATYPE[ARRAYSIZE],...  --rows N\n"
     "    --format tabledata|binary|binary2|fits [--seed S] [--null-fraction F]\n"
     "    [--line-length N] [--cdata] [--stream-file NAME[.gz]] [-o FILE[.gz]]",
     "write a table of random values, the same for the same seed", cmd_generate},
    {"check", "[--all] [--json] FILE... | --codes",
     "tell everything that is wrong with a VOTable, by the standard of its version", run_check},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to) {
    fputs("usage: votdriver [COMMAND] [OPTION]... [FILE]\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "votdriver %s %s\n    %s\n", commands[i].name, commands[i].arguments,
                commands[i].summary);
    fputs("\npresets:", to);
    for (unsigned i = 0; generate_preset_name(i) != NULL; i++)
        fprintf(to, " %s", generate_preset_name(i));
    fputs("\n\nexample: votdriver generate --preset arrays --rows 1000 --format binary2 -o "
          "t.vot\n"
          "         LD_PRELOAD=/usr/lib/votrace/libvotrace.so "
          "votdriver --strategy buffer t.vot\n",
          to);
}

/* getopt_long() has printed what was wrong; say what to do. */
static int complain_usage(const char *what) {
    if (what != NULL)
        complain("%s", what);
    fputs("Try 'votdriver --help'.\n", stderr);
    return EXIT_CODE_TROUBLE;
}

static int run_check(int argc, char **argv) {
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"codes", no_argument, NULL, 'c'},
        {0},
    };
    struct check_options check = {0};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'a':
            check.all = true;
            break;
        case 'j':
            check.json = true;
            break;
        case 'c':
            check_print_codes();
            return fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_TROUBLE;
        default:
            return complain_usage(NULL);
        }
    }
    if (optind == argc)
        return complain_usage("no file to check, name one or - for standard input");
    int worst = EXIT_CODE_OK;
    for (; optind < argc; optind++) {
        int code = check_run(argv[optind], &check);
        worst = code > worst ? code : worst;
    }
    return worst;
}

int main(int argc, char **argv) {
    static char name[] = "votdriver";
    errors_set_program(name);
    if (argc > 0)
        argv[0] = name; /* getopt's messages begin with it, whatever path we were called by */
    const struct command *command = &commands[0];
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        print_usage(stdout);
        return fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_TROUBLE;
    }
    if (strcmp(first, "--version") == 0) {
        printf("votdriver %s\n", VOTRACE_VERSION);
        return fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_TROUBLE;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, first) != 0)
            continue;
        command = &commands[i];
        argv[1] = argv[0];
        argv++;
        argc--;
        break;
    }
    return command->run(argc, argv);
}
