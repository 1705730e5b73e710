/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_cells.c: any text as a cell of TABLEDATA.
 *
 *     | datatype | arraysize | the text of the TD ...
 *
 * The text is in the second row: behind the first, `stream` takes plain rows without the parser.
 *
 * Properties: no strategy differs; --strict refuses what check calls no value, and check has
 * something to say of what --strict refuses. The two read literals by themselves.
 */
#include "corpus.h"
#include "document.h"

#include <stdlib.h>

static void judge(const struct document *document, bool boolean) {
    bool codes[FINDING_CODES];
    struct problem problem;
    struct problem other;
    if (document_check(document, codes) != 0)
        return; /* no XML: fuzz_votable's business */
    bool accepted = document_read(document, STRATEGY_STREAM, true, &problem) != 0;
    bool wrong = codes[FINDING_C01] || codes[FINDING_C02] || codes[FINDING_C03];
    /* Booleans without blanks between, TFFT, are read by all. */
    require(!(accepted && wrong && !boolean), "read with --strict, but check finds an error",
            &problem);
    bool said = false;
    for (int i = FINDING_C01; i < FINDING_T01; i++)
        said = said || codes[i];
    require(accepted || said, "refused with --strict, but check finds nothing", &problem);

    uint64_t hash = document_read(document, STRATEGY_STREAM, false, &problem);
    for (int i = STRATEGY_BUFFER; i < STRATEGIES; i++)
        require(document_read(document, (enum strategy)i, false, &other) == hash,
                strategy_name((enum strategy)i), &problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct document_text text = {0};
    struct document document;
    if (size < 2)
        return 0;
    document_text_print(&text, "<VOTABLE version=\"1.6\" "
                               "xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\"><RESOURCE>"
                               "<TABLE>");
    document_text_field(&text, 0, data[0], data[1]);
    document_text_print(&text, "</FIELD><DATA><TABLEDATA>\n"
                               "<TR><TD></TD></TR>\n<TR><TD>");
    document_text_escape(&text, data + 2, size - 2);
    document_text_print(&text, "</TD></TR>\n</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>");
    document_open(&document, text.bytes, text.length);
    judge(&document, data[0] % FIELD_TYPES == FIELD_BOOLEAN);
    document_close(&document);
    free(text.bytes);
    return 0;
}
