-- SPDX-License-Identifier: BSD-3-Clause
-- schema.sql: a votrace store, version 3. docs/schema.md draws it; a change is a new version.
--
-- application_id is "votr". Sizes are bytes as requested by the program, *_ns nanoseconds,
-- *_blocks counts of allocations that are live. Times of day are since 1970, UTC.
--
-- A column `packed` is a JSON list of numbers, two characters to a byte. Each half byte is one:
-- 0-9 a digit, A a comma, B "],[", C "-", D ",null,null", E ","=","="", F ",null" (and padding at
-- the end). hex() and six replace() make JSON of it again, see the views, which are for reading.

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
    cpu_model        TEXT NOT NULL,    -- its processor, '' when not known
    cpu_count        INTEGER NOT NULL, -- its processors online, 0 when not known
    libc             TEXT NOT NULL,    -- C library of the program and its version, '' when not known
    allocator        TEXT NOT NULL,    -- whose malloc it used: 'glibc', a library's name; '' when not known
    environment      TEXT,             -- JSON object: what of its environment matters; NULL: not known
    commit_hash      TEXT NOT NULL,    -- what was measured, '' when not known
    commit_ns        INTEGER NOT NULL, -- when that was committed, since 1970; 0 when not known
    branch           TEXT NOT NULL,    -- of which branch it was, '' when not known
    tree             TEXT NOT NULL CHECK (tree IN ('unknown', 'clean', 'dirty')), -- dirty: files differed from the commit
    votrace_version  TEXT NOT NULL,    -- version of the recorder
    trace_uuid       TEXT NOT NULL,    -- of its trace, hexadecimal, '' when it has none
    parent_uuid      TEXT NOT NULL,    -- trace_uuid of the process that forked it, else ''
    forked           INTEGER NOT NULL, -- 1: began by fork(), with what its parent had
    inherited_freed  INTEGER NOT NULL, -- frees of blocks that its parent had allocated
    pid              INTEGER NOT NULL, -- process id
    parent_pid       INTEGER NOT NULL, -- of its parent, 0 when not known
    start_ns         INTEGER NOT NULL, -- when recording began, since 1970
    elapsed_ns       INTEGER NOT NULL, -- until exit; until the last region event when killed
    max_rss          INTEGER NOT NULL, -- largest resident size of the process, bytes; 0 when not known
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
    malloc_elsewhere INTEGER NOT NULL, -- 1: the program brings its own malloc, which was not seen
    -- What a listing says, so that it need not look at regions.
    headline_region  TEXT NOT NULL,    -- the marked region that added most, or 'process'
    headline_added   INTEGER NOT NULL, -- its peak_added, heap bytes
    marked_regions   INTEGER NOT NULL, -- instances of marked regions
    pruned           INTEGER NOT NULL  -- 1: its sites and timelines were dropped, its totals kept
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

-- A function and the file it is written in, as debug information says.
CREATE TABLE symbol (
    id       INTEGER PRIMARY KEY, -- number of the function in this file
    function TEXT NOT NULL,       -- '' when not known
    file     TEXT NOT NULL,       -- source file, '' when not known
    UNIQUE (function, file)
) STRICT;

-- A place in a module. Where functions were inlined, one row for each, level 0 innermost.
CREATE TABLE frame (
    id        INTEGER PRIMARY KEY, -- number of the frame in this file
    module_id INTEGER NOT NULL REFERENCES module(id), -- where the code is
    offset    INTEGER NOT NULL, -- return address - load bias; two's complement beyond 2^63
    level     INTEGER NOT NULL, -- 0 for the innermost function at this offset
    symbol_id INTEGER NOT NULL REFERENCES symbol(id), -- the function
    line      INTEGER NOT NULL, -- from 1, 0 when not known
    UNIQUE (module_id, offset, level, symbol_id, line)
) STRICT;

-- Call stacks of all runs, as one tree. Row 0 is the root: no frame, its own parent.
CREATE TABLE stack (
    id        INTEGER PRIMARY KEY, -- a parent's number is always the smaller
    parent_id INTEGER NOT NULL REFERENCES stack(id), -- the caller
    frame_id  INTEGER REFERENCES frame(id), -- NULL for the root only
    UNIQUE (parent_id, frame_id)
) STRICT;
INSERT INTO stack (id, parent_id, frame_id) VALUES (0, 0, NULL);

-- What call sites did in a region, in numbers alone. Regions with the same numbers share it; one
-- that differs in few sites has only these, and `base_id`.
--
-- Packed are rows [d, ab, aB, t, pb, pB, eb, eB, sb, sB, k], ascending by stack and k; nulls at the
-- end of a row are left out, any null is 0.
--   d        number of the stack, less that of the row before; region.stack_origin is to be added
--   ab, aB   allocated blocks and bytes; "=": the site is not in this set, though in its base
--   t        temporary blocks
--   pb, pB   at the peak; "=": as allocated
--   eb, eB   at the end; "=": as at the peak. Freed is start + allocated - end
--   sb, sB   at the start; "=": as at the end
--   k        kind of memory (0 heap, 1 map_anon, 2 map_file, 3 map_reserved) + 4 * flags
CREATE TABLE site_set (
    id      INTEGER PRIMARY KEY, -- number of the set in this file
    base_id INTEGER REFERENCES site_set(id), -- the set it differs from, which has no base; NULL: it is whole
    digest  INTEGER NOT NULL,    -- hash of all its rows, to find the same
    sites   INTEGER NOT NULL,    -- how many rows it has, those of its base counted
    packed  BLOB NOT NULL        -- its rows; with a base those that differ
) STRICT;
CREATE INDEX site_set_by_digest ON site_set (digest);
CREATE INDEX site_set_by_base ON site_set (base_id) WHERE base_id IS NOT NULL;

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
    site_set_id    INTEGER REFERENCES site_set(id), -- its sites; NULL where has_sites is 0
    stack_origin   INTEGER NOT NULL, -- to be added to the stacks of that set
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
    UNIQUE (run_id, ordinal)
) STRICT;
CREATE INDEX region_by_name ON region (name, run_id, instance);
CREATE INDEX region_by_set ON region (site_set_id) WHERE site_set_id IS NOT NULL;

-- Live heap of a region over time, where it was kept. v_timeline has it as rows.
CREATE TABLE region_timeline (
    region_id INTEGER PRIMARY KEY REFERENCES region(id) ON DELETE CASCADE, -- of which instance
    packed    BLOB NOT NULL -- [ns, bytes, then differences of both, ...]; ns since the start of the run
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

-- Regions with what their heap did: what people ask most, in one place.
CREATE VIEW v_regions AS
SELECT run.id AS run_id,                              -- which run
       run.benchmark_id,                              -- of which benchmark
       benchmark.name AS benchmark,                   -- its name
       benchmark.parameters,                          -- its parameters, JSON
       run.commit_hash, run.branch,                   -- what was measured
       run.start_ns,                                  -- when the run began, since 1970
       region.id AS region_id,                        -- which region instance
       region.ordinal,                                -- 0 is the process
       region.name AS region,                         -- as marked by the program
       region.instance, region.thread, region.open,   -- as in the table
       max(0, region.end_ns - region.begin_ns) AS elapsed_ns, -- how long it lasted; 0 while open
       region.cpu_ns,                                 -- CPU time of the process meanwhile
       total.live_start,                              -- bytes live when it began
       total.live_peak,                               -- largest live bytes
       total.live_peak - total.live_start AS peak_added, -- what it needed on top
       total.live_end,                                -- bytes live when it ended
       total.live_end - total.live_start AS net,      -- what it kept
       total.allocations, total.frees,                -- blocks handed out and given back
       total.allocated_bytes, total.freed_bytes,      -- the sums of their sizes
       total.temporary,                               -- blocks freed by the next event of their thread
       total.largest_bytes,                           -- largest single request
       total.failed, total.reallocations,             -- as in the table
       total.owned_peak,                              -- largest sum of blocks allocated inside
       region.combined_peak - region.combined_start AS combined_added -- heap and anonymous mappings
FROM run
JOIN benchmark ON benchmark.id = run.benchmark_id
JOIN region ON region.run_id = run.id
JOIN region_total AS total ON total.region_id = region.id AND total.space = 'heap';

-- Likewise, of the newest run of each benchmark only.
CREATE VIEW v_latest AS
SELECT v_regions.*
FROM benchmark AS latest
JOIN v_regions ON v_regions.run_id = (SELECT max(id) FROM run WHERE benchmark_id = latest.id);

-- What one call site did in one region: the sums over sites are its totals. Ask it for some runs
-- or regions (WHERE run_id = ...): the sites of the others are then not unpacked.
CREATE VIEW v_sites AS
SELECT site.run_id, site.region_id,                   -- of which run and region instance
       site.region, site.instance,                    -- its name and number
       site.space,                                    -- kind of memory
       site.stack_id,                                 -- who called the allocation function
       site.flags,                                    -- 1 no stack was taken, 2 "other", 4 stack was truncated
       symbol.function, symbol.file, frame.line,      -- innermost frame of the stack; '' and 0 when not known
       module.path AS module,                         -- the file its code was loaded from
       site.allocated_blocks, site.allocated_bytes,   -- allocations in this region
       site.start_blocks + site.allocated_blocks - site.end_blocks AS freed_blocks, -- frees of its blocks
       site.start_bytes + site.allocated_bytes - site.end_bytes AS freed_bytes, -- their bytes
       site.start_blocks, site.start_bytes,           -- live when the region began
       site.peak_blocks, site.peak_bytes,             -- live at the region's peak
       site.end_blocks, site.end_bytes,               -- live when the region ended
       site.temporary                                 -- blocks freed by the next event of their thread
FROM (
    SELECT region.run_id, region.id AS region_id, region.name AS region, region.instance,
           CASE coalesce(value ->> 11, 0) % 4 WHEN 0 THEN 'heap' WHEN 1 THEN 'map_anon'
                WHEN 2 THEN 'map_file' ELSE 'map_reserved' END AS space,
           region.stack_origin + (value ->> 0) AS stack_id,
           coalesce(value ->> 11, 0) / 4 AS flags,
           coalesce(value ->> 2, 0) AS allocated_blocks,
           coalesce(value ->> 3, 0) AS allocated_bytes,
           coalesce(value ->> 4, 0) AS temporary,
           coalesce(value ->> iif(value ->> 5 IS '=', 2, 5), 0) AS peak_blocks,
           coalesce(value ->> iif(value ->> 6 IS '=', 3, 6), 0) AS peak_bytes,
           coalesce(value ->> iif(value ->> 7 IS '=', iif(value ->> 5 IS '=', 2, 5), 7), 0) AS end_blocks,
           coalesce(value ->> iif(value ->> 8 IS '=', iif(value ->> 6 IS '=', 3, 6), 8), 0) AS end_bytes,
           coalesce(value ->> iif(value ->> 9 IS '=', iif(value ->> 7 IS '=',
                    iif(value ->> 5 IS '=', 2, 5), 7), 9), 0) AS start_blocks,
           coalesce(value ->> iif(value ->> 10 IS '=', iif(value ->> 8 IS '=',
                    iif(value ->> 6 IS '=', 3, 6), 8), 10), 0) AS start_bytes
    FROM region, json_each((
    WITH
    own(stack, kind, value) AS (
        SELECT sum(site.value ->> 0) OVER (ORDER BY site.key), coalesce(site.value ->> 10, 0), site.value
        FROM site_set AS packed_set, json_each(iif(length(packed) = 0, '[]', '[[' ||
            replace(replace(replace(replace(replace(replace(
            hex(packed), 'A', ','), 'B', '],['), 'C', '-'), 'D', ',null,null'),
            'E', ',"=","="'), 'F', ',null') || ']]')) AS site
        WHERE packed_set.id = region.site_set_id),
    base(stack, kind, value) AS (
        SELECT sum(site.value ->> 0) OVER (ORDER BY site.key), coalesce(site.value ->> 10, 0), site.value
        FROM site_set AS packed_set, json_each(iif(length(packed) = 0, '[]', '[[' ||
            replace(replace(replace(replace(replace(replace(
            hex(packed), 'A', ','), 'B', '],['), 'C', '-'), 'D', ',null,null'),
            'E', ',"=","="'), 'F', ',null') || ']]')) AS site
        WHERE packed_set.id = (SELECT base_id FROM site_set WHERE id = region.site_set_id))
    SELECT '[' || group_concat('[' || stack || ',' || substr(value, 2)) || ']'
    FROM (SELECT stack, value, max(own) -- the value is that of the row with the largest
          FROM (SELECT stack, kind, value, 1 AS own FROM own
                UNION ALL
                SELECT stack, kind, value, 0 AS own FROM base)
          GROUP BY stack, kind)
    WHERE value ->> 1 IS NOT '='
))
) AS site
LEFT JOIN stack ON stack.id = site.stack_id
LEFT JOIN frame ON frame.id = stack.frame_id
LEFT JOIN symbol ON symbol.id = frame.symbol_id
LEFT JOIN module ON module.id = frame.module_id;

-- The heap of a region over time, its start, peak and end among the points.
CREATE VIEW v_timeline AS
SELECT region_id,                     -- of which region instance
       place,                         -- 0, 1, 2 ... by time
       max(elapsed_ns) AS elapsed_ns, -- since the start of the run
       max(live) AS live              -- bytes
FROM (SELECT region_id, key / 2 AS place,
             CASE key % 2 WHEN 0 THEN sum(value) OVER points END AS elapsed_ns,
             CASE key % 2 WHEN 1 THEN sum(value) OVER points END AS live
      FROM region_timeline, json_each('[' || replace(replace(replace(
           hex(packed), 'A', ','), 'C', '-'), 'F', ',null') || ']')
      WHERE value IS NOT NULL
      WINDOW points AS (PARTITION BY region_id, key % 2 ORDER BY key))
GROUP BY region_id, place;
