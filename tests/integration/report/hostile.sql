-- SPDX-License-Identifier: BSD-3-Clause
-- hostile.sql: give every name in a store what does harm where it is not expected: markup, quotes,
-- table cells, lines of their own, terminals' escapes, no UTF-8, formulas, and a very long one.
CREATE TEMP TABLE hostile (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO hostile (name) VALUES
    ('<script>alert(1)</script><img src=x onerror=alert(2)>'),
    ('"double" ''single'' `touch pwned` $(touch pwned) \back ${{ secrets.X }} %s%n%0A'),
    ('cell | cell || [link](javascript:alert(3)) **bold** <!-- '),
    ('first' || char(10) || '::error file=x::second' || char(13, 10) || '| a | b |' || char(9) || 'tab'),
    ('red' || char(27) || '[31m' || char(27) || ']0;title' || char(7) || char(155) || '2J' || char(8238) || 'odd'),
    ('bad' || CAST(x'ff' AS TEXT) || CAST(x'c3' AS TEXT) || '(' || CAST(x'eda080' AS TEXT)),
    ('=cmd|'' /C calc''!A0'),
    ('-1+1;@SUM(A1);two frames 12'),
    (']]></text></svg></script><!-- & &lt; &#x3c; -->'),
    ('std::map<' || replace(hex(zeroblob(5000)), '00', 'std::pair<k, v>, ') || 'e>::f');

-- A name stands once for each function, so that all of them are in some stack.
-- The victim has seven functions; two names each, and every name in one of them.
UPDATE symbol SET function =
                      (SELECT name FROM hostile WHERE number = '[7,10,1,4,8,5,9]' ->> ('$[' || ((symbol.id - 1) % 7) || ']')) || ' ' ||
                      (SELECT name FROM hostile WHERE number = '[2,1,3,6,1,2,9]' ->> ('$[' || ((symbol.id - 1) % 7) || ']')) || ' #' || id,
                  file = '/src/' || (SELECT name FROM hostile WHERE number = 1 + ((symbol.id + 3) % 9)) || '.c';
UPDATE frame SET line = id;
UPDATE module SET path = '/opt/' || (SELECT name FROM hostile WHERE number = 1 + (module.id % 9)) || '.so.' || id
    WHERE path <> '';
UPDATE region SET name = (SELECT name FROM hostile WHERE number = 1 + ((ordinal + 3) % 9)) WHERE ordinal > 0;
UPDATE run SET headline_region =
    (SELECT name FROM region WHERE run_id = run.id AND ordinal = 1);
UPDATE run SET program = (SELECT name FROM hostile WHERE number = 4), exe = program, cwd = program,
               host = (SELECT name FROM hostile WHERE number = 5), kernel = host,
               commit_hash = (SELECT name FROM hostile WHERE number = run.id), tree = 'dirty',
               branch = (SELECT name FROM hostile WHERE number = 7), cpu_model = branch, libc = branch,
               command = json_array((SELECT name FROM hostile WHERE number = 1), char(27) || '[2J');
