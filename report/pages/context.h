/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.h: what the parts of a page's data share while it is written: the JSON, and tables of
 * texts, modules and frames that are referred to by number and come last.
 */
#pragma once

#include "attributes.h"
#include "diff.h"
#include "json.h"
#include "names.h"

struct context {
    struct json json;
    struct names texts;
    struct names modules;      /* paths; number 0 is "in no file" */
    struct names frame_keys;   /* "name,file,line,module": what makes a frame one */
    struct vector module_hues; /* int, by number of the module */
    struct vector frames;      /* struct context_frame, by number; number 0 is none */
    struct vector runs;        /* const struct run *, by number */
    unsigned hues_taken;       /* a bit for each of the hues */
};

struct context_frame {
    uint32_t name; /* of texts, likewise file */
    uint32_t file;
    uint32_t lineno;
    uint32_t module;
};

/* 0 or -ENOMEM. End with context_finish(). */
int context_init(struct context *context, FILE *stream) _must_check_ _nonnull_;

/* The number of @path's module, with a color of its own. 0 or -ENOMEM. */
int context_module(struct context *context, const char *path,
                   uint32_t *ret_number) _must_check_ _nonnull_;

/* The same for @frame's module; of interpreted code for its package. */
int context_module_of(struct context *context, const struct profile *profile,
                      const struct profile_frame *frame,
                      uint32_t *ret_number) _must_check_ _nonnull_;

/* The color of a module, degrees on the circle. */
int context_hue(const struct context *context, uint32_t module) _nonnull_;

/* The number of @frame of @profile, which goes by @name. 0 or -ENOMEM. */
int context_frame(struct context *context, const struct profile *profile,
                  const struct profile_frame *frame, const char *name,
                  uint32_t *ret_number) _must_check_ _nonnull_;

/* The number of @run. 0 or -ENOMEM. */
int context_run(struct context *context, const struct run *run,
                uint32_t *ret_number) _must_check_ _nonnull_;

/* Write the number of @text as the next item. 0 or -ENOMEM. */
int context_write_text(struct context *context, const char *key, const char *text) _must_check_;

/* The tables of frames, modules and texts: when all that refers to them is written. */
void context_write_tables(struct context *context) _nonnull_;

void context_finish(struct context *context) _nonnull_;
