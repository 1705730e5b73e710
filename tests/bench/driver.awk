# SPDX-License-Identifier: BSD-3-Clause
#
# driver.awk: lines of CASE FILE MEASURE VALUE to two tables: the targets and what was reached, and
# every figure. Each figure is the median of its samples. -v targets=FILE has the targets.

# XML read or written.
function bytes_of(name, file) {
    return median(name ~ /^convert/ ? name : "size", file, "bytes")
}

function without_start(name, file,    whole, start) {
    whole = median(name, file, "seconds")
    start = median(name, "one-row", "seconds")
    return whole == "" || start == "" || whole <= start ? "" : whole - start
}

function measured(name, file, measure,    peak) {
    if (measure == "x-sax")
        return ratio(median(name, file, "cpu"), median("sax", file, "cpu"))
    if (measure == "mb-s")
        return ratio(bytes_of(name, file), 1000000 * median(name, file, "cpu"))
    if (measure == "x-slower")
        return ratio(without_start(name, file), median("stream", file, "seconds"))
    peak = median(name, file, "peak")
    if (measure == "mib")
        return ratio(peak, 1048576)
    if (measure == "of-values")
        return peak == "" ? "" : ratio(peak - 1048576, median(name, file, "values"))
    print "driver.awk: targets: no measure is called " measure >"/dev/stderr"
    exit failed = 2
}

function is_least(measure) {
    return measure == "mb-s" || measure == "x-slower"
}

# Does the file fit the pattern PRESET-FORMAT?
function fits(file, pattern,    part, want) {
    if (split(file, part, "-") != 2 || file == "one-row")
        return 0
    split(pattern, want, "-")
    return (want[1] == "*" || want[1] == part[1]) && (want[2] == "*" || want[2] == part[2])
}

# The worst of all files that fit; sets where.
function worst(name, pattern, measure,    i, figure, found) {
    found = ""
    where = "-"
    for (i = 1; i <= file_count; i++) {
        if (!fits(file[i], pattern))
            continue
        figure = measured(name, file[i], measure)
        if (figure == "" || (found != "" && (is_least(measure) ? figure >= found : figure <= found)))
            continue
        found = figure
        where = file[i]
    }
    return found
}

function show(figure, digits) {
    return figure == "" ? "-" : sprintf("%." digits "f", figure)
}

function print_targets(    text, word, n, i, words, figure, verdict, least) {
    printf "| %-48s | %-16s | %8s | %8s | %-12s |\n", "what", "worst of", "figure", "target", ""
    print "| ------------------------------------------------ | ---------------- | -------: | -------: | ------------ |"
    while ((getline text < targets) > 0) {
        n = split(text, word, " ")
        if (n == 0 || word[1] ~ /^#/)
            continue
        words = word[5]
        for (i = 6; i <= n; i++)
            words = words " " word[i]
        if (word[3] == "x-sax")
            words = words ", x sax_empty"
        figure = worst(word[1], word[2], word[3])
        least = is_least(word[3])
        verdict = word[4] == "-" ? "" : figure == "" ? "not measured" : \
            (least ? figure >= word[4] + 0 : figure <= word[4] + 0) ? "met" : "missed"
        printf "| %-48s | %-16s | %8s | %8s | %-12s |\n", words, where, show(figure, 2), \
            word[4] == "-" ? "-" : (least ? ">= " : "<= ") word[4], verdict
    }
}

function print_figures(    i, j, cpu) {
    printf "| %-16s | %-18s | %8s | %8s | %8s | %7s | %10s |\n", "file", "case", "wall s", \
        "cpu s", "MB/s", "x sax", "peak MiB"
    print "| ---------------- | ------------------ | -------: | -------: | -------: | ------: | ---------: |"
    for (i = 1; i <= file_count; i++)
        for (j = 1; j <= name_count; j++) {
            cpu = median(name[j], file[i], "cpu")
            if (cpu == "" && median(name[j], file[i], "peak") == "")
                continue
            printf "| %-16s | %-18s | %8s | %8s | %8s | %7s | %10s |\n", file[i], name[j], \
                show(median(name[j], file[i], "seconds"), 3), show(cpu, 3), \
                show(measured(name[j], file[i], "mb-s"), 0), \
                show(measured(name[j], file[i], "x-sax"), 2), \
                show(measured(name[j], file[i], "mib"), 2)
        }
}

{
    key = $1 SUBSEP $2 SUBSEP $3
    value[key, ++count[key]] = $4 + 0
    if (!(("f", $2) in seen)) {
        seen["f", $2] = 1
        file[++file_count] = $2
    }
    if ($1 != "size" && !(("n", $1) in seen)) {
        seen["n", $1] = 1
        name[++name_count] = $1
    }
}

END {
    if (failed)
        exit failed
    print_targets()
    print "\nEvery figure, MB/s of XML by processor time:\n"
    print_figures()
}
