/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack switch of a few instructions that no table describes, to memory that ends right above
 * the frame: 500 blocks from there and 500 from the usual stack, in turns.
 */
#include "victim.h"

#define STACK_BYTES ((size_t)64 << 10)

void run_on_stack(void *top, void (*function)(void));

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl run_on_stack\n"
        ".type run_on_stack,@function\n"
        "run_on_stack:\n"
        "    push %rbx\n"
        "    mov %rsp, %rbx\n"
        "    mov %rdi, %rsp\n"
        "    call *%rsi\n"
        "    mov %rbx, %rsp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size run_on_stack, . - run_on_stack\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl run_on_stack\n"
        ".type run_on_stack,%function\n"
        "run_on_stack:\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    str x19, [sp, #16]\n"
        "    mov x19, sp\n"
        "    mov sp, x0\n"
        "    blr x1\n"
        "    mov sp, x19\n"
        "    ldr x19, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    ret\n"
        ".size run_on_stack, . - run_on_stack\n");
#else
void run_on_stack(void *top, void (*function)(void)) {
    function();
}
#endif

static unsigned count;

static void allocate(void) {
    descend(count++, 4, 70);
}

int main(void) {
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    votrace_region_begin("v");
    for (int i = 0; i < 500; i++) {
        run_on_stack(stack + STACK_BYTES, allocate);
        allocate();
    }
    votrace_region_end("v");
    printf("%u\n", count);
    return 0;
}
