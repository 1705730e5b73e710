/* SPDX-License-Identifier: BSD-3-Clause */
/* children.h: blocks and mappings that a forked child has from its parent. */
#pragma once

#include "blocks.h"

/*
 * @block, which was its parent's, was taken out of a forked child's table: count that, and make
 * it one of the child's own, at the site "stack not taken". With or without the lock.
 */
void children_adopt(struct block *block);

/* @block was taken out in vain and goes back: if it was adopted, it is its parent's again. */
void children_give_back(struct block *block);
