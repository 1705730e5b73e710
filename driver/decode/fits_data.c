/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_data.c: a STREAM's FITS file on its way to the reader of FITS.
 *
 * The reader takes plain files only. Compressed ones are unpacked into a file without a name,
 * which is as large as it has to be and is gone with the program.
 */
#include "fits_data.h"

#include "base64.h"
#include "fits_read.h"
#include "output.h"
#include "warnings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE_BYTES 16384

static int complain_gzip(uint64_t lineno, struct problem *problem) {
    return problem_set(problem, -EBADMSG, lineno,
                       "the compressed FITS file is damaged or cut short, fetch or write it "
                       "again");
}

/* More of the file, when all that was there is unpacked. @fd -1: there is no more. */
static void refill(z_stream *stream, int fd, unsigned char packed[PIECE_BYTES]) {
    if (stream->avail_in > 0 || fd < 0)
        return;
    ssize_t n = read(fd, packed, PIECE_BYTES);
    stream->next_in = packed;
    stream->avail_in = n > 0 ? (unsigned)n : 0;
}

/* Unpack everything that @stream has or gets from @fd into @spool. */
static int unpack(z_stream *stream, int fd, struct output *spool, uint64_t lineno,
                  struct problem *problem) {
    unsigned char packed[PIECE_BYTES];
    unsigned char plain[PIECE_BYTES];
    int state = Z_OK;
    while (state == Z_OK) {
        refill(stream, fd, packed);
        stream->next_out = plain;
        stream->avail_out = sizeof(plain);
        state = stream->avail_in > 0 ? inflate(stream, Z_NO_FLUSH) : Z_BUF_ERROR;
        output_text(spool, (const char *)plain, sizeof(plain) - stream->avail_out);
    }
    stream->next_in = NULL;
    stream->next_out = NULL;
    if (state == Z_MEM_ERROR)
        return problem_set_memory(problem);
    return state == Z_STREAM_END ? 0 : complain_gzip(lineno, problem);
}

static int complain_spool(int error, uint64_t lineno, struct problem *problem) {
    return problem_set(problem, error, lineno,
                       "the FITS file cannot be kept in a temporary file: %s, set TMPDIR to a "
                       "folder with room",
                       strerror(-error));
}

static int read_spooled(struct fits_source *source, struct output *spool, struct table *table,
                        const struct consumer *consumer, struct problem *problem) {
    char path[32];
    output_flush(spool);
    if (spool->error < 0)
        return complain_spool(spool->error, source->lineno, problem);
    snprintf(path, sizeof(path), "/dev/fd/%d", spool->fd);
    source->path = path;
    source->bytes = NULL;
    return fits_read_table(source, table, consumer, problem);
}

/* @bytes are the first of the compressed data, @fd has the rest. */
static int read_packed(struct fits_source *source, const unsigned char *bytes, size_t length,
                       int fd, struct table *table, const struct consumer *consumer,
                       struct problem *problem) {
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes,
                       .avail_in = (unsigned)length};
    struct output *spool = malloc(sizeof(*spool));
    if (spool == NULL)
        return problem_set_memory(problem);
    int r = output_open_spool(spool, problem);
    if (r < 0)
        goto out;
    if (inflateInit2(&stream, 15 + 16) != Z_OK) {
        r = problem_set_memory(problem);
    } else {
        r = unpack(&stream, fd, spool, source->lineno, problem);
        inflateEnd(&stream);
    }
    if (r == 0)
        r = read_spooled(source, spool, table, consumer, problem);
    output_abandon(spool);
out:
    free(spool);
    return r;
}

static bool is_gzip(const unsigned char *bytes, size_t length) {
    return length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

int fits_data_read_memory(const unsigned char *bytes, size_t length, unsigned extnum,
                          uint64_t lineno, struct table *table, const struct consumer *consumer,
                          struct problem *problem) {
    struct fits_source source = {
        .bytes = bytes, .length = length, .extnum = extnum, .lineno = lineno};
    if (is_gzip(bytes, length) && length <= UINT32_MAX)
        return read_packed(&source, bytes, length, -1, table, consumer, problem);
    return fits_read_table(&source, table, consumer, problem);
}

int fits_data_read_file(const char *path, unsigned extnum, uint64_t lineno, struct table *table,
                        const struct consumer *consumer, struct problem *problem) {
    struct fits_source source = {.path = path, .extnum = extnum, .lineno = lineno};
    unsigned char start[2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int r;
    if (fd >= 0 && pread(fd, start, 2, 0) == 2 && is_gzip(start, 2))
        r = read_packed(&source, start, 0, fd, table, consumer, problem);
    else
        r = fits_read_table(&source, table, consumer, problem);
    if (fd >= 0)
        close(fd);
    return r;
}

struct fits_spool {
    struct base64_decoder decoder;
    struct warnings *warnings;
    struct problem *problem;
    uint64_t lineno;
    struct output output;
    unsigned char decoded[BASE64_DECODED_BYTES(PIECE_BYTES)];
};

int fits_spool_new(uint64_t lineno, struct warnings *warnings, struct problem *problem,
                   struct fits_spool **ret_spool) {
    struct fits_spool *spool = malloc(sizeof(*spool));
    if (spool == NULL)
        return problem_set_memory(problem);
    base64_decoder_init(&spool->decoder, lineno);
    spool->warnings = warnings;
    spool->problem = problem;
    spool->lineno = lineno;
    int r = output_open_spool(&spool->output, problem);
    if (r < 0) {
        free(spool);
        return r;
    }
    *ret_spool = spool;
    return 0;
}

int fits_spool_push(struct fits_spool *spool, const char *text, size_t length) {
    while (length > 0) {
        size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;
        size_t bytes;
        int r =
            base64_decode(&spool->decoder, text, piece, spool->decoded, &bytes, spool->problem);
        if (r < 0)
            return r;
        output_text(&spool->output, (const char *)spool->decoded, bytes);
        text += piece;
        length -= piece;
    }
    return 0;
}

/* What is inline may be compressed as well. */
int fits_spool_read(struct fits_spool *spool, unsigned extnum, struct table *table,
                    const struct consumer *consumer) {
    char path[32];
    size_t rest = 0;
    int r = warnings_end_base64(spool->warnings, spool->problem, &spool->decoder,
                                spool->decoded, &rest);
    if (r < 0)
        return r;
    output_text(&spool->output, (const char *)spool->decoded, rest);
    output_flush(&spool->output);
    if (spool->output.error < 0)
        return complain_spool(spool->output.error, spool->lineno, spool->problem);
    if (spool->output.written == 0)
        return 0;
    snprintf(path, sizeof(path), "/dev/fd/%d", spool->output.fd);
    return fits_data_read_file(path, extnum, spool->lineno, table, consumer, spool->problem);
}

void fits_spool_free(struct fits_spool *spool) {
    if (spool == NULL)
        return;
    output_abandon(&spool->output);
    free(spool);
}
