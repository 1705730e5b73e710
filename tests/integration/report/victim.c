/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * victim.c: a program whose memory is known to the byte.
 *
 * It keeps 1,000 bytes from before its region "parse", in which its first argument says how
 * many bytes are buffered on top; 5,000 are decoded, of which 2,000 stay. What it does then is
 * the second argument.
 */
#include <votrace.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void *buffer_rows(size_t bytes) {
    void *block = malloc(bytes);
    memset(block, 1, bytes);
    return block;
}

static NOINLINE void *map_rows(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static NOINLINE void *decode_rows(size_t bytes) {
    void *block = malloc(bytes);
    memset(block, 2, bytes);
    return block;
}

static NOINLINE void parse(size_t buffered_bytes, const char *then) {
    votrace_region_begin("parse");
    bool maps = strcmp(then, "map") == 0; /* the same rows, but not in the heap */
    void *mapped = maps ? map_rows(buffered_bytes) : NULL;
    void *buffer = buffered_bytes > 0 && !maps ? buffer_rows(buffered_bytes) : NULL;
    void *kept = decode_rows(2000);
    void *scratch = decode_rows(3000);
    if (strcmp(then, "wait") == 0) {
        if (write(STDOUT_FILENO, "waiting\n", 8) == 8)
            pause();
    }
    if (strcmp(then, "kill") == 0)
        raise(SIGKILL);
    free(scratch);
    free(buffer);
    if (mapped)
        munmap(mapped, buffered_bytes);
    votrace_region_end("parse");
    if (kept == NULL)
        abort();
}

int main(int argc, char **argv) {
    size_t buffered_bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const char *then = argc > 2 ? argv[2] : "";
    void *old = buffer_rows(1000);
    if (strcmp(then, "exec") == 0) {
        /* What is live goes with the program. */
        execl(argv[0], argv[0], argv[1], "", (char *)NULL);
        return 99;
    }
    parse(buffered_bytes, then);
    if (strcmp(then, "twice") == 0)
        parse(buffered_bytes * 2, "");
    if (strcmp(then, "spawn") == 0 && system("/bin/true") != 0)
        return 98;
    free(old);
    return strcmp(then, "fail") == 0 ? 3 : 0;
}
