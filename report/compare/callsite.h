/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callsite.h: the sites of a region as a reader wants them: by the function that is to be
 * named.
 *
 * A site is a stack down to the caller of malloc. What tells something is the innermost frame
 * of the program's own code, not xrealloc() or libc's strdup(); sites that are the same from
 * there outwards are one call site. Frames are the same when function and file are, whatever
 * the address, the line, or the folder the file was compiled in. A frame without a name (a
 * stripped program) is known by its module and its offset there; between two builds of a module
 * offsets mean nothing, and its nameless frames are one.
 */
#pragma once

#include "attributes.h"
#include "profile.h"

struct callsite {
    const struct profile *profile;
    const bool *vague;  /* by module: offsets there mean nothing; NULL: they do everywhere */
    uint32_t node;      /* the telling frame; 0 when no stack is known */
    uint32_t innermost; /* of its largest site: what is between it and malloc */
    uint16_t flags;     /* TRACE_SITE_NO_STACK, TRACE_SITE_OTHER: why no stack is known */
    size_t site_count;
    int64_t largest_bytes; /* the largest site's share of peak - start, absolute */
    struct profile_pair allocated;
    struct profile_pair start;
    struct profile_pair peak;
    struct profile_pair end;
};

struct callsite_list {
    struct callsite *items; /* in the order of callsite_compare() */
    size_t count;
};

/*
 * The call sites of @region of @profile in @space. Empty when it has no rows. 0 or -ENOMEM;
 * free items when done.
 */
int callsite_collect(const struct profile *profile, const struct profile_region *region,
                     enum trace_space space,
                     struct callsite_list *ret_list) _must_check_ _nonnull_;

/*
 * The same for comparing with @peer: the list's items borrow @vague, which is what
 * callsite_vague_modules() said of @profile and @peer.
 */
int callsite_collect_comparable(const struct profile *profile, const bool *vague,
                                const struct profile_region *region, enum trace_space space,
                                struct callsite_list *ret_list) _must_check_;

/*
 * Which modules of @profile are of another build in @peer: neither the same build-id nor, when
 * there is none, the same path. A module that @peer does not have at all is not among them, an
 * address in no file always is. 0 or -ENOMEM; free @ret_vague.
 */
int callsite_vague_modules(const struct profile *profile, const struct profile *peer,
                           bool **ret_vague) _must_check_ _nonnull_;

/*
 * Order by what matching looks at, frame by frame from the telling one outwards; 0: the same.
 */
int callsite_compare(const struct callsite *a, const struct callsite *b) _nonnull_;

/* The same for the telling frames alone, whatever called them. */
int callsite_compare_telling(const struct callsite *a, const struct callsite *b) _nonnull_;

/* The same for the names of their functions alone, whatever the file. */
int callsite_compare_function(const struct callsite *a, const struct callsite *b) _nonnull_;

/*
 * Order of two nodes without a function: by module, and where offsets mean something by build
 * and offset.
 */
int callsite_compare_nameless(const struct callsite *a_site, uint32_t a_node,
                              const struct callsite *b_site, uint32_t b_node) _nonnull_;

/* The next node outwards of @node that is another function; 0 when there is none. */
uint32_t callsite_caller(const struct callsite *site, uint32_t node) _nonnull_;

/* Is @node known by its module only, without a function and without a meaningful offset? */
bool callsite_is_vague(const struct callsite *site, uint32_t node) _nonnull_;

/* The frame of node @node, which is not the root. */
const struct profile_frame *callsite_frame(const struct profile *profile,
                                           uint32_t node) _nonnull_;

/*
 * The innermost node on the way from @innermost that is no helper's; where all are, @innermost.
 */
uint32_t callsite_telling_node(const struct profile *profile, uint32_t innermost) _nonnull_;

/* Last component of a path, never NULL. */
const char *callsite_basename(const char *path) _nonnull_;

/*
 * What tells @frame's file from others, wherever the sources are: its last component, and of a
 * Python package's "__init__.py" the folder before it. Never NULL; borrows from @frame.
 */
const char *callsite_file(const struct profile *profile,
                          const struct profile_frame *frame) _nonnull_;

/*
 * Is this frame in a library of the system, whose inner calls tell nothing about the program?
 */
bool callsite_is_in_system(const struct profile *profile, uint32_t node) _nonnull_;

/* The same for a whole module. */
bool callsite_module_is_system(const struct profile *profile, uint32_t module) _nonnull_;

/* Is this the frame at which a program begins, so that what called it says nothing? */
bool callsite_is_outermost(const struct profile *profile, uint32_t node) _nonnull_;
