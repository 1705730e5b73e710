/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * follow [WAY]: a parent with 100 blocks of 10 bytes and 4 anonymous pages forks, and allocates
 * 1000 bytes more while the child works. The child frees 30 of the blocks, makes one of them 50
 * bytes, unmaps a page, and allocates 500 bytes, half of them in a region of its own.
 *
 *     grandchild   the child does nothing but fork, and the grandchild works
 *     exec         the child execs at once
 *     nothing      the child ends at once
 *     threads      the parent forks while three threads allocate
 */
#include "victim.h"

#define PAGE ((size_t)4096)

static void *blocks[100];
static char *pages;
static volatile bool done;

static _Noreturn void work(void) {
    votrace_region_begin("child");
    void *own = opaque(malloc(250));
    votrace_region_end("child");
    for (int i = 0; i < 30; i++)
        free(blocks[i]);
    blocks[30] = realloc(blocks[30], 50);
    if (realloc(blocks[31], (size_t)PTRDIFF_MAX) != NULL)
        _exit(9);
    munmap(pages, PAGE);
    opaque(malloc(250));
    free(own);
    exit(7);
}

static void *churn(void *data) {
    while (!done)
        free(opaque(malloc(64)));
    return data;
}

static int finish(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t threads[3];
    int thread_count = strcmp(way, "threads") == 0 ? 3 : 0;
    votrace_region_begin("v");
    for (int i = 0; i < 100; i++)
        blocks[i] = opaque(malloc(10));
    pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    votrace_region_end("v");
    for (int i = 0; i < thread_count; i++)
        pthread_create(&threads[i], NULL, churn, NULL);

    pid_t child = fork();
    if (child == 0) {
        if (strcmp(way, "exec") == 0)
            execl("/bin/true", "true", (char *)NULL);
        if (strcmp(way, "nothing") == 0)
            _exit(5);
        if (strcmp(way, "grandchild") == 0) {
            child = fork();
            if (child != 0)
                _exit(finish(child));
        }
        work();
    }
    opaque(malloc(1000));
    int status = finish(child);
    done = true;
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", status);
    return 0;
}
