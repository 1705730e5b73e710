# SPDX-License-Identifier: BSD-3-Clause
"""Figures in words: sizes, medians, spreads and ratios; tables; and the document they go into.

Nothing here knows what was measured. Figures are bytes unless something else is said.
"""

import os
import statistics

UNITS = ("KiB", "MiB", "GiB", "TiB")


def human(size):
    """As votreport writes a size: three digits, and all of them below 1024 bytes."""
    if abs(size) < 1024:
        return f"{size:.0f} B"
    value, unit = float(size), ""
    for unit in UNITS:
        value /= 1024
        if abs(value) < 999.5:
            break
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f} {unit}"


def median(values):
    return human(statistics.median(values))


def spread(values):
    """The largest less the smallest, and its share of the median where that is 0.05 % or more."""
    width = max(values) - min(values)
    if width == 0:
        return "0 B"
    share = width / abs(statistics.median(values) or 1)
    return human(width) + (f" ({share:.1%})" if share >= 0.0005 else "")


def ratio(before, after):
    """Of the medians; "-" where there is nothing to divide by."""
    divisor = statistics.median(before)
    return f"{statistics.median(after) / divisor:.3f}" if divisor > 0 else "-"


def ratio_range(before, after):
    """The least and the most that a single run of each could have said."""
    if min(before) <= 0:
        return "-"
    return f"{min(after) / max(before):.3f} to {max(after) / min(before):.3f}"


def aligned_table(heading, rows, words=3):
    """Lines of a markdown table that is as well read as it is: the first @words columns are
    words, the others numbers."""
    cells = [[str(cell) for cell in row] for row in [heading, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heading))]
    rule = ["-" * width if i < words else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = [cells[0], rule, *cells[1:]]
    return "\n".join(f"| {' | '.join(_padded(line, widths, words))} |" for line in lines)


def _padded(line, widths, words):
    for i, (cell, width) in enumerate(zip(line, widths)):
        yield cell.ljust(width) if i < words else cell.rjust(width)


class Document:
    """A text with places for figures: <!-- figures: NAME --> to <!-- end: NAME -->.

    ValueError for a place that it does not have.
    """

    def __init__(self, path):
        self._path = path
        with open(path, encoding="utf-8") as file:
            self._text = file.read()

    def _place(self, name):
        opening, closing = f"<!-- figures: {name} -->\n", f"<!-- end: {name} -->"
        start = self._text.find(opening) + len(opening)
        end = self._text.find(closing, start)
        if start < len(opening) or end < 0:
            raise ValueError(f"{self._path}: there is no '{opening.strip()}' with its '{closing}'")
        return start, end

    def check(self, names):
        """All of @names have a place?"""
        for name in names:
            self._place(name)

    def replace(self, name, text):
        start, end = self._place(name)
        self._text = f"{self._text[:start]}\n{text}\n\n{self._text[end:]}"

    def save(self):
        partial = self._path + ".part"
        with open(partial, "w", encoding="utf-8") as file:
            file.write(self._text)
        os.replace(partial, self._path)
