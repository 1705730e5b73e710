/* SPDX-License-Identifier: BSD-3-Clause */
/* repository.h: where the user's repository is, and which of its files a path means. */
#pragma once

#include "attributes.h"

#include <limits.h>
#include <stdbool.h>

/* The nearest folder with a .git in it, from the current one upwards; "" when there is none. */
void repository_find(char ret_root[PATH_MAX]) _nonnull_;

/*
 * The path, relative to the repository at @root, of the source file @path, as a compiler wrote
 * it down: absolute, or relative to some build folder, perhaps on another machine. It is the
 * longest end of @path that is a file there. False when none is, or @root is "".
 */
bool repository_path(const char *root, const char *path, char ret_path[PATH_MAX]) _nonnull_;
