/* SPDX-License-Identifier: BSD-3-Clause */
/* document.c: documents made, read and checked, with what must hold for every one of them. */
#include "document.h"

#include "check_document.h"
#include "checksum.h"
#include "corpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    votable_library_init();
    return atexit(votable_library_finish);
}

void document_open(struct document *ret_document, const void *bytes, size_t length) {
    ret_document->fd = memfd_create("document", MFD_CLOEXEC);
    if (ret_document->fd < 0 || write(ret_document->fd, bytes, length) != (ssize_t)length)
        abort();
    snprintf(ret_document->path, sizeof(ret_document->path), "/proc/self/fd/%d",
             ret_document->fd);
}

void document_close(struct document *document) {
    close(document->fd);
}

void document_text_add(struct document_text *text, const void *bytes, size_t length) {
    if (text->length + length > text->room) {
        text->room = (text->length + length) * 2;
        text->bytes = realloc(text->bytes, text->room);
        if (text->bytes == NULL)
            abort();
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void document_text_print(struct document_text *text, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(line))
        abort();
    document_text_add(text, line, (size_t)length);
}

void document_text_escape(struct document_text *text, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '&')
            document_text_print(text, "&amp;");
        else if (bytes[i] == '<')
            document_text_print(text, "&lt;");
        else if (bytes[i] == '>')
            document_text_print(text, "&gt;");
        else
            document_text_add(text, bytes + i, 1);
    }
}

void document_text_field(struct document_text *text, unsigned name, unsigned type,
                         unsigned arraysize) {
    static const char *const arraysizes[] = {"",    "1",  "2", "3*",  "*",   "2x2",
                                             "2x*", "10", "0", "5x*", "3x2", "2x3x*"};
    const char *chosen = arraysizes[arraysize % (sizeof(arraysizes) / sizeof(arraysizes[0]))];
    document_text_print(text, "<FIELD name=\"f%u\" datatype=\"%s\"", name,
                        field_type_name((enum field_type)(type % FIELD_TYPES)));
    if (*chosen != '\0')
        document_text_print(text, " arraysize=\"%s\"", chosen);
    document_text_print(text, ">");
}

void require(bool holds, const char *what, const struct problem *problem) {
    if (holds)
        return;
    fprintf(stderr, "%s: line %llu: %s\n", what, (unsigned long long)problem->lineno,
            problem->text);
    abort();
}

uint64_t document_read(const struct document *document, enum strategy strategy, bool strict,
                       struct problem *ret_problem) {
    struct votable votable = {0};
    struct problem problem = {0};
    const struct read_options options = {
        .strategy = strategy, .strict = strict, .limits = READ_LIMITS};
    uint64_t hash = 0;
    int r = votable_scan(document->path, &options, &votable, &problem);
    require(r == problem.code, "the result is not the problem's code", &problem);
    require(r == 0 || problem.text[0] != '\0', "a refusal without a text", &problem);
    for (size_t i = 0; r == 0 && i < votable.table_count; i++) {
        const struct table *table = votable.tables[i];
        size_t columns = table->columns != NULL ? table->field_count : 0;
        for (size_t j = 0; j < columns; j++)
            require(table->columns[j].rows == table->rows, "a column of other length",
                    &problem);
        hash = (hash ^ checksum_columns(table->columns, columns, table->rows)) * 31 + 1;
    }
    votable_finish(&votable);
    *ret_problem = problem;
    return r == 0 ? hash + 1 : 0;
}

int document_check(const struct document *document, bool ret_codes[FINDING_CODES]) {
    static struct check_document check;
    struct problem problem = {0};
    memset(&check, 0, sizeof(check));
    memset(ret_codes, 0, FINDING_CODES * sizeof(ret_codes[0]));
    check.findings.all = true;
    check_document_init(&check, &READ_LIMITS, &problem);
    check_xml_read(document->path, &check);
    findings_sort(&check.findings);
    require(problem.code == 0 || problem.text[0] != '\0', "check refuses without a text",
            &problem);
    for (size_t i = 0; i < check.findings.count; i++) {
        const struct finding *finding = &check.findings.items[i];
        require(finding->text[0] != '\0' && finding->lineno > 0, finding_name(finding->code),
                &problem);
        require(i == 0 || finding[-1].lineno <= finding->lineno, "findings out of order",
                &problem);
        ret_codes[finding->code] = true;
    }
    check_document_finish(&check);
    return problem.code;
}

enum finding_code document_first_error(const bool codes[FINDING_CODES]) {
    for (int i = 0; i < FINDING_CODES; i++)
        if (codes[i] && finding_is_error((enum finding_code)i))
            return (enum finding_code)i;
    return FINDING_CODES;
}
