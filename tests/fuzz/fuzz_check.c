/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_check.c: any bytes as a document for check.
 *
 * Properties: no crash, no leak; findings have a place and a text, in order; what is clean,
 * with not a warning, can be read with --strict.
 */
#include "corpus.h"
#include "document.h"

#include <errno.h>
#include <string.h>

/* FITS data and hrefs are not looked at by check. */
static bool has_other_data(const uint8_t *data, size_t size) {
    return memmem(data, size, "FITS", 4) != NULL || memmem(data, size, "href", 4) != NULL ||
           memmem(data, size, "encoding", 8) != NULL || (size > 1 && data[0] == 0x1f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct document document;
    bool codes[FINDING_CODES];
    document_open(&document, data, size);
    int r = document_check(&document, codes);
    bool clean = r == 0 && memchr(codes, true, sizeof(codes)) == NULL;
    if (clean && !has_other_data(data, size)) {
        struct problem problem;
        require(document_read(&document, STRATEGY_STREAM, true, &problem) != 0,
                "clean, but cannot be read", &problem);
    }
    document_close(&document);
    return 0;
}
