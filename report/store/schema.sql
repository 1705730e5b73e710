-- SPDX-License-Identifier: BSD-3-Clause
-- schema.sql: a votrace store, version 2. docs/schema.md draws it; a change is a new version.
--
-- application_id is "votr". Sizes are bytes as requested by the program, *_ns nanoseconds,
-- *_blocks counts of allocations that are live. Times of day are since 1970, UTC.

-- What was measured: runs of one benchmark are compared with each other.
CREATE TABLE benchmark (
    id         INTEGER PRIMARY KEY, -- number of the benchmark in this file
    name       TEXT NOT NULL,       -- as given by --name, or the program's name
    parameters TEXT NOT NULL,       -- JSON object, keys sorted, values text: {"format":"binary"}
    UNIQUE (name, parameters)
) STRICT;

-- One run of one program.
CREATE TABLE run (
    id               INTEGER PRIMARY KEY, -- grows: the newest run has the largest
    uuid             TEXT NOT NULL UNIQUE, -- the same run in any file
    set_uuid         TEXT NOT NULL,    -- shared by repeats that were started together
    repeat           INTEGER NOT NULL, -- 1, 2 ... within the set
    benchmark_id     INTEGER NOT NULL REFERENCES benchmark(id) ON DELETE CASCADE, -- what it measured
    program          TEXT NOT NULL,    -- last component of the program's path
    exe              TEXT NOT NULL,    -- absolute path of the program, '' when not known
    cwd              TEXT NOT NULL,    -- folder it ran in, '' when not known
    command          TEXT NOT NULL,    -- JSON array of its arguments
    host             TEXT NOT NULL,    -- name of the machine that imported it
    kernel           TEXT NOT NULL,    -- release of its kernel
    machine          TEXT NOT NULL,    -- its architecture, as uname -m
    votrace_version  TEXT NOT NULL,    -- version of the recorder
    trace_uuid       TEXT NOT NULL,    -- of its trace, hexadecimal, '' when it has none
    parent_uuid      TEXT NOT NULL,    -- trace_uuid of the process that forked it, else ''
    forked           INTEGER NOT NULL, -- 1: began by fork(), with what its parent had
    inherited_freed  INTEGER NOT NULL, -- frees of blocks that its parent had allocated
    pid              INTEGER NOT NULL, -- process id
    parent_pid       INTEGER NOT NULL, -- of its parent, 0 when not known
    start_ns         INTEGER NOT NULL, -- when recording began, since 1970
    elapsed_ns       INTEGER NOT NULL, -- until exit; until the last region event when killed
    outcome          TEXT NOT NULL CHECK (outcome IN ('unknown', 'exited', 'signaled')), -- how the launcher saw it end
    status           INTEGER NOT NULL, -- exit status or signal number, 0 when unknown
    trace_end        TEXT NOT NULL CHECK (trace_end IN ('ended', 'killed', 'snapshot', 'execed')), -- how the trace says it ended
    stacks           TEXT NOT NULL CHECK (stacks IN ('none', 'region', 'all')), -- when stacks were taken
    depth_limit      INTEGER NOT NULL, -- frames kept of a stack
    stacks_truncated INTEGER NOT NULL, -- distinct stacks that were deeper
    cut              INTEGER NOT NULL, -- 1: died inside one event, which was completed
    truncated        INTEGER NOT NULL, -- 1: the trace was cut off, totals only
    -- What the recorder could not see; all zero means complete.
    events_lost      INTEGER NOT NULL, -- allocations or frees not recorded
    unknown_frees    INTEGER NOT NULL, -- frees of blocks never seen allocated
    table_refused    INTEGER NOT NULL, -- no memory for the table of live blocks
    file_refused     INTEGER NOT NULL, -- the trace file could not grow
    stacks_missing   INTEGER NOT NULL, -- allocations without a call stack
    stacks_other     INTEGER NOT NULL, -- allocations booked on "other"
    forked_children  INTEGER NOT NULL, -- forked children not measured
    unbalanced_ends  INTEGER NOT NULL, -- region ends without a begin
    regions_dropped  INTEGER NOT NULL, -- region instances not measured
    settings_ignored INTEGER NOT NULL, -- VOTRACE_* settings not understood
    malloc_elsewhere INTEGER NOT NULL  -- 1: the program brings its own malloc, which was not seen
) STRICT;
CREATE INDEX run_by_benchmark ON run (benchmark_id, id);
CREATE INDEX run_by_trace ON run (trace_uuid, id);
CREATE INDEX run_by_set ON run (set_uuid, pid);

-- A file that code was loaded from.
CREATE TABLE module (
    id       INTEGER PRIMARY KEY, -- number of the module in this file
    path     TEXT NOT NULL,       -- absolute path, '' for addresses outside any file
    build_id TEXT NOT NULL,       -- hexadecimal, '' when it has none
    UNIQUE (path, build_id)
) STRICT;

-- A place in a module. Where functions were inlined, one row for each, level 0 innermost.
CREATE TABLE frame (
    id        INTEGER PRIMARY KEY, -- number of the frame in this file
    module_id INTEGER NOT NULL REFERENCES module(id), -- where the code is
    offset    INTEGER NOT NULL, -- return address - load bias; two's complement beyond 2^63
    level     INTEGER NOT NULL, -- 0 for the innermost function at this offset
    function  TEXT NOT NULL,    -- '' when not known
    file      TEXT NOT NULL,    -- source file, '' when not known
    line      INTEGER NOT NULL, -- from 1, 0 when not known
    UNIQUE (module_id, offset, level, function, file, line)
) STRICT;

-- Call stacks of all runs, as one tree. Row 0 is the root: no frame, its own parent.
CREATE TABLE stack (
    id        INTEGER PRIMARY KEY, -- a parent's number is always the smaller
    parent_id INTEGER NOT NULL REFERENCES stack(id), -- the caller
    frame_id  INTEGER REFERENCES frame(id), -- NULL for the root only
    UNIQUE (parent_id, frame_id)
) STRICT;
INSERT INTO stack (id, parent_id, frame_id) VALUES (0, 0, NULL);

-- One instance of a region in a run.
CREATE TABLE region (
    id             INTEGER PRIMARY KEY, -- number of the instance in this file
    run_id         INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- of which run
    ordinal        INTEGER NOT NULL, -- 0 is "process", then in order of their begins
    parent_ordinal INTEGER NOT NULL, -- the region it began in
    name           TEXT NOT NULL,    -- as marked by the program
    instance       INTEGER NOT NULL, -- 1, 2 ... among those of this name
    thread         INTEGER NOT NULL, -- kernel thread id of a region of one thread, 0: of the process
    open           INTEGER NOT NULL, -- 1: never ended
    has_sites      INTEGER NOT NULL, -- 0: only totals were kept
    begin_ns       INTEGER NOT NULL, -- since the start of the run
    end_ns         INTEGER NOT NULL, -- since the start of the run, 0 while open
    cpu_ns         INTEGER NOT NULL, -- CPU time of the process from begin to end
    combined_start INTEGER NOT NULL, -- heap and anonymous mappings together, bytes at begin
    combined_peak  INTEGER NOT NULL, -- bytes at the peak of their sum
    combined_end   INTEGER NOT NULL, -- bytes at the end
    peak_ns        INTEGER NOT NULL, -- the heap's peak is no later than this, since the start of the run
    usable_start   INTEGER,          -- what the allocator gave for live_start of the heap; NULL: not asked for
    usable_peak    INTEGER,          -- likewise for live_peak
    usable_end     INTEGER,          -- likewise for live_end
    sizes          TEXT,             -- heap allocations by size, JSON: [of size 0, of 1, 2-3, 4-7, ...]; NULL: not known
    timeline       TEXT,             -- live heap, JSON: [ns, bytes, then differences of both, ...]; NULL: not kept
    UNIQUE (run_id, ordinal)
) STRICT;

-- Totals of a region, for each kind of memory that was used.
CREATE TABLE region_total (
    region_id       INTEGER NOT NULL REFERENCES region(id) ON DELETE CASCADE, -- of which instance
    space           TEXT NOT NULL CHECK (space IN ('heap', 'map_anon', 'map_file', 'map_reserved')), -- kind of memory
    live_start      INTEGER NOT NULL, -- bytes live when it began
    live_peak       INTEGER NOT NULL, -- largest live bytes while it lasted
    live_end        INTEGER NOT NULL, -- bytes live when it ended
    start_blocks    INTEGER NOT NULL, -- blocks live when it began
    end_blocks      INTEGER NOT NULL, -- blocks live when it ended
    allocations     INTEGER NOT NULL, -- blocks handed out
    frees           INTEGER NOT NULL, -- blocks given back
    allocated_bytes INTEGER NOT NULL, -- sum of the sizes of all allocations
    freed_bytes     INTEGER NOT NULL, -- sum of the sizes of all frees
    temporary       INTEGER NOT NULL, -- blocks freed by the very next event of their thread
    largest_bytes   INTEGER NOT NULL, -- largest single request
    failed          INTEGER NOT NULL, -- calls that returned no memory
    reallocations   INTEGER NOT NULL, -- each also counts as one allocation and one free
    owned_peak      INTEGER NOT NULL, -- largest sum of blocks allocated inside the region, bytes
    PRIMARY KEY (region_id, space)
) STRICT, WITHOUT ROWID;

-- What one call site did in one region: the sums over sites are the totals above.
CREATE TABLE region_site (
    region_id        INTEGER NOT NULL REFERENCES region(id) ON DELETE CASCADE, -- of which instance
    space            TEXT NOT NULL CHECK (space IN ('heap', 'map_anon', 'map_file', 'map_reserved')), -- kind of memory
    stack_id         INTEGER NOT NULL REFERENCES stack(id), -- who called the allocation function
    flags            INTEGER NOT NULL, -- 1 no stack was taken, 2 "other", 4 stack was truncated
    allocated_blocks INTEGER NOT NULL, -- allocations in this region
    allocated_bytes  INTEGER NOT NULL, -- their bytes
    freed_blocks     INTEGER NOT NULL, -- frees in this region of blocks of this site
    freed_bytes      INTEGER NOT NULL, -- their bytes
    start_blocks     INTEGER NOT NULL, -- live when the region began
    start_bytes      INTEGER NOT NULL, -- live when the region began, bytes
    peak_blocks      INTEGER NOT NULL, -- live at the region's peak
    peak_bytes       INTEGER NOT NULL, -- live at the region's peak, bytes
    end_blocks       INTEGER NOT NULL, -- live when the region ended
    end_bytes        INTEGER NOT NULL, -- live when the region ended, bytes
    temporary        INTEGER NOT NULL, -- blocks freed by the very next event of their thread
    PRIMARY KEY (region_id, space, stack_id, flags)
) STRICT, WITHOUT ROWID;

-- The heap of a region over time, its start, peak and end among the points.
CREATE VIEW v_timeline AS
SELECT region_id, place, max(elapsed_ns) AS elapsed_ns, max(live) AS live -- since the start of the run; bytes
FROM (SELECT region.id AS region_id, key / 2 AS place, key % 2 AS is_live,
             CASE key % 2 WHEN 0 THEN sum(value) OVER points END AS elapsed_ns,
             CASE key % 2 WHEN 1 THEN sum(value) OVER points END AS live
      FROM region, json_each(region.timeline)
      WINDOW points AS (PARTITION BY region.id, key % 2 ORDER BY key))
GROUP BY region_id, place;
