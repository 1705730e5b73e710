# SPDX-License-Identifier: BSD-3-Clause
"""What a parse of a VOTable needs, as several methods see it, each in processes of its own.

    python3 python/examples/astropy_votable.py --work FOLDER --library libvotrace.so

One table is parsed by astropy as TABLEDATA, BINARY and BINARY2: as released, and with the small
patch of votable_patch.py. Methods take turns, so that whatever else the machine does meets all
of them, one process at a time. FOLDER keeps the virtual environment, the files and every figure:
a run that was broken off goes on where it was, unless something that takes part has changed.
docs/astropy.md shows the result (--write).
"""

import argparse
import collections
import glob
import json
import os
import sys
import time

import surroundings
import votable_tables

BROKEN_OFF = 130

# Which runs


def runs_of_formats(options):
    """All methods side by side."""
    for name in votable_tables.FORMATS:
        for method in votable_tables.METHODS:
            for patch in (False, True):
                yield run(name, options.rows, method, patch)


def runs_of_rows(options):
    """Does the ratio depend on how many rows there are?"""
    for rows in options.scale:
        for method in ("rss", "measure"):
            for patch in (False, True):
                yield run("binary", rows, method, patch)


def runs_of_before(options):
    """Does it matter what the process did before?"""
    for before in votable_tables.BEFORE:
        for method in votable_tables.METHODS:
            if method != "region-random":
                yield run("binary", options.rows, method, False, before)


def run(name, rows, method, patch, before="module"):
    return {"format": name, "rows": rows, "method": method, "patch": patch, "before": before}


PARTS = {"formats": runs_of_formats, "rows": runs_of_rows, "before": runs_of_before}


def plan(options, can_fix_addresses):
    """[{"part", "format", ...}], in the order in which they are measured."""
    planned = []
    for part in options.part or PARTS:
        runs = [{"part": part, **each} for each in PARTS[part](options)]
        if not can_fix_addresses:
            runs = [each for each in runs if each["method"] != "region-random"]
        planned += runs * (options.repeats if part == "formats" else options.few)
    return planned


class Measuring:
    def __init__(self, work, library):
        self._work = os.path.abspath(work)
        self._library = library
        self._python = surroundings.make_environment(os.path.join(self._work, "environment"))
        self.fixed = surroundings.fixed_addresses()

    def conditions(self):
        """What takes part. Figures of other conditions are not mixed with ours."""
        own = [surroundings.WORKLOAD, os.path.join(surroundings.HERE, "votable_patch.py")]
        command = [self._python, surroundings.WORKLOAD, "versions"]
        return {
            **surroundings.run_child(command, surroundings.child_environment()),
            "library": surroundings.digest([self._library]),
            "votrace": surroundings.digest(surroundings.package_files()),
            "workload": surroundings.digest(own),
            "system": f"{os.uname().sysname} {os.uname().release} {os.uname().machine}",
            "processors": os.cpu_count(),
            "addresses": "random" if self.fixed is None else "fixed",
        }

    def _environment(self, method, trace):
        if method == "measure":  # makes the process that is measured itself
            return surroundings.child_environment(VOTRACE_LIBRARY=self._library)
        if method == "region":
            return surroundings.child_environment(self._library, trace)
        return surroundings.child_environment()

    def measure(self, run, number=999_999):
        path = self.make_file(run)
        method = "region" if run["method"] == "region-random" else run["method"]
        fixed = run["method"] == "region" and self.fixed is not None
        command = [self._python, surroundings.WORKLOAD, "parse", "--method", method]
        command += ["--file", path, "--rows", str(run["rows"]), "--before", run["before"]]
        command += ["--patch"] if run["patch"] else []
        # A name of one length, so that the environment takes as much room in each run.
        trace = os.path.join(self._work, f"trace-{number:06d}.vtr")
        said = surroundings.run_child(
            [*self.fixed, *command] if fixed else command, self._environment(method, trace)
        )
        for left in glob.glob(glob.escape(trace) + "*"):  # setarch has one, too
            os.unlink(left)
        return said

    def make_file(self, run):
        return surroundings.make_file(self._python, self._work, run["format"], run["rows"])


class Results:
    """The figures in FOLDER, of one set of conditions."""

    def __init__(self, path, conditions):
        self._path = path
        self._kept = {"conditions": conditions, "results": []}
        if os.path.exists(path):
            with open(path) as file:
                earlier = json.load(file)
            if earlier["conditions"] == conditions:
                self._kept = earlier
            else:
                os.replace(path, path + ".other")

    def add(self, run, said):
        self._kept["results"].append({**run, "said": said})
        with open(self._path + ".part", "w") as file:
            json.dump(self._kept, file)
        os.replace(self._path + ".part", self._path)

    def of(self, planned):
        """(Those of the plan that are there, what of it is left to do.)"""
        wanted = collections.Counter(map(identity, planned))
        found = []
        for result in self._kept["results"]:
            if wanted[identity(result)] > 0:
                wanted[identity(result)] -= 1
                found.append(result)
        left = []
        for each in reversed(planned):  # the last rounds are those that are not done
            if wanted[identity(each)] > 0:
                wanted[identity(each)] -= 1
                left.append(each)
        return found, left[::-1]


def identity(run):
    return tuple(run[key] for key in ("part", "format", "rows", "method", "patch", "before"))


def measure_all(measuring, results, planned):
    _, left = results.of(planned)
    if left:
        # Once unmeasured, so that Python's compiled files are there, and all tables.
        for method in ("memray", "region", "measure"):
            measuring.measure({**left[0], "method": method, "patch": True})
        for each in left:
            measuring.make_file(each)
    began = time.monotonic()
    for number, each in enumerate(left):
        results.add(each, measuring.measure(each, number))
        if sys.stderr.isatty() or (number + 1) % 50 == 0 or number + 1 == len(left):
            passed = time.monotonic() - began
            print(f"{number + 1} of {len(left)} measured, {passed:.0f} s", file=sys.stderr)
    return results.of(planned)[0]


def check_same_table(results):
    """Every parse of as many rows came out with the same sum; measure() does not know it."""
    sums = {}
    for result in results:
        if "checksum" in result["said"]:
            sums.setdefault(result["rows"], set()).add(result["said"]["checksum"])
    for rows, found in sums.items():
        if len(found) != 1:
            surroundings.fail(f"tables of {rows} rows differ: {sorted(found)}")


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def read_options():
    parser = surroundings.new_parser(__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="all, unless named")
    parser.add_argument("--repeats", type=positive, default=10, help="of the formats (%(default)s)")
    parser.add_argument("--few", type=positive, default=5, help="of the other parts (%(default)s)")
    parser.add_argument("--rows", type=positive, default=5_000, help="(%(default)s)")
    parser.add_argument(
        "--scale",
        type=positive,
        nargs="+",
        default=[1, 1_000, 5_000, 25_000, 100_000],
        metavar="ROWS",
        help="rows of the part of that name (%(default)s)",
    )
    parser.add_argument(
        "--write", metavar="FILE.md", help="put the figures into this, and a chart beside it"
    )
    return parser.parse_args()


def write_chart(path, chart):
    with open(path, "w", encoding="utf-8") as file:
        file.write(chart)


def main():
    options = read_options()
    parts = options.part or list(PARTS)
    document = None
    if options.write is not None:
        names = votable_tables.names_of_blocks(parts)
        document = surroundings.open_document(options.write, names)
    library = surroundings.find_library(options.library)
    os.makedirs(options.work, exist_ok=True)
    measuring = Measuring(options.work, library)
    conditions = measuring.conditions()
    results = Results(os.path.join(options.work, "results.json"), conditions)
    measured = measure_all(measuring, results, plan(options, measuring.fixed is not None))
    check_same_table(measured)
    blocks = votable_tables.blocks(measured, conditions)
    chart = votable_tables.chart_of_formats(measured)
    for name, text in blocks.items():
        print(f"\n{name}\n\n{text}")
        if document is not None:
            document.replace(name, text)
    if document is not None:
        document.save()
        if chart is not None:
            write_chart(os.path.splitext(options.write)[0] + ".svg", chart)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(BROKEN_OFF)
