/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A segment of 3 pages is attached twice, the second time over a mapping of 4; a page in the
 * middle of the first is unmapped. Detaching takes what is left. Attaching nothing fails.
 */
#include <sys/ipc.h>
#include <sys/shm.h>

#include "victim.h"

#define PAGE ((size_t)4096)

int main(void) {
    int segment = shmget(IPC_PRIVATE, 2 * PAGE + 1, IPC_CREAT | 0600);
    if (segment < 0)
        return 1;
    votrace_region_begin("v");
    char *first = shmat(segment, NULL, 0);
    char *place =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *second = shmat(segment, place, SHM_REMAP);
    shmctl(segment, IPC_RMID, NULL);
    if (first == (void *)-1 || second != place)
        return 2;
    first[0] = 'x';
    printf("%c\n", second[0]);
    munmap(first + PAGE, PAGE);
    int once = shmdt(first);
    int twice = shmdt(first);
    if (once != 0 || twice == 0 || errno != EINVAL)
        return 3;
    if (shmat(-1, NULL, 0) != (void *)-1 || errno != EINVAL)
        return 4;
    votrace_region_end("v");
    return shmdt(second) != 0;
}
