/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.h: taking a library out of LD_PRELOAD. */
#pragma once

/*
 * Take each entry of LD_PRELOAD whose last component is @library's out of @environment, a list
 * ended by NULL. In place: the strings and the list become shorter, nothing is allocated. When
 * no entry is left the variable goes.
 */
void environment_drop_preload(char **environment, const char *library);
