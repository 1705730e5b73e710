/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_parse.h: the commands `parse` and `strategies`. They return an enum exit_code. */
#pragma once

int cmd_parse(int argc, char **argv);
int cmd_strategies(int argc, char **argv);
