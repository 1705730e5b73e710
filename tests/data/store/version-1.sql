-- SPDX-License-Identifier: BSD-3-Clause
-- version-1.sql: a store of version 1 with two runs, one of them killed: what migration starts from.
PRAGMA application_id=1987015794;
PRAGMA user_version=1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE benchmark (
    id         INTEGER PRIMARY KEY, -- number of the benchmark in this file
    name       TEXT NOT NULL,       -- as given by --name, or the program's name
    parameters TEXT NOT NULL,       -- JSON object, keys sorted, values text: {"format":"binary"}
    UNIQUE (name, parameters)
) STRICT;
INSERT INTO benchmark VALUES(1,'votable.parse','{"format":"binary"}');
INSERT INTO benchmark VALUES(2,'votable.parse','{"format":"text"}');
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
    pid              INTEGER NOT NULL, -- process id
    start_ns         INTEGER NOT NULL, -- when recording began, since 1970
    elapsed_ns       INTEGER NOT NULL, -- until exit; until the last region event when killed
    outcome          TEXT NOT NULL CHECK (outcome IN ('unknown', 'exited', 'signaled')), -- how the launcher saw it end
    status           INTEGER NOT NULL, -- exit status or signal number, 0 when unknown
    trace_end        TEXT NOT NULL CHECK (trace_end IN ('ended', 'killed', 'snapshot')), -- how the trace says it ended
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
    settings_ignored INTEGER NOT NULL  -- VOTRACE_* settings not understood
) STRICT;
INSERT INTO run VALUES(1,'4a154fd4-3604-4dac-852a-3bcb40d8d252','f30042d2-61d2-4434-ae80-b2de5d981065',1,1,'victim','/opt/votrace/victim','/home/user','["/opt/votrace/victim","20000"]','host','6.1.0','x86_64','0.1.0',4621,1796045572944785244,396532,'exited',0,'ended','region',64,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO run VALUES(2,'5492638b-998e-40da-a207-b0a61e628918','36a5b2ac-8a9f-4b65-aa86-c3033604d325',1,2,'victim','/opt/votrace/victim','/home/user','["/opt/votrace/victim","500","kill"]','host','6.1.0','x86_64','0.1.0',4626,1796045573109938706,1163697,'signaled',9,'killed','region',64,0,0,0,0,0,0,0,0,0,0,0,0,0);
CREATE TABLE module (
    id       INTEGER PRIMARY KEY, -- number of the module in this file
    path     TEXT NOT NULL,       -- absolute path, '' for addresses outside any file
    build_id TEXT NOT NULL,       -- hexadecimal, '' when it has none
    UNIQUE (path, build_id)
) STRICT;
INSERT INTO module VALUES(1,'','');
INSERT INTO module VALUES(2,'/opt/votrace/victim','06df757d2319659264d0df9805731c44f0738489');
INSERT INTO module VALUES(3,'linux-vdso.so.1','e025128345ce65b719dab776555f2b64ee0204a1');
INSERT INTO module VALUES(4,'/opt/votrace/libvotrace.so','ae264ed19d552aaaeb8cb8ddb4617beafad0976a');
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
INSERT INTO frame VALUES(1,2,4417,0,'_start','',0);
INSERT INTO frame VALUES(2,2,4631,0,'buffer_rows','/usr/src/votrace/victim.c',24);
INSERT INTO frame VALUES(3,2,4668,0,'decode_rows','/usr/src/votrace/victim.c',34);
INSERT INTO frame VALUES(4,2,4831,0,'parse','/usr/src/votrace/victim.c',44);
INSERT INTO frame VALUES(5,2,4844,0,'parse','/usr/src/votrace/victim.c',45);
INSERT INTO frame VALUES(6,2,4997,0,'parse','/usr/src/votrace/victim.c',43);
INSERT INTO frame VALUES(7,2,5125,0,'main','/usr/src/votrace/victim.c',70);
INSERT INTO frame VALUES(8,5,160330,0,'__libc_start_call_main','sysdeps/nptl/libc_start_call_main.h',58);
INSERT INTO frame VALUES(9,5,160517,0,'__libc_start_main_impl','csu/libc-start.c',360);
INSERT INTO frame VALUES(10,2,5325,0,'main','/usr/src/votrace/victim.c',70);
CREATE TABLE stack (
    id        INTEGER PRIMARY KEY, -- a parent's number is always the smaller
    parent_id INTEGER NOT NULL REFERENCES stack(id), -- the caller
    frame_id  INTEGER REFERENCES frame(id), -- NULL for the root only
    UNIQUE (parent_id, frame_id)
) STRICT;
INSERT INTO stack VALUES(0,0,NULL);
INSERT INTO stack VALUES(1,0,1);
INSERT INTO stack VALUES(2,1,9);
INSERT INTO stack VALUES(3,2,8);
INSERT INTO stack VALUES(4,3,7);
INSERT INTO stack VALUES(5,4,6);
INSERT INTO stack VALUES(6,5,2);
INSERT INTO stack VALUES(7,4,4);
INSERT INTO stack VALUES(8,7,3);
INSERT INTO stack VALUES(9,4,5);
INSERT INTO stack VALUES(10,9,3);
INSERT INTO stack VALUES(11,3,10);
INSERT INTO stack VALUES(12,11,6);
INSERT INTO stack VALUES(13,12,2);
INSERT INTO stack VALUES(14,11,4);
INSERT INTO stack VALUES(15,14,3);
INSERT INTO stack VALUES(16,11,5);
INSERT INTO stack VALUES(17,16,3);
CREATE TABLE region (
    id             INTEGER PRIMARY KEY, -- number of the instance in this file
    run_id         INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- of which run
    ordinal        INTEGER NOT NULL, -- 0 is "process", then in order of their begins
    parent_ordinal INTEGER NOT NULL, -- the region it began in
    name           TEXT NOT NULL,    -- as marked by the program
    instance       INTEGER NOT NULL, -- 1, 2 ... among those of this name
    open           INTEGER NOT NULL, -- 1: never ended
    has_sites      INTEGER NOT NULL, -- 0: only totals were kept
    begin_ns       INTEGER NOT NULL, -- since the start of the run
    end_ns         INTEGER NOT NULL, -- since the start of the run, 0 while open
    cpu_ns         INTEGER NOT NULL, -- CPU time of the process from begin to end
    combined_start INTEGER NOT NULL, -- heap and anonymous mappings together, bytes at begin
    combined_peak  INTEGER NOT NULL, -- bytes at the peak of their sum
    combined_end   INTEGER NOT NULL, -- bytes at the end
    UNIQUE (run_id, ordinal)
) STRICT;
INSERT INTO region VALUES(1,1,0,0,'process',1,1,1,175532,0,0,0,26000,2000);
INSERT INTO region VALUES(2,1,1,0,'parse',1,0,1,285226,392927,107661,1000,26000,3000);
INSERT INTO region VALUES(3,2,0,0,'process',1,1,1,173759,0,0,0,6500,6500);
INSERT INTO region VALUES(4,2,1,0,'parse',1,1,1,1163697,0,0,1000,6500,6500);
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
INSERT INTO region_total VALUES(1,'heap',0,26000,2000,0,1,4,3,26000,24000,1,20000,0,0,26000);
INSERT INTO region_total VALUES(2,'heap',1000,26000,3000,1,2,3,2,25000,23000,1,20000,0,0,25000);
INSERT INTO region_total VALUES(3,'heap',0,6500,6500,0,4,4,0,6500,0,0,3000,0,0,6500);
INSERT INTO region_total VALUES(4,'heap',1000,6500,6500,1,4,3,0,5500,0,0,3000,0,0,5500);
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
INSERT INTO region_site VALUES(1,'heap',0,1,1,1000,1,1000,0,0,1,1000,0,0,0);
INSERT INTO region_site VALUES(1,'heap',6,0,1,20000,1,20000,0,0,1,20000,0,0,0);
INSERT INTO region_site VALUES(1,'heap',8,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(1,'heap',10,0,1,3000,1,3000,0,0,1,3000,0,0,1);
INSERT INTO region_site VALUES(2,'heap',0,1,0,0,0,0,1,1000,1,1000,1,1000,0);
INSERT INTO region_site VALUES(2,'heap',6,0,1,20000,1,20000,0,0,1,20000,0,0,0);
INSERT INTO region_site VALUES(2,'heap',8,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(2,'heap',10,0,1,3000,1,3000,0,0,1,3000,0,0,1);
INSERT INTO region_site VALUES(3,'heap',0,1,1,1000,0,0,0,0,1,1000,1,1000,0);
INSERT INTO region_site VALUES(3,'heap',13,0,1,500,0,0,0,0,1,500,1,500,0);
INSERT INTO region_site VALUES(3,'heap',15,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(3,'heap',17,0,1,3000,0,0,0,0,1,3000,1,3000,0);
INSERT INTO region_site VALUES(4,'heap',0,1,0,0,0,0,1,1000,1,1000,1,1000,0);
INSERT INTO region_site VALUES(4,'heap',13,0,1,500,0,0,0,0,1,500,1,500,0);
INSERT INTO region_site VALUES(4,'heap',15,0,1,2000,0,0,0,0,1,2000,1,2000,0);
INSERT INTO region_site VALUES(4,'heap',17,0,1,3000,0,0,0,0,1,3000,1,3000,0);
CREATE INDEX run_by_benchmark ON run (benchmark_id, id);
COMMIT;
