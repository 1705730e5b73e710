/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c: one file checked, and its findings printed.
 *
 * Findings come out when the document is over: only then are they in order and counted. A
 * document that cannot be read to its end still has those of what was read before.
 */
#include "check.h"

#include "check_document.h"
#include "check_findings.h"
#include "errors.h"
#include "json.h"
#include "problem.h"
#include "votable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void check_print_codes(void) {
    for (int i = 0; i < FINDING_CODES; i++)
        printf("%s %-7s %s\n", finding_name((enum finding_code)i),
               finding_is_error((enum finding_code)i) ? "error" : "warning",
               finding_summary((enum finding_code)i));
}

static const char *severity(const struct finding *finding) {
    return finding_is_error(finding->code) ? "error" : "warning";
}

static void print_lines(const char *path, const struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        printf("%s:%" PRIu64 ": %s %s: %s", path, finding->lineno, severity(finding),
               finding_name(finding->code), finding->text);
        if (finding->count > 1)
            printf(" (and %" PRIu64 " more like it)", finding->count - 1);
        putchar('\n');
    }
}

static void print_string(const char *text) {
    json_text(&(struct json){.stream = stdout, .compact = true}, NULL, text);
}

static void print_json(const char *path, const struct findings *findings,
                       const struct check_document *document) {
    printf("{\"file\": ");
    print_string(path);
    printf(", \"version\": \"%s\", \"complete\": %s, \"findings\": [",
           schema_version_name(document->version),
           document->problem->code == 0 ? "true" : "false");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        printf(
            "%s{\"line\": %" PRIu64 ", \"severity\": \"%s\", \"code\": \"%s\", \"element\": ",
            i > 0 ? ", " : "", finding->lineno, severity(finding), finding_name(finding->code));
        print_string(finding->element < SCHEMA_ELEMENTS ? schema_element_name(finding->element)
                                                        : "");
        printf(", \"count\": %" PRIu64 ", \"text\": ", finding->count);
        print_string(finding->text);
        putchar('}');
    }
    printf("]}\n");
}

static enum exit_code report(const char *path, const struct check_options *options,
                             struct check_document *document) {
    const struct problem *problem = document->problem;
    findings_sort(&document->findings);
    if (options->json)
        print_json(path, &document->findings, document);
    else
        print_lines(path, &document->findings);
    if (fflush(stdout) != 0) {
        complain("standard output cannot be written");
        return EXIT_CODE_TROUBLE;
    }
    if (document->findings.dropped > 0)
        complain_at(path, 0, "%" PRIu64 " more findings are not shown",
                    document->findings.dropped);
    if (problem->code != 0) {
        complain_at(path, problem->lineno, "%s", problem->text);
        return EXIT_CODE_TROUBLE;
    }
    return document->findings.total > 0 ? EXIT_CODE_REGRESSION : EXIT_CODE_OK;
}

int check_run(const char *path, const struct check_options *options) {
    struct problem problem = {0};
    struct check_document *document = calloc(1, sizeof(*document));
    if (document == NULL) {
        complain_at(path, 0, "memory ran out, free some");
        return EXIT_CODE_TROUBLE;
    }
    votable_library_init();
    document->findings.all = options->all;
    check_document_init(document, &options->limits, &problem);
    check_xml_read(path, document);
    enum exit_code code = report(path, options, document);
    check_document_finish(document);
    free(document);
    votable_library_finish();
    return code;
}
