-- SPDX-License-Identifier: BSD-3-Clause
--
-- numbers.sql: one line for each run of which run-ID, in the current folder, is what
-- `votreport show --json` says of its one region. `list` gives the order. Writes the modules whose
-- code asked for memory, but for the program's own, to the file modules.

CREATE TABLE document AS
SELECT key AS place, readfile('run-' || (value ->> 'run')) AS text
FROM json_each(readfile('list'));

CREATE TABLE frame AS
SELECT place, frames.key AS number, frames.value ->> 'module' AS module
FROM document, json_each(text, '$.frames') AS frames;
CREATE UNIQUE INDEX frame_number ON frame (place, number);

-- The caller of the allocator is the first of a stack, whoever called that.
CREATE TABLE site AS
SELECT document.place, frame.module, frame.module = text ->> 'exe' AS own,
       sites.value ->> 'at_peak' AS at_peak, sites.value ->> 'live_start' AS live_start,
       sites.value ->> 'live_end' AS live_end, sites.value ->> 'allocations' AS allocations,
       sites.value ->> 'allocated_bytes' AS allocated_bytes
FROM document, json_each(text, '$.regions[0].sites') AS sites
LEFT JOIN frame ON frame.place = document.place AND frame.number = sites.value ->> '$.stack[0]'
WHERE sites.value ->> 'space' = 'heap';

CREATE TABLE own AS
SELECT place, sum(at_peak - live_start) AS peak, sum(live_end - live_start) AS net,
       sum(allocations) AS allocations, sum(allocated_bytes) AS allocated
FROM site WHERE own GROUP BY place;

.output modules
SELECT DISTINCT module FROM site WHERE NOT own ORDER BY module;
.output stdout

SELECT printf('%-9s  %-8s  %10s  %8s  %11s  %9s  %8s  %8s  %15s  %13s', 'format', 'strategy',
              'peak_added', 'net', 'allocations', 'allocated', 'own_peak', 'own_net',
              'own_allocations', 'own_allocated');
SELECT printf('%-9s  %-8s  %10d  %8d  %11d  %9d  %8d  %8d  %15d  %13d',
              text ->> '$.parameters.format', text ->> '$.parameters.strategy',
              text ->> '$.regions[0].peak_added', text ->> '$.regions[0].net',
              text ->> '$.regions[0].allocations', text ->> '$.regions[0].allocated_bytes',
              own.peak, own.net, own.allocations, own.allocated)
FROM document JOIN own USING (place) ORDER BY place;
