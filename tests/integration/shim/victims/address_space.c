/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RLIMIT_AS: blocks of 1 MiB until there are no more, which is an answer that the program deals
 * with: it frees them, and has 1000 small ones of 100 bytes afterwards.
 */
#include "victim.h"

static size_t mapped_bytes(void) {
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        if (fgets(text, sizeof(text), file) == NULL)
            text[0] = '\0';
        fclose(file);
    }
    return strtoul(text, NULL, 10) * 4096;
}

int main(void) {
    static void *blocks[1000];
    struct rlimit limit;
    size_t count = 0;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = mapped_bytes() + ((size_t)100 << 20);
    setrlimit(RLIMIT_AS, &limit);
    votrace_region_begin("v");
    while (count < 1000 && (blocks[count] = malloc((size_t)1 << 20)) != NULL)
        count++;
    int refused = errno == ENOMEM && count > 0 && count < 1000;
    while (count > 0)
        free(blocks[--count]);
    for (; count < 1000; count++)
        blocks[count] = opaque(descend_to((unsigned)count, 10, 100));
    int complete = blocks[999] != NULL;
    while (count > 0)
        free(blocks[--count]);
    votrace_region_end("v");
    printf("%d %d\n", refused, complete);
    return 0;
}
