/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stepped: a little of everything between two SIGSTOPs, for step_events.
 */
#include <votrace.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static void events(void *before) {
    void *a = malloc(100);
    votrace_region_begin("inner");
    void *b = calloc(3, 50);
    free(before);
    a = realloc(a, 2000);
    a = realloc(a, 20);
    votrace_region_begin("inner");
    char *pages = mmap(NULL, 12288, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 4096, 4096);
    pages = mremap(pages, 4096, 8192, MREMAP_MAYMOVE);
    free(b);
    void *c = malloc(5000);
    votrace_region_end("inner");
    munmap(pages, 8192);
    free(c);
    votrace_region_end("inner");
    votrace_thread_region_begin("own");
    free(a);
    free(malloc(10));
    votrace_thread_region_end("own");
}

int main(void) {
    void *before = malloc(300);
    votrace_region_begin("outer");
    events(malloc(70)); /* paths that are taken for the first time only */
    raise(SIGSTOP);
    events(before);
    for (int i = 0; i < 10; i++) { /* rows given up and taken again */
        votrace_region_begin("many");
        free(malloc((size_t)i * 7 % 10));
        votrace_region_end("many");
    }
    raise(SIGSTOP);
    return 0;
}
