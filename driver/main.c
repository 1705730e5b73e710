/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c: votdriver's commands and their options.
 *
 * A command is a row in the table and one function that turns arguments into an options struct
 * and calls what does the work. `parse` may be left out.
 */
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
    const char *example;
};

#define LIMITS "[--max-fields N] [--max-depth N] [--max-tag-bytes N]"

/* The first is what runs when no command is named. */
static const struct command commands[] = {
    {"parse",
     "[--strategy stream|buffer|dom|reader] [--columns NAME,...] [--tables NUMBER|NAME,...]\n"
     "    [--limit ROWS] [--discard] [--repeat N] [--no-checksum] [--strict] [--json]\n"
     "    " LIMITS " FILE...",
     "parse VOTables (.gz too, - for standard input) and tell what they hold and cost",
     cmd_parse, "votdriver parse --strategy buffer --columns ra,dec f.vot"},
    {"strategies", "", "tell the ways to parse, who parses so, and what each holds",
     cmd_strategies, "votdriver strategies"},
    {"stats", "[--strict] [--json] " LIMITS " FILE",
     "count, sum and bound the values of every column", cmd_stats, "votdriver stats f.vot"},
    {"convert",
     "--format tabledata|binary|binary2|fits [--strict] [-o FILE[.gz]]\n"
     "    " LIMITS " FILE",
     "write a document again with its tables in another serialization", cmd_convert,
     "votdriver convert --format binary2 -o binary2.vot.gz f.vot"},
    {"generate",
     "--preset NAME | --schema NAME:DATATYPE[ARRAYSIZE],...  --rows N\n"
     "    --format tabledata|binary|binary2|fits [--seed S] [--null-fraction F]\n"
     "    [--line-length N] [--cdata] [--stream-file NAME[.gz]] [-o FILE[.gz]]",
     "write a table of random values, the same for the same seed", cmd_generate,
     "votdriver generate --schema 'id:long,ra:double,dec:double,name:char[*]' --rows 1000 \\\n"
     "             --format tabledata -o t.vot"},
    {"check", "[--all] [--json] " LIMITS " FILE... | --codes",
     "tell everything that is wrong with a VOTable, by the standard of its version", cmd_check,
     "votdriver check --all f.vot"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_command(const struct command *command, FILE *to) {
    fprintf(to, "votdriver %s %s\n    %s\n", command->name, command->arguments,
            command->summary);
}

static void print_presets(FILE *to) {
    fputs("presets:", to);
    for (unsigned i = 0; generate_preset_name(i) != NULL; i++)
        fprintf(to, " %s", generate_preset_name(i));
    fputs("\n", to);
}

static void print_usage(FILE *to) {
    fputs("usage: votdriver [COMMAND] [OPTION]... [FILE]\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        print_command(&commands[i], to);
    fputs("\n", to);
    print_presets(to);
    fputs("\nexample: votdriver generate --preset arrays --rows 1000 --format binary2 -o "
          "t.vot\n"
          "         LD_PRELOAD=/usr/lib/votrace/libvotrace.so "
          "votdriver --strategy buffer t.vot\n",
          to);
}

static bool asks_for_help(const char *argument) {
    return argument != NULL && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0);
}

/* `votdriver COMMAND --help` */
static int help_command(const struct command *command) {
    fputs("usage: ", stdout);
    print_command(command, stdout);
    if (command->run == cmd_generate)
        print_presets(stdout);
    printf("votdriver(1) explains the options.\n\nexample: %s\n", command->example);
    return command_end_report();
}

int main(int argc, char **argv) {
    static char name[] = "votdriver";
    errors_set_program(name);
    if (argc > 0)
        argv[0] = name; /* getopt's messages begin with it, whatever path we were called by */
    const struct command *command = &commands[0];
    const char *first = argc > 1 ? argv[1] : "";
    if (asks_for_help(first)) {
        print_usage(stdout);
        return command_end_report();
    }
    if (strcmp(first, "--version") == 0) {
        printf("votdriver %s\n", VOTRACE_VERSION);
        return command_end_report();
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, first) != 0)
            continue;
        command = &commands[i];
        if (asks_for_help(argv[2]))
            return help_command(command);
        argv[1] = argv[0];
        argv++;
        argc--;
        break;
    }
    return command->run(argc, argv);
}
