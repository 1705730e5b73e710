/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.c: files, pipes, and gzip by content rather than by name.
 *
 * The file is opened here and given to zlib as a descriptor: gzopen() would allocate a copy of
 * the path, and what a parse allocates must not depend on where the file lies.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_BUFFER_BYTES 16384

static int open_descriptor(const char *path, int *ret_fd, struct problem *problem) {
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return problem_set(problem, -errno, 0, "cannot be opened: %s, give a readable file",
                           strerror(errno));
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return problem_set(problem, -EISDIR, 0, "is a directory, give a file");
    }
    *ret_fd = fd;
    return 0;
}

int input_open(const char *path, struct input *ret_input, struct problem *problem) {
    int fd = -1;
    int r = open_descriptor(path, &fd, problem);
    if (r < 0)
        return r;
    gzFile gz = gzdopen(fd, "rb");
    if (gz == NULL) {
        close(fd);
        return problem_set_memory(problem);
    }
    gzbuffer(gz, GZIP_BUFFER_BYTES);
    ret_input->gz = gz;
    return 0;
}

void input_close(struct input *input) {
    gzclose_r(input->gz);
    input->gz = NULL;
}

static int complain_read(struct input *input, struct problem *problem) {
    int error;
    int saved = errno;
    const char *text = gzerror(input->gz, &error);
    switch (error) {
    case Z_ERRNO:
        return problem_set(problem, saved > 0 ? -saved : -EIO, 0,
                           "cannot be read: %s, try again or copy the file", strerror(saved));
    case Z_MEM_ERROR:
        return problem_set_memory(problem);
    case Z_BUF_ERROR:
        return problem_set(problem, -EBADMSG, 0,
                           "the gzip data are cut short, fetch the file again");
    default: {
        /* zlib writes "<fd:N>: " before its words. */
        const char *words = strstr(text, ": ");
        return problem_set(problem, -EBADMSG, 0,
                           "the gzip data are damaged (%s), fetch the file again",
                           words != NULL ? words + 2 : text);
    }
    }
}

int input_read(struct input *input, char *buffer, unsigned size, size_t *ret_bytes,
               struct problem *problem) {
    errno = 0;
    int bytes = gzread(input->gz, buffer, size);
    int error = Z_OK;
    if (bytes >= 0 && (unsigned)bytes < size)
        gzerror(input->gz, &error);
    if (bytes < 0 || (error != Z_OK && error != Z_STREAM_END))
        return complain_read(input, problem);
    *ret_bytes = (size_t)bytes;
    return 0;
}
