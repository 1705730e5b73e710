# SPDX-License-Identifier: BSD-3-Clause
#
# tally.awk: count what a meson test run tested. Reads meson-logs/testlog.json, one test a line.
#
# Prints `passed failed skipped`. A test that speaks TAP counts once for each of its subtests,
# any other once. A TAP test that failed as a whole (killed by a timeout, a sanitizer's report
# after the last subtest, a plan that was not kept) while none of its subtests failed counts one
# failure more; one that printed nothing tested nothing, and fails. With -v failures=FILE, the output of every failed test is appended there.
#
# Within JSON strings each quote is escaped, so the text `"result": "` is only ever the key.

function unescape(text) {
    gsub(/\\n/, "\n", text)
    gsub(/\\t/, "\t", text)
    gsub(/\\r/, "", text)
    gsub(/\\"/, "\"", text)
    gsub(/\\\\/, "\\", text)
    return text
}

# The string value of @key, still escaped; empty when there is none.
function value(line, key,    start, rest) {
    start = index(line, "\"" key "\": \"")
    if (!start)
        return ""
    rest = substr(line, start + length(key) + 5)
    match(rest, /^([^"\\]|\\.)*/)
    return substr(rest, 1, RLENGTH)
}

# Count the TAP lines of @output into tap_ok, tap_bad, tap_skipped; 0 when it has no plan.
function count_tap(output,    lines, count, i, planned) {
    tap_ok = tap_bad = tap_skipped = planned = 0
    count = split(output, lines, /\\n/)
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^1\.\.[0-9]/) {
            planned = 1
            tap_skipped += lines[i] ~ /^1\.\.0 *#/
        } else if (lines[i] ~ /^(not )?ok .*# *([Ss][Kk][Ii][Pp]|TODO)/) {
            tap_skipped++
        } else if (lines[i] ~ /^not ok( |$)/) {
            tap_bad++
        } else if (lines[i] ~ /^ok( |$)/) {
            tap_ok++
        }
    }
    return planned
}

{
    result = value($0, "result")
    output = value($0, "stdout")
    silent = result == "SKIP" && output == "" && $0 ~ /"returncode": 0,/
    bad = result !~ /^(OK|EXPECTEDFAIL|SKIP)$/ || silent
    if (count_tap(output)) {
        passed += tap_ok
        failed += tap_bad + (bad && !tap_bad)
        skipped += tap_skipped
        bad = bad || tap_bad
    } else if (bad) {
        failed++
    } else if (result == "SKIP") {
        skipped++
    } else {
        passed++
    }
    if (bad && failures) {
        printf "--- %s: %s\n%s%s\n", value($0, "name"), result, unescape(output),
            unescape(value($0, "stderr")) >> failures
    }
}

END {
    print passed + 0, failed + 0, skipped + 0
}
