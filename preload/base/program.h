/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: which program this process runs. */
#pragma once

#include <limits.h>

/*
 * Write the absolute path of the program to @ret_path: not that of the loader, if that was
 * started with the program as its argument. Empty when the kernel does not tell.
 */
void program_path(char ret_path[PATH_MAX]);
