# SPDX-License-Identifier: BSD-3-Clause
#
# samples.awk: what table.awk and driver.awk make of their samples; read before them. Sample i of
# what was measured is value[WHO, WHAT, MEASURE, i], of count[WHO, WHAT, MEASURE].

# Sets low and high, too; without samples returns "".
function median(who, what, measure,    key, n, i, j, held, sorted) {
    key = who SUBSEP what SUBSEP measure
    n = count[key]
    if (n == 0)
        return ""
    for (i = 1; i <= n; i++) {
        held = value[key, i]
        for (j = i - 1; j >= 1 && sorted[j] > held; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = held
    }
    low = sorted[1]
    high = sorted[n]
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

# value / divisor, or "" where one is not known or nothing can be divided by it.
function ratio(dividend, divisor) {
    return dividend == "" || divisor == "" || divisor <= 0 ? "" : dividend / divisor
}
