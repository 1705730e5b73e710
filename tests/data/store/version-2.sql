-- SPDX-License-Identifier: BSD-3-Clause
-- version-2.sql: a store of version 2: a run with a region of one thread, and its forked child.
PRAGMA application_id=1987015794;
PRAGMA user_version=2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE benchmark (
    id         INTEGER PRIMARY KEY, -- number of the benchmark in this file
    name       TEXT NOT NULL,       -- as given by --name, or the program's name
    parameters TEXT NOT NULL,       -- JSON object, keys sorted, values text: {"format":"binary"}
    UNIQUE (name, parameters)
) STRICT;
INSERT INTO benchmark VALUES(1,'votable.parse/victim','{"format":"binary"}');
INSERT INTO benchmark VALUES(2,'votable.parse','{"format":"binary"}');
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
INSERT INTO run VALUES(1,'3da4da3e-3bf5-4795-835b-18dbf3add15c','a88546c8-8671-4d82-aaf2-0eecc8046f6f',1,1,'victim','/opt/votrace/victim','/opt/votrace','["./victim"]','host','6.1.0','x86_64','0.1.0','4f52c795c9c56a003aac412f5dbc68e5','1af88992b72e007236118068925c2f0e',1,0,20315,20314,1796056685912446316,640095,'unknown',0,'ended','region',64,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO run VALUES(2,'6bea0831-22fa-4e23-83ab-564dcc88fa83','a88546c8-8671-4d82-aaf2-0eecc8046f6f',1,2,'victim','/opt/votrace/victim','/opt/votrace','["./victim"]','host','6.1.0','x86_64','0.1.0','1af88992b72e007236118068925c2f0e','',0,0,20314,20302,1796056685905019148,13184765,'exited',0,'ended','region',64,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
CREATE TABLE module (
    id       INTEGER PRIMARY KEY, -- number of the module in this file
    path     TEXT NOT NULL,       -- absolute path, '' for addresses outside any file
    build_id TEXT NOT NULL,       -- hexadecimal, '' when it has none
    UNIQUE (path, build_id)
) STRICT;
INSERT INTO module VALUES(1,'','');
INSERT INTO module VALUES(2,'/opt/votrace/victim','a5f625cb20038765913efa794b6f4ff065c081d6');
INSERT INTO module VALUES(3,'linux-vdso.so.1','e025128345ce65b719dab776555f2b64ee0204a1');
INSERT INTO module VALUES(4,'/opt/votrace/libvotrace.so','4799a87577f8bd52a1183c92163e13e46ddaa6ed');
INSERT INTO module VALUES(5,'/lib/x86_64-linux-gnu/libc.so.6','93ac61ec5a8eb1396f9fbd350e3169a558528a40');
INSERT INTO module VALUES(6,'/lib/x86_64-linux-gnu/libunwind.so.8','dbd50d23f0d2cec93bd2154478e352c8b9c32d34');
INSERT INTO module VALUES(7,'/lib64/ld-linux-x86-64.so.2','7ebc65e52f2bbea498b4040fa92f7238377aaba9');
INSERT INTO module VALUES(8,'/lib/x86_64-linux-gnu/liblzma.so.5','72a44fc3edc93188d045e65d92d28d50e373dbcb');
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
INSERT INTO frame VALUES(1,2,4369,0,'_start','',0);
INSERT INTO frame VALUES(2,2,4583,0,'decode','/opt/votrace/victim.c',7);
INSERT INTO frame VALUES(3,2,4656,0,'parse','/opt/votrace/victim.c',10);
INSERT INTO frame VALUES(4,2,4688,0,'parse','/opt/votrace/victim.c',11);
INSERT INTO frame VALUES(5,2,4742,0,'parse','/opt/votrace/victim.c',12);
INSERT INTO frame VALUES(6,2,4987,0,'main','/opt/votrace/victim.c',24);
INSERT INTO frame VALUES(7,5,160330,0,'__libc_start_call_main','sysdeps/nptl/libc_start_call_main.h',58);
INSERT INTO frame VALUES(8,5,160517,0,'__libc_start_main_impl','csu/libc-start.c',360);
INSERT INTO frame VALUES(9,2,4896,0,'main','/opt/votrace/victim.c',20);
INSERT INTO frame VALUES(10,2,4906,0,'main','/opt/votrace/victim.c',20);
INSERT INTO frame VALUES(11,2,4916,0,'main','/opt/votrace/victim.c',20);
CREATE TABLE stack (
    id        INTEGER PRIMARY KEY, -- a parent's number is always the smaller
    parent_id INTEGER NOT NULL REFERENCES stack(id), -- the caller
    frame_id  INTEGER REFERENCES frame(id), -- NULL for the root only
    UNIQUE (parent_id, frame_id)
) STRICT;
INSERT INTO stack VALUES(0,0,NULL);
INSERT INTO stack VALUES(1,0,1);
INSERT INTO stack VALUES(2,1,8);
INSERT INTO stack VALUES(3,2,7);
INSERT INTO stack VALUES(4,3,6);
INSERT INTO stack VALUES(5,4,3);
INSERT INTO stack VALUES(6,5,2);
INSERT INTO stack VALUES(7,4,4);
INSERT INTO stack VALUES(8,7,2);
INSERT INTO stack VALUES(9,4,5);
INSERT INTO stack VALUES(10,3,9);
INSERT INTO stack VALUES(11,10,3);
INSERT INTO stack VALUES(12,11,2);
INSERT INTO stack VALUES(13,10,4);
INSERT INTO stack VALUES(14,13,2);
INSERT INTO stack VALUES(15,10,5);
INSERT INTO stack VALUES(16,3,10);
INSERT INTO stack VALUES(17,16,3);
INSERT INTO stack VALUES(18,17,2);
INSERT INTO stack VALUES(19,16,4);
INSERT INTO stack VALUES(20,19,2);
INSERT INTO stack VALUES(21,16,5);
INSERT INTO stack VALUES(22,3,11);
INSERT INTO stack VALUES(23,22,3);
INSERT INTO stack VALUES(24,23,2);
INSERT INTO stack VALUES(25,22,4);
INSERT INTO stack VALUES(26,25,2);
INSERT INTO stack VALUES(27,22,5);
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
INSERT INTO region VALUES(1,1,0,0,'process',1,0,1,1,361,0,0,6000,74046,8000,585925,6024,8552,8032,'[0,0,0,0,0,0,0,5,0,0,0,1]','[361,6000,568618,2000,16295,100,370,101,140,102,70,103,71,104,0,0,16604,-100,411,-101,100,-102,60,-103,70,-104,36925,0]');
INSERT INTO region VALUES(2,1,1,0,'parse',1,0,0,1,488058,606215,117865,6000,74046,8000,585925,6024,8552,8032,'[0,0,0,0,0,0,0,5,0,0,0,1]','[488058,6000,80921,2000,16295,100,370,101,140,102,70,103,71,104,0,0,16604,-100,411,-101,100,-102,60,-103,70,-104,3045,0]');
INSERT INTO region VALUES(3,2,0,0,'process',1,0,1,1,120,0,0,0,74967,6000,575990,0,9600,6024,'[0,0,0,0,0,0,0,63,0,0,1,3]','[120,0,394419,1000,90104,2000,10025,100,341,101,140,102,2023,103,110,104,70,105,81,106,70,107,70,108,70,109,80,110,70,111,70,112,70,113,80,114,71,115,70,116,70,117,80,118,70,119,18558,-100,410,-101,80,-102,70,-103,61,-104,60,-105,60,-106,60,-107,60,-108,60,-109,60,-110,60,-111,60,-112,60,-113,70,-114,61,-115,60,-116,60,-117,60,-118,70,-119,20190,2000,3636,100,240,101,170,102,80,103,70,104,70,105,71,106,70,107,70,108,70,109,70,110,70,111,100,112,80,113,70,114,81,115,70,116,70,117,80,118,100,119,1993,120,6119,-100,150,-101,81,-102,70,-103,60,-104,60,-105,60,-106,60,-107,60,-108,50,-109,60,-110,60,-111,60,-112,71,-113,60,-114,60,-115,60,-116,60,-117,60,-118,60,-119,60,-120,20090,2000,581,100,210,101,141,102,80,103,110,104,80,105,70,106,80,107,80,108,70,109,60,110,71,111,100,112,80,113,80,114,80,115,70,116,80,117,70,118,70,119,91,120,110,121,0,0,5598,-100,70,-101,60,-102,60,-103,61,-104,60,-105,60,-106,60,-107,60,-108,50,-109,60,-110,60,-111,60,-112,70,-113,60,-114,61,-115,60,-116,60,-117,60,-118,60,-119,60,-120,60,-121,69444,-1000,12532461,0]');
INSERT INTO region VALUES(4,2,1,0,'parse',1,0,0,1,395510,521719,125778,1000,70726,3000,498374,1000,5328,3008,'[0,0,0,0,0,0,0,20,0,0,0,1]','[395510,1000,89133,2000,10025,100,341,101,140,102,2023,103,110,104,70,105,81,106,70,107,70,108,70,109,80,110,70,111,70,112,70,113,80,114,71,115,70,116,70,117,80,118,70,119,0,0,18558,-100,410,-101,80,-102,70,-103,61,-104,60,-105,60,-106,60,-107,60,-108,60,-109,60,-110,60,-111,60,-112,60,-113,70,-114,61,-115,60,-116,60,-117,60,-118,70,-119,3245,0]');
INSERT INTO region VALUES(5,2,2,0,'parse',2,0,0,1,524002,555309,31447,3000,72846,5000,545995,3008,7456,5016,'[0,0,0,0,0,0,0,21,0,0,0,1]','[524002,3000,14662,2000,3636,100,240,101,170,102,80,103,70,104,70,105,71,106,70,107,70,108,70,109,70,110,70,111,100,112,80,113,70,114,81,115,70,116,70,117,80,118,100,119,1993,120,0,0,6119,-100,150,-101,81,-102,70,-103,60,-104,60,-105,60,-106,60,-107,60,-108,50,-109,60,-110,60,-111,60,-112,71,-113,60,-114,60,-115,60,-116,60,-117,60,-118,60,-119,60,-120,1873,0]');
INSERT INTO region VALUES(6,2,3,0,'parse',3,0,0,1,556791,584763,28102,5000,74967,7000,575990,5016,9600,7024,'[0,0,0,0,0,0,0,22,0,0,0,1]','[556791,5000,16735,2000,581,100,210,101,141,102,80,103,110,104,80,105,70,106,80,107,80,108,70,109,60,110,71,111,100,112,80,113,80,114,80,115,70,116,80,117,70,118,70,119,91,120,110,121,0,0,5598,-100,70,-101,60,-102,60,-103,61,-104,60,-105,60,-106,60,-107,60,-108,50,-109,60,-110,60,-111,60,-112,70,-113,60,-114,61,-115,60,-116,60,-117,60,-118,60,-119,60,-120,60,-121,1903,0]');
INSERT INTO region VALUES(7,2,4,0,'work',1,20314,0,1,586185,652504,66499,0,0,-1000,586185,0,0,-1000,'[]','[586185,0,0,0,66119,-1000,200,0]');
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
INSERT INTO region_total VALUES(1,'heap',6000,8510,8000,3,4,6,5,2510,510,0,2000,0,0,8510);
INSERT INTO region_total VALUES(1,'map_anon',0,65536,0,0,0,1,1,65536,65536,0,65536,0,0,65536);
INSERT INTO region_total VALUES(2,'heap',6000,8510,8000,3,4,6,5,2510,510,0,2000,0,0,2510);
INSERT INTO region_total VALUES(2,'map_anon',0,65536,0,0,0,1,1,65536,65536,0,65536,0,0,65536);
INSERT INTO region_total VALUES(3,'heap',0,9431,6000,0,3,67,64,13931,7931,0,2000,0,0,9431);
INSERT INTO region_total VALUES(3,'map_anon',0,65536,0,0,0,3,3,196608,196608,0,65536,0,0,65536);
INSERT INTO region_total VALUES(4,'heap',1000,5190,3000,1,2,21,20,4190,2190,0,2000,0,0,4190);
INSERT INTO region_total VALUES(4,'map_anon',0,65536,0,0,0,1,1,65536,65536,0,65536,0,0,65536);
INSERT INTO region_total VALUES(5,'heap',3000,7310,5000,2,3,22,21,4310,2310,0,2000,0,0,4310);
INSERT INTO region_total VALUES(5,'map_anon',0,65536,0,0,0,1,1,65536,65536,0,65536,0,0,65536);
INSERT INTO region_total VALUES(6,'heap',5000,9431,7000,3,4,23,22,4431,2431,0,2000,0,0,4431);
INSERT INTO region_total VALUES(6,'map_anon',0,65536,0,0,0,1,1,65536,65536,0,65536,0,0,65536);
INSERT INTO region_total VALUES(7,'heap',0,0,-1000,0,-1,0,1,0,1000,0,0,0,0,0);
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
INSERT INTO region_site VALUES(1,'heap',0,1,0,0,0,0,3,6000,3,6000,3,6000,0);
INSERT INTO region_site VALUES(1,'heap',6,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(1,'heap',8,0,5,510,5,510,0,0,5,510,0,0,0);
INSERT INTO region_site VALUES(1,'map_anon',9,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(2,'heap',0,1,0,0,0,0,3,6000,3,6000,3,6000,0);
INSERT INTO region_site VALUES(2,'heap',6,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(2,'heap',8,0,5,510,5,510,0,0,5,510,0,0,0);
INSERT INTO region_site VALUES(2,'map_anon',9,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(3,'heap',0,1,1,1000,1,1000,0,0,1,1000,0,0,0);
INSERT INTO region_site VALUES(3,'heap',12,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(3,'heap',14,0,20,2190,20,2190,0,0,0,0,0,0,0);
INSERT INTO region_site VALUES(3,'heap',18,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(3,'heap',20,0,21,2310,21,2310,0,0,0,0,0,0,0);
INSERT INTO region_site VALUES(3,'heap',24,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(3,'heap',26,0,22,2431,22,2431,0,0,22,2431,0,0,0);
INSERT INTO region_site VALUES(3,'map_anon',15,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(3,'map_anon',21,0,1,65536,1,65536,0,0,0,0,0,0,0);
INSERT INTO region_site VALUES(3,'map_anon',27,0,1,65536,1,65536,0,0,0,0,0,0,0);
INSERT INTO region_site VALUES(4,'heap',0,1,0,0,0,0,1,1000,1,1000,1,1000,0);
INSERT INTO region_site VALUES(4,'heap',12,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(4,'heap',14,0,20,2190,20,2190,0,0,20,2190,0,0,0);
INSERT INTO region_site VALUES(4,'map_anon',15,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(5,'heap',0,1,0,0,0,0,1,1000,1,1000,1,1000,0);
INSERT INTO region_site VALUES(5,'heap',12,0,0,0,0,0,1,2000,1,2000,1,2000,0);
INSERT INTO region_site VALUES(5,'heap',18,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(5,'heap',20,0,21,2310,21,2310,0,0,21,2310,0,0,0);
INSERT INTO region_site VALUES(5,'map_anon',21,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(6,'heap',0,1,0,0,0,0,1,1000,1,1000,1,1000,0);
INSERT INTO region_site VALUES(6,'heap',12,0,0,0,0,0,1,2000,1,2000,1,2000,0);
INSERT INTO region_site VALUES(6,'heap',18,0,0,0,0,0,1,2000,1,2000,1,2000,0);
INSERT INTO region_site VALUES(6,'heap',24,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(6,'heap',26,0,22,2431,22,2431,0,0,22,2431,0,0,0);
INSERT INTO region_site VALUES(6,'map_anon',27,0,1,65536,1,65536,0,0,1,65536,0,0,0);
INSERT INTO region_site VALUES(7,'heap',0,1,0,0,1,1000,0,0,0,0,-1,-1000,0);
CREATE INDEX run_by_benchmark ON run (benchmark_id, id);
CREATE INDEX run_by_trace ON run (trace_uuid, id);
CREATE INDEX run_by_set ON run (set_uuid, pid);
CREATE VIEW v_timeline AS
SELECT region_id, place, max(elapsed_ns) AS elapsed_ns, max(live) AS live -- since the start of the run; bytes
FROM (SELECT region.id AS region_id, key / 2 AS place, key % 2 AS is_live,
             CASE key % 2 WHEN 0 THEN sum(value) OVER points END AS elapsed_ns,
             CASE key % 2 WHEN 1 THEN sum(value) OVER points END AS live
      FROM region, json_each(region.timeline)
      WINDOW points AS (PARTITION BY region.id, key % 2 ORDER BY key))
GROUP BY region_id, place
;
COMMIT;
