# SPDX-License-Identifier: BSD-3-Clause
"""What a parse of a VOTable needs, as four methods see it, each in processes of its own.

    python3 python/examples/astropy_votable.py --work FOLDER --library libvotrace.so

One table is parsed by astropy as TABLEDATA, BINARY and BINARY2: as released, and with the small
patch of votable_patch.py. Methods take turns, so that whatever else the machine does meets all
of them. FOLDER keeps the virtual environment, the files and every figure; what is there is not
measured again. docs/astropy.md shows the result (--write).
"""
import argparse
import concurrent.futures
import glob
import json
import os
import statistics

import examples_environment as surroundings

FORMATS = ("tabledata", "binary", "binary2")
METHODS = ("rss", "tracemalloc", "memray", "votrace", "votrace-fixed")
WORDS = {
    "rss": "ru_maxrss",
    "tracemalloc": "tracemalloc",
    "memray": "memray",
    "votrace": "votrace",
    "votrace-fixed": "votrace, addresses fixed",
}


# Which runs


def runs_of_formats(options):
    """Four methods side by side."""
    for name in FORMATS:
        rows = options.tabledata_rows if name == "tabledata" else options.rows
        for method in METHODS:
            for patch in (False, True):
                yield {"format": name, "rows": rows, "method": method, "patch": patch}


def runs_of_rows(options):
    """Does the ratio depend on how many rows there are?"""
    for rows in options.scale:
        for method in ("rss", "votrace-fixed"):
            for patch in (False, True):
                yield {"format": "binary", "rows": rows, "method": method, "patch": patch}


def runs_of_before(options):
    """Does it matter what the process did before?"""
    for before in ("imports", "module", "setup"):
        for method in METHODS:
            yield {
                "format": "binary",
                "rows": options.rows,
                "method": method,
                "patch": False,
                "before": before,
            }


PARTS = {"formats": runs_of_formats, "rows": runs_of_rows, "before": runs_of_before}


class Measuring:
    def __init__(self, options):
        self.work = os.path.abspath(options.work)
        self.library = surroundings.find_library(options.library)
        self.python = surroundings.make_environment(os.path.join(self.work, "environment"))
        self.fixed = surroundings.fixed_addresses()

    def measure(self, run, number):
        folder = surroundings.make_files(self.python, self.work, run["rows"])
        method = "votrace" if run["method"] == "votrace-fixed" else run["method"]
        command = [self.python, surroundings.WORKLOAD, "parse", "--method", method]
        command += ["--file", os.path.join(folder, run["format"] + ".xml")]
        command += ["--rows", str(run["rows"]), "--before", run.get("before", "module")]
        command += ["--patch"] if run["patch"] else []
        if run["method"] == "votrace-fixed":
            command = self.fixed + command
        # A name of one length, so that the environment takes as much room in each run.
        trace = os.path.join(self.work, f"trace-{number:06d}.vtr")
        library = self.library if method == "votrace" else None
        said = surroundings.run_child(command, surroundings.child_environment(library, trace))
        if library is not None:
            for path in glob.glob(trace + "*"):  # setarch has one, too
                os.unlink(path)
        return {**run, "said": said}

    def wanted(self, runs):
        return [run for run in runs if run["method"] != "votrace-fixed" or self.fixed]


def warm_up(measuring, runs):
    """Once unmeasured, so that Python's compiled files are there and all files are made."""
    for patch in (False, True):
        run = {"format": "binary", "rows": min(run["rows"] for run in runs)}
        measuring.measure({**run, "method": "votrace", "patch": patch}, 999_999)
    for rows in sorted({run["rows"] for run in runs}):
        surroundings.make_files(measuring.python, measuring.work, rows)


def run_part(measuring, name, runs, options):
    path = os.path.join(measuring.work, name + ".json")
    results = []
    if os.path.exists(path):
        with open(path) as earlier:
            results = json.load(earlier)
    runs = measuring.wanted(runs)
    repeats = options.repeats if name == "formats" else min(options.repeats, options.few)
    todo = [run for _ in range(repeats) for run in runs]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(len(results), len(todo))
        for result in pool.map(measuring.measure, todo[len(results) :], numbers):
            results.append(result)
            write_results(path, results)
    check_same_table(results)
    return results


def write_results(path, results):
    with open(path + ".part", "w") as written:
        json.dump(results, written)
    os.replace(path + ".part", path)


def check_same_table(results):
    sums = {}
    for result in results:
        sums.setdefault(result["rows"], set()).add(result["said"]["checksum"])
    for rows, found in sums.items():
        if len(found) != 1:
            surroundings.fail(f"tables of {rows} rows differ: {sorted(found)}")


# What came out


def figures(results, key="peak_added", **wanted):
    return [
        result["said"][key]
        for result in results
        if all(result.get(name, "module") == value for name, value in wanted.items())
    ]


def spread(values):
    """The range, of the median and in bytes."""
    width = max(values) - min(values)
    if width == 0:
        return "0 B"
    share = width / abs(statistics.median(values) or 1)
    return surroundings.human(width) + (f" ({share:.1%})" if share >= 0.0005 else "")


def median(values):
    return surroundings.human(statistics.median(values))


def ratio(old, new):
    divisor = statistics.median(old)
    return f"{statistics.median(new) / divisor:.3f}" if divisor > 0 else "-"


def ratio_range(old, new):
    """The least and the most that one run of each could have said."""
    if min(old) <= 0:
        return "-"
    return f"{min(new) / max(old):.3f} to {max(new) / min(old):.3f}"


def table_of_formats(results):
    rows = []
    for name in FORMATS:
        for method in METHODS:
            old = figures(results, format=name, method=method, patch=False)
            new = figures(results, format=name, method=method, patch=True)
            if old and new:
                rows.append(
                    (name, WORDS[method], median(old), spread(old), median(new), spread(new))
                    + (ratio(old, new), ratio_range(old, new), f"{len(old)} + {len(new)}")
                )
    heading = ("format", "method", "as released", "spread", "patched", "spread")
    return surroundings.aligned_table((*heading, "ratio", "of single runs", "runs"), rows, left=2)


def table_of_rows(results):
    rows = []
    for count in sorted({result["rows"] for result in results}):
        for method in METHODS:
            old = figures(results, rows=count, method=method, patch=False)
            new = figures(results, rows=count, method=method, patch=True)
            if old and new:
                for_row = f"{statistics.median(old) / count:.0f} B"
                rows.append(
                    (WORDS[method], f"{count:,}", median(old), for_row, median(new))
                    + (f"{statistics.median(new) / count:.0f} B", ratio(old, new))
                    + (f"{len(old)} + {len(new)}",)
                )
    rows.sort(key=lambda row: row[0])
    heading = ("method", "rows", "as released", "for a row", "patched", "for a row")
    return surroundings.aligned_table((*heading, "ratio", "runs"), rows, left=1)


def table_of_before(results):
    rows = []
    words = {
        "imports": "imports of astropy",
        "module": "and the module's data",
        "setup": "and setup()",
    }
    for before, said in words.items():
        for method in METHODS:
            values = figures(results, before=before, method=method)
            if values:
                rows.append((said, WORDS[method], median(values), spread(values)))
    return surroundings.aligned_table(("before the parse", "method", "added", "spread"), rows, 2)


def table_of_gap(results):
    """Where the largest resident size and the present one are when the parse begins."""
    rows = []
    for before in ("imports", "module", "setup"):
        largest = figures(results, "largest_before", before=before, method="rss")
        resident = figures(results, "resident_before", before=before, method="rss")
        gaps = [a - b for a, b in zip(largest, resident)]
        if gaps:
            rows.append((before, median(resident), median(largest), median(gaps), spread(gaps)))
    heading = ("before", "resident", "largest so far", "between", "spread")
    return surroundings.aligned_table(heading, rows, left=1)


TABLES = {
    "formats": ("formats", table_of_formats),
    "rows": ("rows", table_of_rows),
    "before": ("before", table_of_before),
    "gap": ("before", table_of_gap),
}


def show(parts, options):
    for name, (part, make) in TABLES.items():
        if part in parts:
            text = make(parts[part])
            print(f"\n{name}\n\n{text}")
            if options.write is not None:
                surroundings.replace_figures(options.write, name, text + "\n")


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, metavar="FOLDER")
    parser.add_argument("--library", metavar="FILE", help="libvotrace.so")
    parser.add_argument("--part", choices=PARTS, action="append", help="all, unless named")
    parser.add_argument("--repeats", type=int, default=10, help="of the formats (%(default)s)")
    parser.add_argument("--few", type=int, default=3, help="of the other parts (%(default)s)")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--tabledata-rows", type=int, default=2_000)
    parser.add_argument("--scale", type=int, nargs="+", default=[1_000, 5_000, 25_000, 100_000])
    parser.add_argument("--jobs", type=int, default=1, help="children at a time (%(default)s)")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    return parser.parse_args()


def main():
    options = read_options()
    os.makedirs(options.work, exist_ok=True)
    measuring = Measuring(options)
    parts = {name: list(PARTS[name](options)) for name in options.part or PARTS}
    warm_up(measuring, [run for runs in parts.values() for run in runs])
    results = {name: run_part(measuring, name, runs, options) for name, runs in parts.items()}
    show(results, options)


if __name__ == "__main__":
    main()
