# SPDX-License-Identifier: BSD-3-Clause
#
# table.awk: lines of WORKLOAD TOOL MEASURE VALUE to three tables: the targets and what was
# reached, every figure, and the traces. Each figure is the median of its samples.
# -v tools='...' and -v workloads='...' give the order, -v targets=FILE the targets. A workload
# without samples is one that could not be measured here.

function in_bytes(kib) {
    return kib == "" ? "" : kib * 1024
}

# What the tool adds to the plain program.
function added(workload, tool, measure,    plain, with) {
    plain = median(workload, "plain", measure)
    with = median(workload, tool, measure)
    return plain == "" || with == "" ? "" : with - plain
}

function measured(workload, tool, measure) {
    if (measure == "of-heaptrack")
        return ratio(added(workload, tool, "seconds"), added(workload, "heaptrack", "seconds"))
    if (measure == "x-plain")
        return ratio(median(workload, tool, "seconds"), median(workload, "plain", "seconds"))
    if (measure == "of-heap")
        return ratio(in_bytes(added(workload, tool, "kib")), median(workload, "memusage", "heap"))
    if (measure == "of-heaptrack-kib")
        return ratio(added(workload, tool, "kib"), added(workload, "heaptrack", "kib"))
    if (measure == "trace-mib")
        return ratio(median(workload, tool, "trace"), 1048576)
    if (measure == "disk-mib")
        return ratio(median(workload, tool, "disk"), 1048576)
    if (measure == "x-second")
        return ratio(median(workload, tool, "trace"), median("age-1", tool, "trace"))
    print "table.awk: targets: no measure is called " measure >"/dev/stderr"
    failed = 2
    exit failed
}

# @figure with @digits after the point, - for none.
function show(figure, digits) {
    return figure == "" ? "-" : sprintf("%." digits "f", figure)
}

function line(character, length_wanted,    text) {
    while (length(text) < length_wanted)
        text = text character
    return text
}

function print_targets(    text, word, n, i, words, width, figure, target, verdict, rows, row) {
    while ((getline text < targets) > 0) {
        n = split(text, word, " ")
        if (n == 0 || word[1] ~ /^#/ || !(word[1] in asked))
            continue
        words = word[5]
        for (i = 6; i <= n; i++)
            words = words " " word[i]
        figure = measured(word[1] == "trace-age" ? age_long : word[1], word[2], word[3])
        target = word[4] == "-" ? "-" : "<= " word[4]
        verdict = word[4] == "-" ? "" : figure == "" ? "not measured" : \
            figure <= word[4] + 0 ? "met" : "missed"
        row[++rows] = word[1] SUBSEP words SUBSEP show(figure, 2) SUBSEP target SUBSEP verdict
        if (length(words) > width)
            width = length(words)
    }
    if (rows == 0) {
        print "table.awk: no targets for these workloads in " targets >"/dev/stderr"
        failed = 2
        exit failed
    }
    printf "| %-12s | %-" width "s | %6s | %7s | %-12s |\n", "workload", "what", "figure", \
        "target", ""
    printf "| %s | %s | -----: | ------: | ------------ |\n", line("-", 12), line("-", width)
    for (i = 1; i <= rows; i++) {
        split(row[i], word, SUBSEP)
        printf "| %-12s | %-" width "s | %6s | %7s | %-12s |\n", word[1], word[2], word[3], \
            word[4], word[5]
    }
}

function print_figures(    i, j, w, t, seconds, range, mib) {
    printf "| %-12s | %-39s | %7s | %15s | %7s | %7s | %12s | %12s | %9s |\n", "workload", \
        "under", "seconds", "range", "x plain", "added s", "of heaptrack", "resident MiB", \
        "added MiB"
    printf "| %s | %s | ------: | %s: | ------: | ------: | %s: | %s: | --------: |\n", \
        line("-", 12), line("-", 39), line("-", 14), line("-", 11), line("-", 11)
    for (i = 1; i <= workload_count; i++)
        for (j = 1; j <= tool_count; j++) {
            w = workload[i]
            t = tool[j]
            seconds = median(w, t, "seconds")
            if (seconds == "" || median(w, "plain", "seconds") == "")
                continue
            median(w, t, "seconds") # again, for low and high
            range = sprintf("%.3f-%.3f", low, high)
            mib = median(w, t, "kib")
            printf "| %-12s | %-39s | %7.3f | %15s | %7s | %7s | %12s | %12s | %9s |\n", w, \
                title[t], seconds, range, show(measured(w, t, "x-plain"), 2), \
                show(added(w, t, "seconds"), 3), \
                t == "plain" ? "-" : show(measured(w, t, "of-heaptrack"), 2), \
                show(ratio(mib, 1024), 1), show(ratio(added(w, t, "kib"), 1024), 1)
        }
}

# With all stacks, which makes the largest.
function print_traces(    i, w, bytes) {
    printf "| %-12s | %9s | %11s |\n", "workload", "trace KiB", "on disk KiB"
    printf "| %s | --------: | ----------: |\n", line("-", 12)
    for (i = 1; i <= workload_count; i++) {
        w = workload[i]
        bytes = median(w, "votrace-all", "trace")
        if (bytes != "")
            printf "| %-12s | %9d | %11d |\n", w, bytes / 1024, \
                median(w, "votrace-all", "disk") / 1024
    }
}

BEGIN {
    title["plain"] = "plain"
    title["votrace-none"] = "votrace, totals only"
    title["votrace-region"] = "votrace, stacks in regions, none marked"
    title["votrace-all"] = "votrace, all stacks"
    title["votrace-python"] = "votrace, with Python's functions"
    title["memusage"] = "memusage (no stacks)"
    title["heaptrack"] = "heaptrack, until its data is written"
    title["heaptrack-program"] = "heaptrack, until the program ends"
    title["dhat"] = "valgrind DHAT"
}

{
    key = $1 SUBSEP $2 SUBSEP $3
    value[key, ++count[key]] = $4 + 0
    if ($1 ~ /^age-/ && $1 != "age-1")
        age_long = $1
}

END {
    if (failed)
        exit failed
    given = split(workloads, listed, " ")
    for (i = 1; i <= given; i++) {
        asked[listed[i]] = 1
        if (listed[i] == "trace-age") {
            workload[++workload_count] = "age-1"
            workload[++workload_count] = age_long
        } else {
            workload[++workload_count] = listed[i]
        }
    }
    given = split(tools, listed, " ")
    for (i = 1; i <= given; i++) {
        tool[++tool_count] = listed[i]
        if (listed[i] == "heaptrack")
            tool[++tool_count] = "heaptrack-program"
    }
    print_targets()
    print "\nEvery figure:\n"
    print_figures()
    print "\nThe traces with all stacks:\n"
    print_traces()
}
