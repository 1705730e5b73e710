-- oracle.sql: two decoders' figures for the same columns, side by side.
--
-- expected: a line of expected.jsonl each. found: the file and what `votdriver stats --json` says
-- of it. exceptions: what is known to differ, and who is right. Prints a line for each figure that
-- differs and is none of the exceptions, and for each exception that no longer differs.
.mode ascii
.separator "\037" "\n"
CREATE TABLE expected (line TEXT);
CREATE TABLE found (file TEXT, line TEXT);
CREATE TABLE exceptions (file TEXT, number TEXT, field TEXT, figure TEXT);
.import expected expected
.import found found
.import exceptions exceptions

CREATE TABLE wanted AS
SELECT line ->> 'file' AS file, CAST(line ->> 'table' AS TEXT) AS number,
    CAST(c.key AS TEXT) AS field,
    c.value ->> 'name' AS name, f.key AS figure, (c.value -> ('$.' || f.key)) AS value
FROM expected, json_each(line, '$.cols') AS c, json_each(c.value) AS f
WHERE f.key IN ('datatype', 'arraysize', 'nulls', 'items', 'magic', 'nan', 'inf', 'sum', 'bytes', 'crc')
UNION ALL
SELECT line ->> 'file', CAST(line ->> 'table' AS TEXT), NULL, NULL, 'rows', line -> 'rows' FROM expected
UNION ALL
SELECT line ->> 'file', CAST(line ->> 'table' AS TEXT), NULL, NULL, 'serialization', lower(line -> 'ser') FROM expected
UNION ALL
SELECT line ->> 'file', CAST(line ->> 'table' AS TEXT), NULL, NULL, 'columns', line -> 'ncols' FROM expected;

CREATE TABLE given AS
SELECT file, CAST(t.key AS TEXT) AS number, CAST(c.key AS TEXT) AS field, f.key AS figure,
    (c.value -> ('$.' || f.key)) AS value
FROM found, json_each(line, '$.tables') AS t, json_each(t.value, '$.columns') AS c,
    json_each(c.value) AS f
UNION ALL
SELECT file, CAST(t.key AS TEXT), NULL, 'rows', t.value -> 'rows'
FROM found, json_each(line, '$.tables') AS t
UNION ALL
SELECT file, CAST(t.key AS TEXT), NULL, 'serialization', lower(t.value -> 'serialization')
FROM found, json_each(line, '$.tables') AS t
UNION ALL
SELECT file, CAST(t.key AS TEXT), NULL, 'columns', CAST(json_array_length(t.value, '$.columns') AS TEXT)
FROM found, json_each(line, '$.tables') AS t;
CREATE INDEX given_by_column ON given (file, number, field, figure);

-- A float of TABLEDATA is rounded to a float as it is read, which the other decoder does not: each
-- item of a sum may be half of a last bit away.
CREATE TABLE rounding AS
SELECT f.file, CAST(t.key AS TEXT) AS number, CAST(c.key AS TEXT) AS field,
    (c.value ->> 'items') * 6e-8 *
    CASE c.value ->> 'datatype' WHEN 'float'
    THEN max(abs(c.value ->> 'min'), abs(c.value ->> 'max')) ELSE abs(c.value ->> 'sum') END AS reach
FROM found AS f, json_each(line, '$.tables') AS t, json_each(t.value, '$.columns') AS c
WHERE lower(t.value ->> 'serialization') = 'tabledata'
    AND c.value ->> 'datatype' IN ('float', 'floatComplex');
CREATE INDEX rounding_by_column ON rounding (file, number, field);

-- A figure that is left out is 0, an attribute that is left out null. Reals are the same when they
-- are the same double, however they are written; whole numbers may be larger than one.
CREATE TABLE differences AS
SELECT w.file, w.number, w.field, w.name, w.figure, w.value AS expected, g.value AS found
FROM wanted AS w LEFT JOIN given AS g ON g.file = w.file AND g.number = w.number
    AND g.field IS w.field AND g.figure = w.figure
WHERE w.value IS NOT g.value
    AND NOT (w.figure = 'arraysize' AND coalesce(w.value, 'null') = coalesce(g.value, 'null'))
    AND NOT (w.figure IN ('nulls', 'items', 'magic', 'nan', 'inf', 'bytes')
        AND coalesce(w.value, '0') = coalesce(g.value, '0'))
    AND NOT (w.figure = 'sum' AND w.value || coalesce(g.value, '') GLOB '*[.eE]*'
        AND (CAST(w.value AS REAL) = CAST(g.value AS REAL)
            OR abs(CAST(w.value AS REAL) - CAST(g.value AS REAL)) <= coalesce((
                SELECT r.reach FROM rounding AS r
                WHERE r.file = w.file AND r.number = w.number AND r.field = w.field), 0)));

.mode list
.separator " "
SELECT d.file, d.number, coalesce(d.field, '-'), d.figure || ':', coalesce(d.name, 'the table'),
    'expected', coalesce(d.expected, 'nothing') || ',', 'found', coalesce(d.found, 'nothing')
FROM differences AS d
WHERE NOT EXISTS (SELECT 1 FROM exceptions AS e WHERE e.file = d.file AND e.number = d.number
    AND e.field IN (coalesce(d.field, '-'), '*') AND e.figure IN (d.figure, '*'));
SELECT e.file, e.number, e.field, e.figure || ': no longer differs, take it out of the exceptions'
FROM exceptions AS e
WHERE NOT EXISTS (SELECT 1 FROM differences AS d WHERE e.file = d.file AND e.number = d.number
    AND e.field IN (coalesce(d.field, '-'), '*') AND e.figure IN (d.figure, '*'));
