/* SPDX-License-Identifier: BSD-3-Clause */
/* infile.c: read() until there is no more. */
#include "infile.h"

#include <errno.h>
#include <unistd.h>

int infile_take(int fd, void *ret_bytes, size_t most, size_t *ret_taken) {
    char *bytes = ret_bytes;
    size_t taken = 0;
    while (taken < most) {
        ssize_t n = read(fd, bytes + taken, most - taken);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        taken += (size_t)n;
    }
    *ret_taken = taken;
    return 0;
}
