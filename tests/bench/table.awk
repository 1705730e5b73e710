# SPDX-License-Identifier: BSD-3-Clause
#
# table.awk: `workload tool seconds` lines to a table of medians, and the targets below it.
# -v tools='...' and -v workloads='...' give the order.

function median(key,    n, i, j, held, sorted) {
    n = count[key]
    for (i = 1; i <= n; i++) {
        held = seconds[key, i]
        for (j = i - 1; j >= 1 && sorted[j] > held; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = held
    }
    low = sorted[1]
    high = sorted[n]
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function print_row(workload, tool,    key, middle, added, of_heaptrack) {
    key = workload SUBSEP tool
    middle = median(key)
    added = middle - plain[workload]
    of_heaptrack = "-"
    if (tool != "plain" && (workload in heaptrack_added) && heaptrack_added[workload] > 0)
        of_heaptrack = sprintf("%.2f", added / heaptrack_added[workload])
    printf "| %-10s | %-36s | %7.3f | %13s | %7.2f | %7.3f | %12s |\n", workload, title[tool],
        middle, sprintf("%.3f-%.3f", low, high), middle / plain[workload], added, of_heaptrack
}

function print_target(workload, what, value, limit) {
    printf "- %s, %s: %.2f, target at most %.2f: %s\n", workload, what, value, limit,
        value <= limit ? "met" : "missed"
}

BEGIN {
    # One thread, and a real program; the other rows are there to be seen.
    has_target["churn-1"]
    has_target["xmllint"]
    title["plain"] = "plain"
    title["votrace-none"] = "votrace, totals only"
    title["votrace-all"] = "votrace, all stacks"
    title["memusage"] = "memusage (no stacks)"
    title["heaptrack"] = "heaptrack, until its data is written"
    title["heaptrack-program"] = "heaptrack, until the program ends"
}

{
    key = $1 SUBSEP $2
    seconds[key, ++count[key]] = $3 + 0
}

END {
    rows = split(workloads, workload, " ")
    columns = split(tools, tool, " ")
    if (index(tools, "heaptrack"))
        tool[++columns] = "heaptrack-program"
    for (i = 1; i <= rows; i++) {
        plain[workload[i]] = median(workload[i] SUBSEP "plain")
        if (count[workload[i] SUBSEP "heaptrack"])
            heaptrack_added[workload[i]] = \
                median(workload[i] SUBSEP "heaptrack") - plain[workload[i]]
    }

    printf "| %-10s | %-36s | %7s | %13s | %7s | %7s | %12s |\n", "workload", "under", "seconds",
        "range", "x plain", "added s", "of heaptrack"
    print "| ---------- | ------------------------------------ | ------: | ------------: | ------: |" \
        " ------: | -----------: |"
    for (i = 1; i <= rows; i++)
        for (j = 1; j <= columns; j++)
            if (count[workload[i] SUBSEP tool[j]])
                print_row(workload[i], tool[j])

    print "\nTargets:\n"
    for (i = 1; i <= rows; i++) {
        w = workload[i]
        if (!(w in has_target))
            continue
        print_target(w, "totals only, x plain", median(w SUBSEP "votrace-none") / plain[w], 1.35)
        if (w in heaptrack_added)
            print_target(w, "added with all stacks, of heaptrack's",
                (median(w SUBSEP "votrace-all") - plain[w]) / heaptrack_added[w], 0.50)
        else
            printf "- %s, added with all stacks: no heaptrack to compare with\n", w
    }
}
