/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_rows.c: any bytes as the rows of a stream, and any text as its base64.
 *
 *     | kind | FIELDs, 1 to 4 | datatype, arraysize | ... | bytes, or text ...
 *       bit 0: BINARY2; bit 1: the rest is text already
 *
 * Properties: no strategy differs; what --strict reads has no error for check.
 */
#include "base64.h"
#include "corpus.h"
#include "document.h"

#include <stdlib.h>

static void judge(const struct document *document) {
    bool codes[FINDING_CODES];
    struct problem problem;
    struct problem other;
    if (document_check(document, codes) != 0)
        return; /* no XML */
    uint64_t hash = document_read(document, STRATEGY_STREAM, false, &problem);
    for (int i = STRATEGY_BUFFER; i < STRATEGIES; i++)
        require(document_read(document, (enum strategy)i, false, &other) == hash,
                strategy_name((enum strategy)i), &problem);

    bool accepted = document_read(document, STRATEGY_STREAM, true, &problem) != 0;
    codes[FINDING_C08] = false; /* halves of characters are kept as they are */
    codes[FINDING_B06] = false; /* of strings the last one may be shorter */
    codes[FINDING_B10] = false; /* no text is no rows */
    codes[FINDING_F02] = false; /* dimensions that check does not judge alike */
    enum finding_code error = document_first_error(codes);
    require(!accepted || error == FINDING_CODES,
            error == FINDING_CODES ? "" : finding_name(error), &problem);
}

static void add_stream(struct document_text *text, bool is_text, const uint8_t *data,
                       size_t size) {
    if (is_text) {
        document_text_escape(text, data, size);
        return;
    }
    char *encoded = malloc(BASE64_ENCODED_BYTES(size) + 1);
    if (encoded == NULL)
        abort();
    document_text_add(text, encoded, base64_encode(data, size, encoded));
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct document_text text = {0};
    struct document document;
    if (size < 2 || size < 2 + 2 * (size_t)(data[1] % 4 + 1))
        return 0;
    unsigned fields = data[1] % 4 + 1;
    const char *serialization = (data[0] & 1) != 0 ? "BINARY2" : "BINARY";
    document_text_print(&text, "<VOTABLE version=\"1.6\" "
                               "xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\"><RESOURCE>"
                               "<TABLE>");
    for (unsigned i = 0; i < fields; i++) {
        document_text_field(&text, i, data[2 + 2 * i], data[3 + 2 * i]);
        document_text_print(&text, "</FIELD>\n");
    }
    document_text_print(&text, "<DATA><%s><STREAM encoding=\"base64\">", serialization);
    size_t used = 2 + 2 * (size_t)fields;
    add_stream(&text, (data[0] & 2) != 0, data + used, size - used);
    document_text_print(&text, "</STREAM></%s></DATA></TABLE></RESOURCE></VOTABLE>",
                        serialization);
    document_open(&document, text.bytes, text.length);
    judge(&document);
    document_close(&document);
    free(text.bytes);
    return 0;
}
