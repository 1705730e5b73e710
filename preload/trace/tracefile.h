/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracefile.h: the mapped trace file, chunk after chunk (layout: trace_layout.h).
 *
 * When the file cannot be made, or cannot grow (disk full, limits, the folder gone), the chunks
 * go on in memory, completeness.file_refused says so, and tracefile_finish() tries to write
 * them. Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include "trace_layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACEFILE_SPILLS 64

/* Chunks that are not in the file: `bytes` of them, belonging at `offset`. */
struct tracefile_spill {
    unsigned char *memory;
    uint64_t offset;
    uint64_t bytes;
};

struct tracefile {
    struct trace_header *header; /* mapped from the file, or in memory */
    char path[PATH_MAX];         /* absolute; empty when the pattern gave none */
    dev_t device;                /* the file's identity: it is opened again to grow */
    ino_t inode;
    bool file_exists;      /* the header is in the file */
    bool spilling;         /* chunks now go to memory */
    bool sealed;           /* no system call may be made for it but mmap */
    uint64_t end_offset;   /* where the next chunk belongs */
    unsigned char *place;  /* and where it is mapped */
    uint64_t left_bytes;   /* that are mapped from there on */
    uint64_t extent_bytes; /* size of the next extent */
    uint64_t kept_bytes;   /* (sealed) of the file, not for new stacks */
    struct tracefile_spill spills[TRACEFILE_SPILLS];
    unsigned spill_count;
};

/*
 * Write @pattern with %e (@program), %p (@pid) and %% expanded to @ret_path, made absolute by
 * the current folder. Returns 0; -ENAMETOOLONG; -EINVAL for another letter after %.
 */
int tracefile_expand(const char *pattern, const char *program, unsigned pid,
                     char ret_path[PATH_MAX]);

/*
 * Create @path (never overwriting: .2, .3 ... are appended to a name that exists; NULL: no
 * file) and write a header in state TRACE_STARTING. Returns 0; -ENOMEM when not even memory can
 * be had.
 */
int tracefile_open(struct tracefile *file, const char *path);

/* What a chunk holds, see struct trace_chunk. */
struct tracefile_ids {
    uint32_t first;
    uint32_t count;
    uint32_t owner;
    uint32_t lane;
};

/*
 * Append a chunk of @payload_bytes zeros. Returns the payload, which stays where it is for
 * good; NULL when the kernel refuses memory. Up to 256 KiB.
 */
void *tracefile_chunk(struct tracefile *file, enum trace_chunk_kind kind,
                      struct tracefile_ids ids, size_t payload_bytes);

/* Append a TEXT chunk. Longer texts are cut at 128 KiB. */
void tracefile_text(struct tracefile *file, enum trace_text what, const char *text,
                    size_t bytes);

/*
 * At exit: try once more to write what is in memory only. Returns whether the file now holds
 * everything. The mapping stays: late frees count, but not in what was written here.
 */
bool tracefile_finish(struct tracefile *file);

/*
 * Grow the file, so that chunks of @bytes fit; by less where the disk has less. Returns whether
 * they fit.
 */
bool tracefile_make_room(struct tracefile *file, uint64_t bytes);

/*
 * From now on, or no longer, the file stays as large as it is, and grows in memory only. Half of
 * what is left is kept for counters: chunks for new stacks are refused rather.
 */
void tracefile_seal(struct tracefile *file, bool sealed);

/* It was not the end: what tracefile_finish() wrote no longer counts. */
void tracefile_unfinish(struct tracefile *file);
