/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup.h: unfinished files that a signal which ends the program must take with it. */
#pragma once

#include "attributes.h"

/*
 * Remove the file at @path when SIGHUP, SIGINT, SIGPIPE or SIGTERM ends the program. The path
 * is borrowed until it is taken back. No more than two at a time; others are left to be.
 */
void cleanup_add(const char *path) _nonnull_;
void cleanup_remove(const char *path) _nonnull_;
