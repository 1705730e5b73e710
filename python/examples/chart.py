# SPDX-License-Identifier: BSD-3-Clause
"""A bar chart as SVG: for each group and each label a bar before and a bar after, with the range of
the single figures as whiskers, and their ratio. For light and dark backgrounds; needs nothing."""

import html
import math
import statistics

import figures

WIDTH, LABELS, RATIOS = 880, 270, 76
PLOT = WIDTH - LABELS - RATIOS - 72  # what is left has the figure beside the longest bar
BAR, PAIR, GROUP, TOP = 9, 27, 34, 62

STYLE = """
svg { font: 12px system-ui, sans-serif; }
.ground { fill: #ffffff; } text { fill: #24292f; } .quiet { fill: #57606a; }
.grid { stroke: #d8dee4; } .whisker { stroke: #24292f; stroke-width: 1.5; fill: none; }
.before { fill: #8c959f; } .after { fill: #0969da; }
.title { font-size: 14px; font-weight: 600; } .small { font-size: 10px; }
.number { font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; } text { fill: #e6edf3; } .quiet { fill: #9198a1; }
.grid { stroke: #30363d; } .whisker { stroke: #e6edf3; }
.before { fill: #6e7681; } .after { fill: #4493f8; }
}"""


def text(x, y, words, classes="", anchor="start"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">'
        f"{html.escape(words)}</text>"
    )


def round_step(largest):
    """A step of 1, 2 or 5 times a power of ten MiB that has at most six of it in @largest bytes."""
    least = max(largest / 6 / 2**20, 1e-3)
    power = 10 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least) * 2**20


class Chart:
    """@groups: (heading, [(label, figures before, figures after)]); @sides: what these two are."""

    def __init__(self, title, sides, groups):
        self._title = title
        self._sides = sides
        self._groups = groups
        self._largest = max(
            max(*before, *after, 1) for _, rows in groups for _, before, after in rows
        )
        self._step = round_step(self._largest)
        self._height = TOP + 24 + sum(GROUP + PAIR * len(rows) for _, rows in groups)

    def _x(self, size):
        return LABELS + PLOT * max(size, 0) / self._largest

    def svg(self):
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self._height}" '
            f'width="{WIDTH}" height="{self._height}" role="img">',
            f"<title>{html.escape(self._title)}</title><style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{self._height}" rx="6"/>',
            text(14, 24, self._title, "title"),
            *self._key(),
            *self._grid(),
        ]
        y = TOP
        for heading, rows in self._groups:
            parts.append(text(14, y + 22, heading, "title"))
            y += GROUP
            for label, before, after in rows:
                parts += self._pair(y, label, before, after)
                y += PAIR
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _key(self):
        x = 14
        for kind, words in zip(("before", "after"), self._sides):
            yield f'<rect class="{kind}" x="{x}" y="37" width="10" height="10"/>'
            yield text(x + 16, 46, words, "quiet")
            x += 16 + 7 * len(words) + 18
        yield f'<path class="whisker" d="{whisker(x, x + 16, 42)}"/>'
        yield text(x + 24, 46, "least and most of the runs", "quiet")
        yield text(WIDTH - 14, 46, "ratio", "quiet", "end")

    def _grid(self):
        for number in range(int(self._largest / self._step) + 1):
            x, y = self._x(number * self._step), self._height - 24
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y}"/>'
            words = figures.human(number * self._step) if number else "0"
            yield text(x, self._height - 9, words, "quiet number", "middle")

    def _pair(self, y, label, before, after):
        yield text(LABELS - 10, y + BAR + 5, label, anchor="end")
        for kind, top, values in (("before", y, before), ("after", y + BAR + 1, after)):
            end = self._x(statistics.median(values))
            size = f'width="{end - LABELS:.1f}" height="{BAR}"'
            yield f'<rect class="{kind}" x="{LABELS}" y="{top}" {size}/>'
            least, most = self._x(min(values)), self._x(max(values))
            if most - least >= 1:
                yield f'<path class="whisker" d="{whisker(least, most, top + BAR / 2)}"/>'
            words = figures.median(values)
            yield text(max(end, most) + 6, top + BAR, words, "quiet number small")
        yield text(WIDTH - 14, y + BAR + 5, figures.ratio(before, after), "number", "end")


def whisker(least, most, y):
    ends = "".join(f"M{x:.1f} {y - 3.5:.1f}v7" for x in (least, most))
    return f"M{least:.1f} {y:.1f}H{most:.1f}{ends}"
