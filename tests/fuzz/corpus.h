/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corpus.h: what a fuzz target defines, by the names that libFuzzer calls.
 *
 * Where there is no libFuzzer, corpus.c is the program: every file named in its arguments, and
 * every file in a folder named there, is given to the target, whole and cut at every place in
 * its first and last hundred bytes. It prints TAP, one test a file. A failed property aborts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Called once before the first input, by a target that has it. Returns 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
