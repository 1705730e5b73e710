-- stilts.sql: what stats says of a document, and of what STILTS wrote again after reading it.
--
-- theirs, ours: the JSON of `votdriver stats`, a line each. exceptions: columns that STILTS reads
-- wrongly or cannot say, and what of them. Prints a line for each figure that differs.
.mode ascii
.separator "\037" "\n"
CREATE TABLE ours (line TEXT);
CREATE TABLE theirs (line TEXT);
CREATE TABLE exceptions (name TEXT, figure TEXT);
.import ours ours
.import theirs theirs
.import exceptions exceptions

CREATE TABLE columns AS
SELECT 'ours' AS whose, c.value ->> 'name' AS name, c.value ->> 'datatype' AS datatype, f.key AS figure,
    f.value AS value
FROM ours, json_each(line, '$.tables[0].columns') AS c, json_each(c.value) AS f
UNION ALL
SELECT 'theirs', c.value ->> 'name', c.value ->> 'datatype', f.key, f.value
FROM theirs, json_each(line, '$.tables[0].columns') AS c, json_each(c.value) AS f;

-- STILTS has no complex numbers: both parts of each are items of a real array.
CREATE TABLE compared AS
SELECT o.name, o.figure, CASE WHEN o.figure = 'items' AND o.datatype LIKE '%Complex'
    THEN o.value * 2 ELSE o.value END AS ours, t.value AS theirs
FROM columns AS o LEFT JOIN columns AS t ON t.whose = 'theirs' AND t.name = o.name
    AND t.figure = o.figure
WHERE o.whose = 'ours' AND o.figure IN ('nulls', 'items', 'magic', 'nan', 'inf', 'sum', 'min', 'max', 'bytes', 'crc');

.mode list
.separator " "
SELECT name, figure || ': stats has', coalesce(ours, 'nothing') || ', STILTS', coalesce(theirs, 'nothing')
FROM compared AS c
WHERE ours IS NOT theirs
    AND NOT EXISTS (SELECT 1 FROM exceptions AS e WHERE c.name GLOB e.name AND c.figure GLOB e.figure);
SELECT 'compared', count(*), 'figures' FROM compared;
