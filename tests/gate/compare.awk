# SPDX-License-Identifier: BSD-3-Clause
#
# compare.awk BASELINE NEW: two tables of gate.sh's numbers. One line for each number that differs;
# with own=1 only of what votdriver asked for itself. Exit status: 0 none does, 1 some do, 2 they
# are not of the same parses.

function trouble(text) {
    print text
    status = 2
    exit
}

BEGIN {
    judged = own ? " own_net own_allocations own_allocated " : ""
}

/^(#|library |compiler |$)/ { next }

$1 == "format" {
    for (i = 3; i <= NF; i++)
        name[FILENAME, i] = $i
    next
}

FILENAME == ARGV[1] {
    base[$1, $2] = $0
    bases++
    next
}

{
    if (!(($1, $2) in base))
        trouble($1 " by " $2 " is not in the baseline")
    news++
    fields = split(base[$1, $2], before)
    if (fields != NF)
        trouble("the baseline has other columns")
    for (i = 3; i <= NF; i++) {
        if (name[FILENAME, i] != name[ARGV[1], i])
            trouble("the baseline has other columns")
        if (judged != "" && index(judged, " " name[FILENAME, i] " ") == 0)
            continue
        if ($i == before[i])
            continue
        printf "  %-9s  %-6s  %-15s  %9d -> %9d  (%+d)\n", $1, $2, name[FILENAME, i],
            before[i], $i, $i - before[i]
        status = 1
    }
}

END {
    if (status != 2 && (bases == 0 || news != bases)) {
        print "the baseline has parses that were not measured"
        status = 2
    }
    exit status
}
