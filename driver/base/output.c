/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.c: buffered writing with one place for errors.
 *
 * A full disk is found out when the buffer is written, deep inside a row; so errors are kept
 * and the rows go on into a buffer that is thrown away, until somebody asks.
 */
#include "output.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct output_gzip {
    z_stream stream;
    unsigned char packed[16384];
};

static int complain_write(const struct output *output, int error, struct problem *problem) {
    if (error == -ENOMEM)
        return problem_set_memory(problem);
    bool full = error == -ENOSPC || error == -EDQUOT;
    return problem_set(problem, error, 0, "cannot be written: %s, %swrite elsewhere",
                       strerror(-error), full ? "free some space or " : "");
}

/* Create the temporary file beside the file it will replace. */
static int open_temporary(struct output *output, const char *path) {
    output->path = realpath(path, NULL);
    if (output->path == NULL && errno != ENOENT)
        return -errno;
    if (output->path == NULL)
        output->path = strdup(path);
    if (output->path == NULL)
        return -ENOMEM;
    if (asprintf(&output->temporary, "%s.%d.part", output->path, (int)getpid()) < 0) {
        output->temporary = NULL;
        return -ENOMEM;
    }
    cleanup_add(output->temporary);
    output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->fd >= 0)
        return 0;
    int error = -errno;
    cleanup_remove(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return error;
}

/* Not the buffer: it need not be touched before it is filled. */
static void clear(struct output *output) {
    output->fd = -1;
    output->gzip = NULL;
    output->written = 0;
    output->path = NULL;
    output->temporary = NULL;
    output->error = 0;
    output->used = 0;
}

static bool is_gzip_name(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* A header without name and time, so that the same values give the same bytes. */
static int open_gzip(struct output *output) {
    output->gzip = calloc(1, sizeof(*output->gzip));
    if (output->gzip == NULL)
        return -ENOMEM;
    if (deflateInit2(&output->gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return 0;
    free(output->gzip);
    output->gzip = NULL;
    return -ENOMEM;
}

int output_open(struct output *ret_output, const char *path, struct problem *problem) {
    struct output *output = ret_output;
    struct stat status;
    int r = 0;
    clear(output);

    if (strcmp(path, "-") == 0)
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        r = open_temporary(output, path);
    if (r == 0 && output->fd < 0)
        r = -errno;
    if (r == 0 && is_gzip_name(path))
        r = open_gzip(output);
    if (r < 0) {
        output_abandon(output);
        return complain_write(output, r, problem);
    }
    return 0;
}

static void write_bytes(struct output *output, const void *bytes, size_t length) {
    const char *from = bytes;
    while (output->error == 0 && length > 0) {
        ssize_t n = write(output->fd, from, length);
        if (n > 0) {
            from += n;
            length -= (size_t)n;
        } else if (n < 0 && errno != EINTR) {
            output->error = -errno;
        }
    }
}

static void write_packed(struct output *output, int flush) {
    struct output_gzip *gzip = output->gzip;
    gzip->stream.next_in = (unsigned char *)output->buffer;
    gzip->stream.avail_in = (unsigned)output->used;
    do {
        gzip->stream.next_out = gzip->packed;
        gzip->stream.avail_out = sizeof(gzip->packed);
        deflate(&gzip->stream, flush);
        write_bytes(output, gzip->packed, sizeof(gzip->packed) - gzip->stream.avail_out);
    } while (gzip->stream.avail_out == 0);
}

void output_flush(struct output *output) {
    if (output->gzip != NULL)
        write_packed(output, Z_NO_FLUSH);
    else
        write_bytes(output, output->buffer, output->used);
    output->written += output->used;
    output->used = 0;
}

int output_open_spool(struct output *ret_output, struct problem *problem) {
    clear(ret_output);
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
    char *path;
    if (asprintf(&path, "%s/votdriver.XXXXXX", folder) < 0)
        return problem_set_memory(problem);
    ret_output->fd = mkostemp(path, O_CLOEXEC);
    int error = -errno;
    if (ret_output->fd >= 0)
        unlink(path);
    free(path);
    if (ret_output->fd >= 0)
        return 0;
    return problem_set(problem, error, 0,
                       "a temporary file cannot be made in '%s': %s, set TMPDIR to a folder "
                       "with room",
                       folder, strerror(-error));
}

int output_replay(struct output *spool,
                  void (*take)(void *context, const char *bytes, size_t length), void *context,
                  struct problem *problem) {
    output_flush(spool);
    uint64_t left = spool->written;
    if (spool->error == 0 && lseek(spool->fd, 0, SEEK_SET) != 0)
        spool->error = -errno;
    while (spool->error == 0 && left > 0) {
        ssize_t n = read(spool->fd, spool->buffer, sizeof(spool->buffer));
        if (n > 0) {
            take(context, spool->buffer, (size_t)n);
            left -= (uint64_t)n;
        } else if (n == 0) {
            spool->error = -EIO;
        } else if (errno != EINTR) {
            spool->error = -errno;
        }
    }
    if (spool->error == 0)
        return 0;
    return problem_set(problem, spool->error, 0,
                       "rows cannot be kept in a temporary file: %s, set TMPDIR to a folder "
                       "with room",
                       strerror(-spool->error));
}

int output_commit(struct output *output, struct problem *problem) {
    if (output->gzip != NULL)
        write_packed(output, Z_FINISH);
    else
        output_flush(output);
    /* Some file systems report a failed write only when the file is closed. */
    if (close(output->fd) < 0 && output->error == 0)
        output->error = -errno;
    output->fd = -1;
    if (output->error == 0 && output->temporary != NULL &&
        rename(output->temporary, output->path) < 0)
        output->error = -errno;
    if (output->error < 0)
        return complain_write(output, output->error, problem);
    if (output->temporary != NULL)
        cleanup_remove(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return 0;
}

void output_abandon(struct output *output) {
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary != NULL) {
        unlink(output->temporary);
        cleanup_remove(output->temporary);
    }
    if (output->gzip != NULL)
        deflateEnd(&output->gzip->stream);
    free(output->gzip);
    output->gzip = NULL;
    free(output->temporary);
    free(output->path);
    output->fd = -1;
    output->temporary = NULL;
    output->path = NULL;
}

void output_long_text(struct output *output, const char *text, size_t length) {
    while (length > 0) {
        size_t piece = length < OUTPUT_BUFFER_BYTES ? length : OUTPUT_BUFFER_BYTES;
        memcpy(output_room(output, piece), text, piece);
        output_keep(output, piece);
        text += piece;
        length -= piece;
    }
}

void output_format(struct output *output, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length > 0)
        output_text(output, line,
                    (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}
