/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c: the two ways to treat a STREAM, side by side.
 *
 * Collecting is what astropy did until 2026 and what most readers still do: the whole text in a
 * buffer that doubles, the whole decoded data beside it, then the table. Decoding at once holds
 * one piece. The functions that allocate are not inlined, so that a memory report names them.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM_MIN 65536

int stream_init(struct stream *stream, struct column *columns, size_t column_count,
                bool with_flags, bool collect, uint64_t lineno, struct problem *problem) {
    stream->collect = collect;
    stream->problem = problem;
    stream->text = NULL;
    stream->text_bytes = 0;
    stream->text_room = 0;
    base64_decoder_init(&stream->decoder, lineno);
    return binary_rows_init(&stream->rows, columns, column_count, with_flags, lineno, problem);
}

void stream_finish(struct stream *stream) {
    free(stream->text);
    stream->text = NULL;
    binary_rows_finish(&stream->rows);
}

/* Decode and unpack piece by piece. Allocates nothing but the columns' chunks. */
static int stream_rows_decode(struct stream *stream, const char *text, size_t length) {
    while (length > 0) {
        size_t piece = length < STREAM_PIECE_BYTES ? length : STREAM_PIECE_BYTES;
        size_t bytes;
        int r = base64_decode(&stream->decoder, text, piece, stream->decoded, &bytes,
                              stream->problem);
        if (r < 0)
            return r;
        r = binary_rows_push(&stream->rows, stream->decoded, bytes);
        if (r < 0)
            return r;
        text += piece;
        length -= piece;
    }
    return 0;
}

__attribute__((noinline)) static int stream_text_append(struct stream *stream, const char *text,
                                                        size_t length) {
    size_t needed;
    if (__builtin_add_overflow(stream->text_bytes, length, &needed))
        return problem_set_memory(stream->problem);
    if (needed > stream->text_room) {
        size_t room = stream->text_room == 0 ? TEXT_ROOM_MIN : stream->text_room;
        while (room < needed)
            if (__builtin_mul_overflow(room, 2, &room))
                return problem_set_memory(stream->problem);
        char *grown = realloc(stream->text, room);
        if (grown == NULL)
            return problem_set_memory(stream->problem);
        stream->text = grown;
        stream->text_room = room;
    }
    memcpy(stream->text + stream->text_bytes, text, length);
    stream->text_bytes = needed;
    return 0;
}

/* The whole text at once; text and data are both held until every row is unpacked. */
__attribute__((noinline)) static int stream_text_decode(struct stream *stream) {
    unsigned char *data = malloc(BASE64_DECODED_BYTES(stream->text_bytes));
    if (data == NULL)
        return problem_set_memory(stream->problem);
    size_t bytes;
    int r = base64_decode(&stream->decoder, stream->text, stream->text_bytes, data, &bytes,
                          stream->problem);
    if (r == 0)
        r = binary_rows_push(&stream->rows, data, bytes);
    free(data);
    return r;
}

int stream_push(struct stream *stream, const char *text, size_t length) {
    return stream->collect ? stream_text_append(stream, text, length)
                           : stream_rows_decode(stream, text, length);
}

int stream_end(struct stream *stream, uint64_t *ret_rows) {
    int r = stream->text_bytes > 0 ? stream_text_decode(stream) : 0;
    if (r < 0)
        return r;
    r = base64_decoder_end(&stream->decoder, stream->problem);
    if (r < 0)
        return r;
    r = binary_rows_end(&stream->rows);
    if (r < 0)
        return r;
    *ret_rows = stream->rows.rows;
    return 0;
}
