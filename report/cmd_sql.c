/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_sql.c: votreport sql. One question, answered as a table, JSON or CSV. */
#include "command.h"

#include "csv.h"
#include "json.h"
#include "store_query.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_MAX (1 << 20) /* bytes from standard input */

static const char help[] =
    "usage: votreport sql [OPTION...] STORE [QUESTION]\n"
    "\n"
    "Ask a store in SQL. The question is one statement that reads, from standard\n"
    "input when it is not given. Views to start with: v_regions, v_latest, v_sites\n"
    "(name a run_id or region_id), v_timeline. Nothing can be written. A store of an\n"
    "earlier version is asked as if it had been migrated.\n"
    "\n"
    "  --json        for scripts: an array of objects; a blob is hexadecimal text\n"
    "  --csv         for spreadsheets\n"
    "  --color WHEN  auto, always or never\n"
    "  --help        this text\n"
    "\n"
    "Exit status: 0 answered, 2 not.\n"
    "\n"
    "Example:\n"
    "  votreport sql a.db 'SELECT benchmark, region, peak_added FROM v_latest'\n";

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

struct answer {
    enum form form;
    struct json json;
    struct csv csv;
    struct table table;
    char **names; /* count */
    char *aligns; /* of the table: `r` while all cells of the column are numbers */
    size_t count;
};

static char *hex_of(const struct store_cell *cell) {
    char *text = malloc(2 * cell->size + 1);
    for (size_t i = 0; text && i < cell->size; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)cell->bytes[i]);
    if (text)
        text[2 * cell->size] = '\0';
    return text;
}

static int take_columns(void *context, const char *const *names, size_t count) {
    struct answer *answer = context;
    answer->names = calloc(count + 1, sizeof(*answer->names));
    answer->aligns = calloc(count + 1, 1);
    if (!answer->names || !answer->aligns)
        return -ENOMEM;
    answer->count = count;
    for (size_t i = 0; i < count; i++) {
        answer->names[i] = strdup(names[i]);
        answer->aligns[i] = 'r';
        if (!answer->names[i])
            return -ENOMEM;
    }
    if (answer->form == FORM_JSON)
        json_begin(&answer->json, NULL, '[');
    answer->table = table_new(answer->aligns);
    for (size_t i = 0; i < count; i++) {
        if (answer->form == FORM_TABLE)
            table_cell(&answer->table, TERM_BOLD, "%s", names[i]);
        if (answer->form == FORM_CSV)
            csv_text(&answer->csv, names[i]);
    }
    if (answer->form == FORM_CSV)
        csv_row_end(&answer->csv);
    return 0;
}

static void real_print(char text[32], double real) {
    snprintf(text, 32, "%.17g", real);
    /* The shortest that comes back the same. */
    for (int digits = 1; digits < 17; digits++) {
        char shorter[32];
        snprintf(shorter, sizeof(shorter), "%.*g", digits, real);
        if (strtod(shorter, NULL) == real) {
            strcpy(text, shorter);
            return;
        }
    }
}

static void json_cell(struct json *json, const char *name, const struct store_cell *cell,
                      const char *hex) {
    char real[32];
    switch (cell->kind) {
    case STORE_INTEGER:
        json_int(json, name, cell->integer);
        break;
    case STORE_REAL:
        real_print(real, cell->real);
        if (strspn(real, "0123456789+-.e") == strlen(real))
            json_real(json, name, real, strlen(real));
        else
            json_null(json, name); /* infinite */
        break;
    case STORE_TEXT:
        json_text(json, name, cell->bytes);
        break;
    case STORE_BLOB:
        json_text(json, name, hex);
        break;
    default:
        json_null(json, name);
    }
}

static void csv_cell(struct csv *csv, const struct store_cell *cell, const char *hex) {
    switch (cell->kind) {
    case STORE_INTEGER:
        csv_int(csv, cell->integer);
        break;
    case STORE_REAL:
        csv_real(csv, cell->real);
        break;
    case STORE_TEXT:
        csv_text(csv, cell->bytes);
        break;
    case STORE_BLOB:
        csv_text(csv, hex);
        break;
    default:
        csv_empty(csv);
    }
}

static void table_cell_of(struct answer *answer, size_t column, const struct store_cell *cell,
                          const char *hex) {
    char real[32];
    if (cell->kind == STORE_TEXT || cell->kind == STORE_BLOB)
        answer->aligns[column] = 'l';
    switch (cell->kind) {
    case STORE_INTEGER:
        table_cell(&answer->table, TERM_PLAIN, "%" PRId64, cell->integer);
        break;
    case STORE_REAL:
        real_print(real, cell->real);
        table_cell(&answer->table, TERM_PLAIN, "%s", real);
        break;
    case STORE_TEXT:
        table_cell(&answer->table, TERM_PLAIN, "%s", cell->bytes);
        break;
    case STORE_BLOB:
        table_cell(&answer->table, TERM_PLAIN, "x'%s'", hex);
        break;
    default:
        table_cell(&answer->table, TERM_DIM, "-");
    }
}

static int take_row(void *context, const struct store_cell *cells, size_t count) {
    struct answer *answer = context;
    if (answer->form == FORM_JSON)
        json_begin(&answer->json, NULL, '{');
    for (size_t i = 0; i < count; i++) {
        char *hex = cells[i].kind == STORE_BLOB ? hex_of(&cells[i]) : NULL;
        if (cells[i].kind == STORE_BLOB && !hex)
            return -ENOMEM;
        if (answer->form == FORM_JSON)
            json_cell(&answer->json, answer->names[i], &cells[i], hex);
        else if (answer->form == FORM_CSV)
            csv_cell(&answer->csv, &cells[i], hex);
        else
            table_cell_of(answer, i, &cells[i], hex);
        free(hex);
    }
    if (answer->form == FORM_JSON)
        json_end(&answer->json, '}');
    else if (answer->form == FORM_CSV)
        csv_row_end(&answer->csv);
    return 0;
}

static int answer_finish(struct answer *answer, enum term_when color, bool whole) {
    struct term term = term_open(stdout, color, false);
    int r = 0;
    if (whole && answer->form == FORM_JSON)
        json_end(&answer->json, ']');
    if (whole && answer->form == FORM_CSV)
        r = csv_finish(&answer->csv);
    if (answer->form == FORM_TABLE && answer->aligns) {
        if (whole)
            r = table_print(&answer->table, &term, "");
        else
            vector_finish(&answer->table.cells);
    }
    for (size_t i = 0; answer->names && i < answer->count; i++)
        free(answer->names[i]);
    free(answer->names);
    free(answer->aligns);
    return r;
}

/* All of standard input; complains and returns NULL when it is none. free() it. */
static char *read_question(void) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', stdin);
    if (length > 0 && length <= QUESTION_MAX)
        return text;
    complain("sql: %s", length > 0 ? "the question is longer than 1 MiB"
                                   : "there is no question on standard input");
    free(text);
    return NULL;
}

static int ask(const char *path, const char *question, enum form form, enum term_when color) {
    struct fault fault = {0};
    struct store *store;
    struct answer answer = {
        .form = form, .json = {.stream = stdout}, .csv = {.stream = stdout}};
    const struct store_query_sink sink = {&answer, take_columns, take_row};
    if (store_open(path, STORE_READ, &store, &fault) < 0)
        return command_fault(path, &fault);
    int r = store_query(store, question, &sink, &fault);
    int status = r < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
    if (answer_finish(&answer, color, r == 0) < 0) {
        complain("standard output cannot be written, or there is no memory");
        status = EXIT_CODE_TROUBLE;
    }
    store_close(store);
    return command_flush(status);
}

static int run(int count, char **arguments) {
    enum { CSV = COMMAND_OWN };
    static const struct option table[] = {
        {"help", no_argument, NULL, COMMAND_HELP},
        {"json", no_argument, NULL, COMMAND_JSON},
        {"color", required_argument, NULL, COMMAND_COLOR},
        {"csv", no_argument, NULL, CSV},
        {0},
    };
    struct command_output output = {0};
    bool csv = false;
    int option;
    while ((option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        int status =
            option == CSV ? -1 : command_common_option(&cmd_sql, option, arguments, &output);
        csv |= option == CSV;
        if (status >= 0)
            return status;
    }
    if (csv && output.json)
        return command_usage(&cmd_sql, "--json and --csv are two forms: which one?");
    if (count - optind < 1 || count - optind > 2)
        return command_usage(&cmd_sql, "it takes one store and one question");
    bool given = count - optind == 2 && strcmp(arguments[optind + 1], "-") != 0;
    char *question = given ? strdup(arguments[optind + 1]) : read_question();
    if (!question)
        return EXIT_CODE_TROUBLE;
    int status = ask(arguments[optind], question,
                     csv           ? FORM_CSV
                     : output.json ? FORM_JSON
                                   : FORM_TABLE,
                     output.color);
    free(question);
    return status;
}

const struct command cmd_sql = {"sql", "ask a store in SQL, read only", help, run};
