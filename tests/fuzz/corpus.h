/* SPDX-License-Identifier: BSD-3-Clause */
/* corpus.h: run a fuzz target over files, where there is no libFuzzer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Give every file named in @argv, and every file in a folder named there, to @target, whole and
 * cut at every place in its first and last hundred bytes. Prints TAP, one test a file, and
 * returns an exit status. A failed property aborts.
 */
int corpus_run(int argc, char **argv, int (*target)(const uint8_t *data, size_t size));
