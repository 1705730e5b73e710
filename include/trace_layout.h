/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_layout.h: the bytes of a votrace trace file (.vtr). Contract between preload/ (writes)
 * and report/ (reads); docs/trace-format.md tells the same as a story. Any change bumps
 * TRACE_VERSION.
 *
 *     0                 4096                                          used_bytes   file end
 *     | trace_header .. | chunk | chunk | chunk | ...                 |  zeros     |
 *
 * Native byte order (the header's byte_order says which), every struct 8-byte aligned, sizes in
 * bytes, times in nanoseconds. A chunk is a trace_chunk header and its payload; its `bytes` is
 * a multiple of 64, and the next chunk starts where it ends. Ids count up from `first`:
 *
 *     NODES    trace_node[count]     nodes first .. first+count-1; the header's node_count says
 *                                    how many are in use
 *     SITES    trace_site[count]     likewise
 *     REGIONS  trace_region[count]   likewise
 *     ROWS     trace_row[count]      the counters of sites first .. first+count-1 in region
 *                                    `owner`, kept by `lane`; a row never touched is all zero
 *     LANE     trace_lane            counters of lane `first`, in no region
 *     TIMELINE trace_timeline        live heap over time in region `owner`
 *     SIZES    trace_sizes           how large the allocations of region `owner` were
 *     MODULE   trace_module, then path bytes
 *     TEXT     bytes; `first` says what they are (enum trace_text), `count` how many
 *     CODE     trace_code, then name and path bytes: function `first` of interpreted code
 *
 * The counters live in a shared mapping and are updated in place, so that whatever kills the
 * process leaves them as they were at that instruction. The stores of one event are ordered so
 * that the sums hold in between (see docs/trace-format.md, "One event"):
 *
 *     1. updating becomes 1               4. region totals: live
 *     2. row.peak, then row.epoch         5. region peak and epoch, one 16-byte store
 *     3. row.allocated / row.freed,       6. updating becomes 0
 *        one 16-byte store each
 *
 * Lanes. A thread may have a lane: rows of the process region that it alone writes, without a
 * lock; and if marked regions are open it is the only one that has. Lane 0 is everybody's, under
 * the lock. An event in a lane does the steps above with the lane's own `updating`, and in the
 * process region leaves out 4: its live is the sum over its rows. It takes step 5 only if no
 * other lane is in use; a thread that could make a new peak otherwise makes the others stop
 * first. Everything below that says "row" of the process region holds for the row of S in each
 * lane by itself, and S is their sum.
 *
 * What a reader derives, for a region R and a site S of R's space:
 *
 *     live(S in the process region)  = start + allocated - freed     (blocks and bytes)
 *                                      start is 0, but for TRACE_FORKED in lane 0, sites 0 to 3
 *     row of S in R is touched     <=> row.epoch != 0
 *     live(S) in R, touched          = start + allocated - freed
 *     live(S) in R, not touched      = start = peak = live(S in the process region)
 *                                      only while R is open: ending R writes a row for every
 *                                      live site
 *     at_peak(S) in R, touched       = row.epoch < R.peak.epoch ? live(S) : row.peak
 *     live of R while it is open     = sum of live(S); the record's lags in the process region
 *     R's allocated, freed, temporary = sums over its rows until R ends, which writes them
 *     owned_peak of region 0         = its live_peak (it owns whatever it knows)
 *     largest of region 0            = the largest of its record's and the lanes'
 *     reallocations of region 0      = its record's and the lanes', added
 *
 * A region of one thread (TRACE_REGION_THREAD) counts the events of that thread only: start is
 * 0, live is what the thread allocated less what it freed, whoever had allocated it, and may be
 * negative, in rows as well; a row not touched is 0.
 *
 * Invariants, for every region and each space, exact whenever `updating` is 0 in the header and
 * in all lanes:
 *
 *     sum of at_peak(S)          == live_peak          sum of live(S) == live
 *     sum of at_peak(S)-start(S) == peak_added         live == start + allocated - freed
 *     heap, where there is a SIZES chunk: sum over the sizes == allocated blocks
 *
 * With one `updating` 1 the process died inside one event: the rows are then the truth for live
 * (a region's own live may lag by that event), and the peak is what it was or includes it.
 * Regions with TRACE_REGION_NO_ROWS keep their totals only.
 */
#pragma once

#include <stdint.h>

#define TRACE_MAGIC          "votrace\n" /* 8 bytes, no terminator */
#define TRACE_VERSION        3u
#define TRACE_BYTE_ORDER     0x01020304u
#define TRACE_HEADER_BYTES   4096u
#define TRACE_CHUNK_MAGIC    0x4b434856u /* "VHCK" in little endian */
#define TRACE_CHUNK_ALIGN    64u
#define TRACE_NO_OWNER       UINT32_MAX /* ROWS chunk that no region uses any more */
#define TRACE_NAME_BYTES     64
#define TRACE_BUILD_ID_MAX   20
#define TRACE_ROWS_PER_CHUNK 32u
#define TRACE_LANES_MAX      32u
#define TRACE_UUID_BYTES     16

/* What a site's bytes are. Mappings are those the program asks for itself, not libc's own. */
enum trace_space {
    TRACE_HEAP,         /* malloc family, requested sizes */
    TRACE_MAP_ANON,     /* anonymous mappings, length rounded up to pages */
    TRACE_MAP_FILE,     /* file-backed mappings, likewise */
    TRACE_MAP_RESERVED, /* address space only: anonymous, and PROT_NONE since it was mapped.
                           mprotect() to anything else frees it here and allocates it in
                           TRACE_MAP_ANON, by the stack of that call; it does not come back.
                           In no region's combined_*, as the kernel does not account it either */
    TRACE_SPACES,
};

enum trace_state {
    TRACE_STARTING, /* header written, nothing recorded yet */
    TRACE_RUNNING,  /* still so in a file whose process is gone: it was killed */
    TRACE_EXITED,   /* exit(), _exit() or return from main was seen; late frees still counted */
    TRACE_EXECED,   /* exec() was called and did not come back: another program went on */
};

enum trace_stacks {
    TRACE_STACKS_NONE,   /* totals only */
    TRACE_STACKS_REGION, /* unwind while a marked region is open */
    TRACE_STACKS_ALL,
};

enum trace_chunk_kind {
    TRACE_CHUNK_NODES = 1,
    TRACE_CHUNK_SITES,
    TRACE_CHUNK_REGIONS,
    TRACE_CHUNK_ROWS,
    TRACE_CHUNK_MODULE,
    TRACE_CHUNK_TEXT,
    TRACE_CHUNK_LANE,
    TRACE_CHUNK_TIMELINE,
    TRACE_CHUNK_SIZES,
    TRACE_CHUNK_CODE,
};

enum trace_text {
    TRACE_TEXT_EXE = 1, /* absolute path of the program */
    TRACE_TEXT_COMMAND, /* its arguments, each ended by NUL */
    TRACE_TEXT_CWD,     /* folder it was started in */
    TRACE_TEXT_PARENT,  /* of a forked child: absolute path of its parent's trace */
};

/* What could not be seen. All zero means complete. */
struct trace_completeness {
    uint64_t events_lost;      /* allocations or frees that were not recorded */
    uint64_t unknown_frees;    /* frees of blocks never seen allocated */
    uint64_t table_refused;    /* the kernel refused memory for the table of live blocks */
    uint64_t file_refused;     /* the trace file could not grow: written at exit, if at all */
    uint64_t stacks_missing;   /* allocations in a region whose stack could not be taken */
    uint64_t stacks_other;     /* allocations booked on "other" because a table was full */
    uint64_t forked_children;  /* fork()ed children, muted: what they allocate is not here */
    uint64_t unbalanced_ends;  /* votrace_region_end() without a begin */
    uint64_t regions_dropped;  /* region instances beyond the limit: not measured */
    uint64_t settings_ignored; /* VOTRACE_* variables with a value that means nothing */
    uint64_t malloc_elsewhere; /* 1: the program brings its own malloc, which was not seen */
    uint64_t inherited_freed; /* forked child: frees of blocks of its parent, not an omission */
    uint64_t reserved[4];
};

struct trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* TRACE_HEADER_BYTES */
    uint32_t byte_order;   /* TRACE_BYTE_ORDER */
    uint32_t state;        /* enum trace_state */
    uint64_t updating;     /* 1 while one event is being written, else 0 */
    uint64_t used_bytes;   /* end of the last chunk */
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t start_realtime_ns; /* since 1970 */
    uint64_t end_elapsed_ns;    /* since the start; 0 until TRACE_EXITED */
    uint32_t stacks;            /* enum trace_stacks */
    uint32_t depth_limit;       /* frames kept of a stack, counted from the allocation */
    uint32_t node_count;        /* ids in use: 0 .. node_count-1, likewise below */
    uint32_t site_count;
    uint32_t region_count;
    uint32_t stacks_truncated; /* distinct stacks that were cut at depth_limit */
    uint32_t page_bytes;
    uint32_t flags;                 /* TRACE_* */
    char program[TRACE_NAME_BYTES]; /* last component of the program's path */
    char votrace_version[16];
    uint8_t uuid[TRACE_UUID_BYTES];        /* random: tells this trace from all others */
    uint8_t parent_uuid[TRACE_UUID_BYTES]; /* of a forked child: its parent's; else zero */
    struct trace_completeness completeness;
    /*
     * The most memory that was resident, in the kernel's words (VmHWM), as of exit or exec: for
     * comparison only, with everything that is no allocation in it, votrace's own memory too. 0:
     * not known, as in traces that were written before this was here.
     */
    uint64_t peak_resident_bytes;
};

#define TRACE_FORKED 1u /* the process began by fork(); what its parent had is its start */
#define TRACE_USABLE 2u /* usable sizes were asked for: trace_region.usable_* count */

struct trace_chunk {
    uint32_t magic; /* TRACE_CHUNK_MAGIC */
    uint32_t kind;  /* enum trace_chunk_kind */
    uint64_t bytes; /* header and payload, multiple of TRACE_CHUNK_ALIGN */
    uint32_t first;
    uint32_t lane; /* ROWS: 0 .. TRACE_LANES_MAX - 1; otherwise 0 */
    uint32_t count;
    uint32_t owner; /* ROWS, TIMELINE, SIZES: region id or TRACE_NO_OWNER; otherwise 0 */
};

/* A frame below its caller. Node 0 is the root: no frame, its own parent. */
struct trace_node {
    uint64_t address; /* return address as unwound: look up address - 1; or TRACE_CODE_FRAME */
    uint32_t parent;  /* always smaller than the node's own id; towards main */
    uint16_t depth;   /* frames up to the root */
    uint16_t generation; /* look the address up in modules of this or an earlier generation */
};

/*
 * A distinct stack for one space. `node` is its innermost frame: the caller of the allocation
 * function. Sites 0 to 3 (one for each space) are "stack not taken", with node 0; sites 4 to 7
 * are "other", where allocations go when the table of stacks is full.
 */
struct trace_site {
    uint32_t node;
    uint16_t space; /* enum trace_space */
    uint16_t flags; /* TRACE_SITE_* */
};

#define TRACE_SITE_NO_STACK  1u
#define TRACE_SITE_OTHER     2u
#define TRACE_SITE_TRUNCATED 4u /* the stack went on beyond depth_limit */
#define TRACE_FIXED_SITES    8u /* 2 * TRACE_SPACES */

/* Two counters that are always stored together, by one instruction. */
struct trace_pair {
    _Alignas(16) uint64_t blocks;
    uint64_t bytes;
};

struct trace_row {
    struct trace_pair allocated; /* allocations and their bytes, in this region */
    struct trace_pair freed; /* frees and their bytes, of blocks of this site, in this region */
    struct trace_pair start; /* live when the region began */
    struct trace_pair peak; /* live at the region's peak, if epoch is the region's peak.epoch */
    uint64_t epoch;         /* 0: not touched since the region began */
    uint64_t temporary;     /* blocks freed by the very next event of their thread */
    uint64_t reserved[2];
};

/* One space's totals in one region instance. */
struct trace_totals {
    struct trace_pair start;     /* live when the region began */
    struct trace_pair live;      /* now, or when it ended */
    struct trace_pair allocated; /* written when the region ends; until then 0, see above */
    struct trace_pair freed;
    struct {
        _Alignas(16) uint64_t bytes; /* largest live since the region began */
        uint64_t epoch; /* new peaks so far, from 1; wins over older row snapshots */
    } peak;
    uint64_t peak_elapsed_ns; /* heap: the peak is no later than this; 0: than the end */
    uint64_t temporary;
    uint64_t largest_bytes;   /* largest single request */
    uint64_t failed;          /* calls that returned NULL or MAP_FAILED */
    uint64_t reallocations;   /* each also counts once as allocated and once as freed */
    int64_t owned_live_bytes; /* allocated inside the region and not yet freed; region 0: 0 */
    int64_t owned_peak_bytes;
    uint64_t reserved;
};

struct trace_region {
    char name[TRACE_NAME_BYTES]; /* NUL-terminated */
    uint32_t instance;           /* 1-based among the regions of this name */
    uint32_t parent;       /* region id of the innermost region open at begin; 0 for region 0 */
    uint32_t open;         /* 1 until it ends; region 0 ("process") never ends */
    uint32_t flags;        /* TRACE_REGION_* */
    uint32_t begin_thread; /* kernel thread ids */
    uint32_t end_thread;
    uint64_t begin_elapsed_ns; /* since the start of the trace */
    uint64_t end_elapsed_ns;
    uint64_t begin_cpu_ns; /* CPU time of the process */
    uint64_t end_cpu_ns;
    int64_t combined_start_bytes; /* heap + anonymous mappings */
    int64_t combined_end_bytes;   /* written when the region ends */
    int64_t combined_peak_bytes;
    int64_t usable_start_bytes; /* what the allocator gave, if the header has TRACE_USABLE */
    int64_t usable_live_bytes;
    int64_t usable_at_peak_bytes; /* when the requested bytes were at their peak */
    int64_t reserved;
    struct trace_totals space[TRACE_SPACES];
};

/* Its rows were given up: only the worst instances of a name keep theirs. */
#define TRACE_REGION_NO_ROWS 1u
#define TRACE_REGION_THREAD  2u /* of the thread begin_thread, not of the process */

struct trace_module {
    uint64_t start; /* addresses of the executable mapping: [start, end) */
    uint64_t end;
    uint64_t bias;           /* address in the process - address in the ELF file */
    uint32_t build_id_bytes; /* 0: none */
    uint32_t path_bytes;     /* follow this struct, no terminator */
    uint8_t build_id[TRACE_BUILD_ID_MAX];
    uint32_t generation; /* counts the unloads before it was noted */
};

/*
 * A function of interpreted code. A frame of it is a node whose address is TRACE_CODE_FRAME, its
 * id, from 1, in the bits above TRACE_CODE_LINE_BITS, and the line below (0: not known). Id 0 is
 * a function that could not be noted. It comes inside of the frame of the interpreter's loop.
 */
struct trace_code {
    uint32_t first_line;     /* of the function, from 1; 0: not known */
    uint32_t function_bytes; /* follow this struct, UTF-8, no terminator */
    uint32_t path_bytes; /* follow the function's: the source file, as the interpreter says */
    uint32_t reserved;
};

#define TRACE_CODE_FRAME     (UINT64_C(1) << 63) /* no machine has code there */
#define TRACE_CODE_LINE_BITS 24
#define TRACE_CODE_LINE_MAX  ((1u << TRACE_CODE_LINE_BITS) - 1)

/* Sizes by powers of two: bucket 0 is size 0, bucket k is [2^(k-1), 2^k). */
#define TRACE_SIZE_BUCKETS 48u

struct trace_lane {
    uint64_t updating;      /* 1 while one event is being written, else 0 */
    uint64_t largest_bytes; /* largest single request in this lane */
    uint64_t reallocations; /* of the heap, in this lane */
    uint64_t reserved;
    uint64_t size_counts[TRACE_SIZE_BUCKETS]; /* heap allocations so far, whatever region */
};

/*
 * Heap allocations by size. While the region is open they are the sum of size_counts over all
 * lanes less `start`, for a region of one thread `counted`; afterwards they are in `counted`.
 */
struct trace_sizes {
    uint64_t start[TRACE_SIZE_BUCKETS];
    uint64_t counted[TRACE_SIZE_BUCKETS];
};

/*
 * Live heap over time, in bytes; `interval` events lie between two points. When all places are
 * taken every second point is given up, in place: a process that is killed meanwhile leaves
 * points that are all true but not in order. Start, peak and end are in the region's record and
 * not among the points. While several lanes are in use the bytes are added up without stopping
 * them: a point is then true to what other threads did within those nanoseconds.
 */
#define TRACE_TIMELINE_POINTS 1024u

struct trace_point {
    uint64_t elapsed_ns; /* since the start of the trace */
    int64_t live_bytes;
};

struct trace_timeline {
    uint32_t count; /* points in use */
    uint32_t reserved;
    uint64_t interval;
    struct trace_point points[TRACE_TIMELINE_POINTS];
};

_Static_assert(sizeof(struct trace_header) <= TRACE_HEADER_BYTES, "header fits its page");
_Static_assert(sizeof(struct trace_chunk) == 32, "frozen");
_Static_assert(sizeof(struct trace_node) == 16, "frozen");
_Static_assert(sizeof(struct trace_site) == 8, "frozen");
_Static_assert(sizeof(struct trace_row) == 96, "frozen");
_Static_assert(sizeof(struct trace_totals) == 144, "frozen");
_Static_assert(sizeof(struct trace_region) == 752, "frozen");
_Static_assert(sizeof(struct trace_module) == 56, "frozen");
_Static_assert(sizeof(struct trace_code) == 16, "frozen");
_Static_assert(sizeof(struct trace_lane) == 416, "frozen");
_Static_assert(sizeof(struct trace_sizes) == 768, "frozen");
_Static_assert(sizeof(struct trace_timeline) == 16400, "frozen");
