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
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_BUFFER_BYTES 16384
#define WRITER_WAIT_MS    10000

/*
 * A pipe in the file system whose other end nobody has opened: wait for somebody, but not for
 * ever and not in silence. It was opened without blocking; from here on it blocks.
 */
static int wait_for_writer(int fd, struct problem *problem) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&wait, 1, WRITER_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return problem_set(problem, -ETIMEDOUT, 0,
                           "is a pipe that nobody has written to for %d seconds, start its "
                           "writer first",
                           WRITER_WAIT_MS / 1000);
    int flags = fcntl(fd, F_GETFL);
    if (ready < 0 || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return problem_set(problem, -errno, 0, "cannot be read: %s, try again or copy the file",
                           strerror(errno));
    return 0;
}

static int check_kind(int fd, bool only_regular, struct problem *problem) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return 0;
    if (S_ISDIR(status.st_mode))
        return problem_set(problem, -EISDIR, 0, "is a directory, give a file");
    if (only_regular && !S_ISREG(status.st_mode))
        return problem_set(problem, -EINVAL, 0, "is no regular file, give one");
    return 0;
}

static int open_path(const char *path, bool only_regular, int *ret_fd,
                     struct problem *problem) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return problem_set(problem, -errno, 0, "cannot be opened: %s, give a readable file",
                           strerror(errno));
    int r = check_kind(fd, only_regular, problem);
    struct stat status;
    if (r == 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode))
        r = wait_for_writer(fd, problem);
    if (r < 0) {
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

static int open_standard_input(int *ret_fd, struct problem *problem) {
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return problem_set(problem, -errno, 0, "cannot be opened: %s, give a readable file",
                           strerror(errno));
    int r = check_kind(fd, false, problem);
    if (r < 0) {
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

static int open_gz(int fd, struct input *ret_input, struct problem *problem) {
    gzFile gz = gzdopen(fd, "rb");
    if (gz == NULL) {
        close(fd);
        return problem_set_memory(problem);
    }
    gzbuffer(gz, GZIP_BUFFER_BYTES);
    ret_input->gz = gz;
    return 0;
}

int input_open(const char *path, struct input *ret_input, struct problem *problem) {
    int fd = -1;
    int r = strcmp(path, "-") == 0 ? open_standard_input(&fd, problem)
                                   : open_path(path, false, &fd, problem);
    return r < 0 ? r : open_gz(fd, ret_input, problem);
}

int input_open_regular(const char *path, struct input *ret_input, struct problem *problem) {
    int fd = -1;
    int r = open_path(path, true, &fd, problem);
    return r < 0 ? r : open_gz(fd, ret_input, problem);
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
