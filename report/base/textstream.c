/* SPDX-License-Identifier: BSD-3-Clause */
/* textstream.c: open_memstream(), whose text is to be freed even where closing it fails. */
#include "textstream.h"

#include <stdlib.h>

FILE *textstream_begin(struct textstream *text) {
    *text = (struct textstream){0};
    text->stream = open_memstream(&text->bytes, &text->size);
    return text->stream;
}

char *textstream_take(struct textstream *text) {
    if (fclose(text->stream) == 0)
        return text->bytes;
    free(text->bytes);
    return NULL;
}
