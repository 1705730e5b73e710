/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.c: buffered writing with one place for errors.
 *
 * A full disk is found out when the buffer is written, deep inside a row; so errors are kept
 * and the rows go on into a buffer that is thrown away, until somebody asks.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (output->path == NULL && errno == ENOENT)
        output->path = strdup(path);
    if (output->path == NULL)
        return -errno;
    if (asprintf(&output->temporary, "%s.%d.part", output->path, (int)getpid()) < 0) {
        output->temporary = NULL;
        return -ENOMEM;
    }
    output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->fd >= 0)
        return 0;
    int error = -errno;
    free(output->temporary);
    output->temporary = NULL;
    return error;
}

int output_open(struct output *ret_output, const char *path, struct problem *problem) {
    struct output *output = ret_output;
    struct stat status;
    int r = 0;
    output->fd = -1;
    output->path = NULL;
    output->temporary = NULL;
    output->error = 0;
    output->used = 0;

    if (strcmp(path, "-") == 0)
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        r = open_temporary(output, path);
    if (r == 0 && output->fd < 0)
        r = -errno;
    if (r < 0) {
        output_abandon(output);
        return complain_write(output, r, problem);
    }
    return 0;
}

static void flush_buffer(struct output *output) {
    size_t written = 0;
    while (output->error == 0 && written < output->used) {
        ssize_t n = write(output->fd, output->buffer + written, output->used - written);
        if (n > 0)
            written += (size_t)n;
        else if (n < 0 && errno != EINTR)
            output->error = -errno;
    }
    output->used = 0;
}

int output_commit(struct output *output, struct problem *problem) {
    flush_buffer(output);
    /* Some file systems report a failed write only when the file is closed. */
    if (close(output->fd) < 0 && output->error == 0)
        output->error = -errno;
    output->fd = -1;
    if (output->error == 0 && output->temporary != NULL &&
        rename(output->temporary, output->path) < 0)
        output->error = -errno;
    if (output->error < 0)
        return complain_write(output, output->error, problem);
    free(output->temporary);
    output->temporary = NULL;
    return 0;
}

void output_abandon(struct output *output) {
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary != NULL)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    output->fd = -1;
    output->temporary = NULL;
    output->path = NULL;
}

char *output_room(struct output *output, size_t bytes) {
    if (sizeof(output->buffer) - output->used < bytes)
        flush_buffer(output);
    return output->buffer + output->used;
}

void output_text(struct output *output, const char *text, size_t length) {
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
