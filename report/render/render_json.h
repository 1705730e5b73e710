/* SPDX-License-Identifier: BSD-3-Clause */
/* render_json.h: what the files that write JSON for --json share; for render_json*.c alone. */
#pragma once

#include "attributes.h"
#include "diff.h"
#include "json.h"
#include "profile.h"
#include "run.h"

/* @count, or null where it is not known. */
void json_count(struct json *json, const char *key, int64_t count, bool known);

/* "parameters": an object, as the run has them. */
void json_parameters(struct json *json, const struct run *run) _nonnull_;

/* The keys of a frame; @frame may be NULL, where no stack is known: the keys are always there. */
void json_frame(struct json *json, const struct profile *profile,
                const struct profile_frame *frame);

/* "stack": of the site at @node, innermost first. */
void json_stack(struct json *json, const struct profile *profile, uint32_t node) _nonnull_;

/* The keys of one row of a comparison, without what explains it. */
void render_json_row(struct json *json, const struct diff_row *row) _nonnull_;

/* Why @unfit is, in full, else @reason, else null. */
void render_json_reason(struct json *json, const char *key, const struct run *unfit,
                        const char *reason);

/* 0, or -EIO when the stream failed. */
int json_finish(const struct json *json) _must_check_ _nonnull_;
