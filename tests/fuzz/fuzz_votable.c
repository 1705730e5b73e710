/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_votable.c: any bytes as a document, in every strategy.
 *
 * Properties: no crash, no leak, no limit passed; a refusal has a text; the strategies agree on
 * the tables, and on whether there are any.
 */
#include "corpus.h"
#include "document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct document document;
    struct problem first;
    document_open(&document, data, size);
    uint64_t hash = document_read(&document, STRATEGY_STREAM, false, &first);
    for (int i = STRATEGY_BUFFER; i < STRATEGIES; i++) {
        struct problem problem;
        uint64_t other = document_read(&document, (enum strategy)i, false, &problem);
        require(other == hash, strategy_name((enum strategy)i),
                first.code != 0 ? &first : &problem);
    }
    document_close(&document);
    return 0;
}
