/* SPDX-License-Identifier: BSD-3-Clause */
/* outfile.c: write beside, then rename. Errors of stdio stick to the stream until the end. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int outfile_fault(struct fault *fault, int error) {
    bool full = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
    return fault_set(fault, error, "cannot be written: %s, %swrite elsewhere", strerror(-error),
                     full ? "free some space or " : "");
}

/* Create the new file beside the one it will replace. */
static int open_temporary(struct outfile *file, const char *path) {
    file->path = realpath(path, NULL);
    if (!file->path && errno != ENOENT)
        return -errno;
    if (!file->path)
        file->path = strdup(path);
    if (!file->path)
        return -ENOMEM;
    char *temporary;
    if (asprintf(&temporary, "%s.%d.part", file->path, (int)getpid()) < 0)
        return -ENOMEM;
    file->temporary = temporary;
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    file->stream = fdopen(fd, "w");
    if (file->stream)
        return 0;
    close(fd);
    unlink(file->temporary);
    return -ENOMEM;
}

static void outfile_free(struct outfile *file) {
    free(file->path);
    free(file->temporary);
    *file = (struct outfile){0};
}

int outfile_open(const char *path, struct outfile *ret_file, struct fault *fault) {
    struct outfile file = {0};
    struct stat status;
    int r = 0;
    if (!path || strcmp(path, "-") == 0) {
        file.stream = stdout;
    } else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file.stream = fopen(path, "we");
        r = file.stream ? 0 : -errno;
    } else {
        r = open_temporary(&file, path);
    }
    if (r < 0) {
        outfile_free(&file);
        return outfile_fault(fault, r);
    }
    *ret_file = file;
    return 0;
}

/* Returns the first error of the stream, which is closed unless it is standard output. */
static int outfile_close(struct outfile *file) {
    errno = 0;
    bool failed = fflush(file->stream) != 0 || ferror(file->stream);
    /* Some file systems report a failed write only when the file is closed. */
    if (file->stream != stdout && fclose(file->stream) != 0)
        failed = true;
    file->stream = NULL;
    return !failed ? 0 : errno != 0 ? -errno : -EIO;
}

int outfile_commit(struct outfile *file, struct fault *fault) {
    int r = outfile_close(file);
    if (r == 0 && file->temporary && rename(file->temporary, file->path) < 0)
        r = -errno;
    if (r < 0 && file->temporary)
        unlink(file->temporary);
    outfile_free(file);
    return r < 0 ? outfile_fault(fault, r) : 0;
}

void outfile_abandon(struct outfile *file) {
    (void)outfile_close(file);
    if (file->temporary)
        unlink(file->temporary);
    outfile_free(file);
}
