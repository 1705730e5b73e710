# SPDX-License-Identifier: BSD-3-Clause
"""The results of astropy_votable.py as the tables, sentences and the chart of docs/astropy.md.

A result is a run (part, format, rows, method, patch, before) and what its process said. Every
number that the document draws from the experiment is made here, so that none is of another run.
"""

import statistics
import textwrap

import chart
import figures

FORMATS = ("tabledata", "binary", "binary2")
BEFORE = ("imports", "module", "setup")
METHODS = ("rss", "tracemalloc", "memray", "region", "region-random", "measure")
EXACT = ("region", "region-random", "measure")
WORDS = {
    "process": "ru_maxrss, the process",
    "rss": "ru_maxrss, after less before",
    "tracemalloc": "tracemalloc",
    "memray": "memray",
    "region": "votrace, a region",
    "region-random": "votrace, addresses random",
    "measure": "votrace.measure()",
}
WORDS_BEFORE = {
    "imports": "imports of astropy",
    "module": "and the module's data",
    "setup": "and setup()",
}


def select(results, **wanted):
    return [
        result for result in results if all(result[name] == value for name, value in wanted.items())
    ]


def peaks(results, **wanted):
    """Bytes, of the runs that are as @wanted; the process's own figure is one of rss's runs."""
    key = "peak_added"
    if wanted.get("method") == "process":
        key, wanted["method"] = "largest_after", "rss"
    return [result["said"][key] for result in select(results, **wanted)]


def sides(results, **wanted):
    """(As released, patched)."""
    return [peaks(results, patch=patch, **wanted) for patch in (False, True)]


def pairs_of_formats(results):
    """(format, method, figures as released, figures patched), as the document orders them."""
    for name in FORMATS:
        for method in ("process", *METHODS):
            before, after = sides(results, format=name, method=method)
            if before and after:
                yield name, method, before, after


def table_of_formats(results):
    rows = [
        (name, WORDS[method], figures.median(before), figures.spread(before))
        + (figures.median(after), figures.spread(after), figures.ratio(before, after))
        + (figures.ratio_range(before, after), f"{len(before)} + {len(after)}")
        for name, method, before, after in pairs_of_formats(results)
    ]
    heading = ("format", "method", "as released", "spread", "patched", "spread")
    return figures.aligned_table((*heading, "ratio", "of single runs", "runs"), rows, words=2)


def table_of_rows(results):
    rows = []
    for method in METHODS:
        for count in sorted({result["rows"] for result in results}):
            before, after = sides(results, rows=count, method=method)
            if before and after:
                for_row = [f"{statistics.median(side) / count:.0f} B" for side in (before, after)]
                rows.append(
                    (WORDS[method], f"{count:,}", figures.median(before), for_row[0])
                    + (figures.median(after), for_row[1], figures.ratio(before, after))
                    + (figures.ratio_range(before, after), f"{len(before)} + {len(after)}")
                )
    heading = ("method", "rows", "as released", "for a row", "patched", "for a row")
    return figures.aligned_table((*heading, "ratio", "of single runs", "runs"), rows, words=1)


def table_of_before(results):
    rows = []
    for before in BEFORE:
        for method in METHODS:
            values = peaks(results, before=before, method=method)
            if values:
                words = (WORDS_BEFORE[before], WORDS[method])
                rows.append((*words, figures.median(values), figures.spread(values), len(values)))
    heading = ("before the parse", "method", "added", "spread", "runs")
    return figures.aligned_table(heading, rows, words=2)


def gaps(results, before):
    """Where the largest resident size is above the present one when the parse begins, bytes."""
    runs = select(results, before=before, method="rss")
    return [run["said"]["largest_before"] - run["said"]["resident_before"] for run in runs]


def table_of_gap(results):
    rows = []
    for before in BEFORE:
        runs = select(results, before=before, method="rss")
        if runs:
            largest = [run["said"]["largest_before"] for run in runs]
            resident = [run["said"]["resident_before"] for run in runs]
            between = gaps(results, before)
            rows.append(
                (WORDS_BEFORE[before], figures.median(resident), figures.median(largest))
                + (figures.median(between), figures.spread(between), len(runs))
            )
    heading = ("before the parse", "resident", "largest so far", "between", "spread", "runs")
    return figures.aligned_table(heading, rows, words=1)


def table_of_places(results):
    """Where the bytes were at the peak: of one run, as they are the same in all."""
    rows = []
    for patch, words in ((False, "as released"), (True, "patched")):
        runs = select(results, format="binary", method="measure", patch=patch)
        for size, native, function, line in runs[0]["said"]["places"] if runs else []:
            share = f"{size / runs[0]['said']['peak_added']:.1%}"
            rows.append((words, figures.human(size), share, native or "-", function, line))
    heading = ("binary", "at the peak", "share", "in C", "in Python", "line")
    return figures.aligned_table(heading, rows, words=6)


def paragraph(words, bullet=False):
    return textwrap.fill(
        words,
        100,
        initial_indent="- " if bullet else "",
        subsequent_indent="  " if bullet else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def list_in_words(items):
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def words_of_conditions(results, conditions):
    sizes = list_in_words([f"{count:,}" for count in sorted({run["rows"] for run in results})])
    return paragraph(
        f"astropy {conditions['astropy']}, NumPy {conditions['numpy']} and memray "
        f"{conditions['memray']} from PyPI, CPython {conditions['python']}, "
        f"{conditions['system']}, {conditions['processors']} processors; addresses are "
        f"{conditions['addresses']} for votrace where nothing else is said. {len(results):,} "
        f"measurements in one run, one process at a time; tables of {sizes} rows."
    )


def table_of_ratios(results):
    """What each method would have told a CI job of the change to BINARY."""
    rows = []
    for method in ("process", "rss", "tracemalloc", "memray", "measure"):
        before, after = sides(results, format="binary", method=method)
        if before and after:
            rows.append(
                (WORDS[method], figures.median(before), figures.median(after))
                + (figures.ratio(before, after), figures.ratio_range(before, after))
            )
    heading = ("BINARY", "as released", "patched", "ratio", "of single runs")
    return figures.aligned_table(heading, rows, words=1)


def words_of_gap(results):
    between = {before: figures.median(gaps(results, before)) for before in BEFORE}
    return paragraph(
        "**Is the peak before the parse above the current use?** Yes, once the module has made its "
        f"arrays of text out of lists: by {between['module']}. After the imports alone it is "
        f"{between['imports']}, after a `setup()` {between['setup']}. What the parse takes out of "
        "that gap is in no figure of `ru_maxrss`.",
        bullet=True,
    )


def words_of_setup(results):
    said = {
        method: list_in_words(
            [figures.median(peaks(results, before=before, method=method)) for before in BEFORE]
        )
        for method in ("rss", "measure")
    }
    return paragraph(
        "**What does `setup()` do to it?** One and the same parse of BINARY, after the imports, "
        f"after the module's data, and after a `setup()`, takes {said['rss']} by `ru_maxrss`, and "
        f"{said['measure']} by `votrace.measure()`.",
        bullet=True,
    )


def words_of_rows(results):
    counts = sorted({result["rows"] for result in results})
    said = {
        method: list_in_words(
            [figures.ratio(*sides(results, rows=count, method=method)) for count in counts]
        )
        for method in ("rss", "measure")
    }
    sizes = list_in_words([f"{count:,}" for count in counts])
    return paragraph(
        f"**Why did 25,000 rows show another ratio than 100,000?** With {sizes} rows the ratio is "
        f"{said['measure']}, exactly: buffers that double and arrays that grow by half make steps. "
        f"`ru_maxrss` says {said['rss']}: it does not see what goes into the gap, and that is the "
        "more, the smaller the table.",
        bullet=True,
    )


def words_of_exactness(results):
    """How far apart runs of one and the same parse were, at most, and how many were the same."""
    parses = [(name, patch) for name in FORMATS for patch in (False, True)]
    said = []
    for method in EXACT:
        found = [select(results, format=name, method=method, patch=patch) for name, patch in parses]
        widths = [width([run["said"]["peak_added"] for run in runs]) for runs in found if runs]
        blocks = [width([run["said"]["allocations"] for run in runs]) for runs in found if runs]
        if widths:
            said.append(
                f"{max(widths):,} bytes and {max(blocks):,} blocks by {WORDS[method]}, with "
                f"{widths.count(0)} of {len(widths)} kinds of parse the same in all runs"
            )
    return paragraph(
        "Two runs of one and the same parse differed by at most " + "; ".join(said) + "."
    )


def width(values):
    return max(values) - min(values)


BLOCKS = {
    "formats": {
        "ratios": table_of_ratios,
        "formats": table_of_formats,
        "exactness": words_of_exactness,
        "places": table_of_places,
    },
    "before": {
        "answer: gap": words_of_gap,
        "answer: setup": words_of_setup,
        "gap": table_of_gap,
        "before": table_of_before,
    },
    "rows": {"answer: rows": words_of_rows, "rows": table_of_rows},
}


def names_of_blocks(parts):
    """Of all that blocks() makes for these parts."""
    return ["conditions", *(name for part in parts for name in BLOCKS[part])]


def blocks(results, conditions):
    """{name: text} of what the results have parts for."""
    made = {"conditions": words_of_conditions(results, conditions)}
    for part, makers in BLOCKS.items():
        of_part = select(results, part=part)
        if of_part:
            made.update({name: make(of_part) for name, make in makers.items()})
    return made


def chart_of_formats(results):
    """None without that part."""
    of_part = select(results, part="formats")
    groups = []
    for name in FORMATS:
        rows = [
            (WORDS[method], before, after)
            for found, method, before, after in pairs_of_formats(of_part)
            if found == name and method != "region-random"
        ]
        if rows:
            groups.append((name.upper(), rows))
    if not groups:
        return None
    count = of_part[0]["rows"]
    title = f"Memory that astropy's parse of {count:,} rows is said to need"
    return chart.Chart(title, ("as released", "patched"), groups).svg()
