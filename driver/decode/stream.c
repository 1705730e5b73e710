/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c: the two ways to treat a STREAM, side by side.
 *
 * Collecting is what astropy did until 2026 and what most readers still do: the whole text in a
 * buffer that doubles, the whole decoded data beside it, then the table. Decoding at once holds
 * one piece. The functions that allocate are not inlined, so that a memory report names them.
 */
#include "stream.h"

#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM_MIN 65536

/* Between two rows: those that are complete may be taken. */
static int stream_rows_done(void *context, uint64_t rows) {
    struct stream *stream = context;
    stream->table->rows = rows;
    return consumer_rows_done(stream->consumer, stream->table, stream->problem);
}

int stream_init(struct stream *stream, struct table *table, const struct consumer *consumer,
                bool collect, uint64_t lineno, struct warnings *warnings,
                struct problem *problem) {
    stream->collect = collect;
    stream->table = table;
    stream->consumer = consumer;
    stream->warnings = warnings;
    stream->problem = problem;
    stream->text = NULL;
    stream->text_bytes = 0;
    stream->text_room = 0;
    base64_decoder_init(&stream->decoder, lineno);
    int r = binary_rows_init(&stream->rows, table->columns, table->field_count,
                             table->serialization == SERIALIZATION_BINARY2, lineno, problem);
    stream->rows.row_limit = table->row_limit;
    if (consumer->rows != NULL) {
        stream->rows.rows_done = stream_rows_done;
        stream->rows.context = stream;
    }
    return r;
}

void stream_finish(struct stream *stream) {
    free(stream->text);
    stream->text = NULL;
    binary_rows_finish(&stream->rows);
}

/* Decode and unpack piece by piece. Allocates nothing but the columns' chunks. */
static int stream_rows_decode(struct stream *stream, const char *text, size_t length) {
    while (length > 0 && !stream->rows.enough) {
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

/* Bytes as they are, without base64: the file of an href. */
static int stream_bytes_push(struct stream *stream, const char *bytes, size_t length) {
    return binary_rows_push(&stream->rows, (const unsigned char *)bytes, length);
}

/* Whose problem it is: the document's, at the STREAM that names the file. */
static int stream_file_problem(const struct problem *of_file, const char *path, uint64_t lineno,
                               struct problem *problem) {
    if (of_file->code == -ENOMEM)
        return problem_set_memory(problem);
    return problem_set(problem, of_file->code, lineno, "STREAM href '%.200s' %s", path,
                       of_file->text);
}

int stream_read_file(struct stream *stream, const char *path, bool base64, uint64_t lineno) {
    struct problem of_file = {0};
    struct input input;
    char piece[16384];
    size_t bytes = 1;
    int r = input_open_regular(path, &input, &of_file);
    if (r < 0)
        return stream_file_problem(&of_file, path, lineno, stream->problem);
    while (r == 0 && bytes > 0 && !stream->rows.enough) {
        r = input_read(&input, piece, sizeof(piece), &bytes, &of_file);
        if (r < 0)
            r = stream_file_problem(&of_file, path, lineno, stream->problem);
        else
            r = base64 ? stream_push(stream, piece, bytes)
                       : stream_bytes_push(stream, piece, bytes);
    }
    input_close(&input);
    return r;
}

/* Base64 without padding ends with bytes that are still to come. */
static int stream_text_end(struct stream *stream) {
    unsigned char rest[4];
    size_t bytes;
    int r =
        warnings_end_base64(stream->warnings, stream->problem, &stream->decoder, rest, &bytes);
    return r == 0 ? binary_rows_push(&stream->rows, rest, bytes) : r;
}

int stream_end(struct stream *stream) {
    int r = stream->text_bytes > 0 ? stream_text_decode(stream) : 0;
    if (r == 0 && !stream->rows.enough)
        r = stream_text_end(stream);
    if (r == 0)
        r = binary_rows_end(&stream->rows);
    if (r == 0)
        stream->table->rows = stream->rows.rows;
    return r;
}
