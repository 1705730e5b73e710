# SPDX-License-Identifier: BSD-3-Clause
"""What votrace with Python's frames costs on a parse by astropy, beside memray.

    python3 python/examples/astropy_overhead.py --work FOLDER --library libvotrace.so

Both take the whole stack, Python's functions and native ones, of every object that the process
allocates: votrace with VOTRACE_STACKS=all, memray with --trace-python-allocators --native. They
take turns with the same process alone. Needs a machine that does nothing else; FOLDER is that
of astropy_votable.py. docs/astropy.md shows the result (--write).
"""
import argparse
import json
import os
import statistics
import time

import examples_environment as surroundings

FORMATS = ("tabledata", "binary")
WAYS = ("alone", "alone, malloc", "votrace", "memray")


class Measuring:
    def __init__(self, options):
        self.work = os.path.abspath(options.work)
        self.library = surroundings.find_library(options.library)
        self.python = surroundings.make_environment(os.path.join(self.work, "environment"))
        self.folder = surroundings.make_files(self.python, self.work, options.rows)
        self.output = os.path.join(self.work, "overhead.out")

    def command(self, way, name):
        words = [surroundings.WORKLOAD, "parse", "--method", "plain", "--before", "imports"]
        words += ["--file", os.path.join(self.folder, name + ".xml")]
        if way != "memray":
            return [self.python, *words]
        memray = [self.python, "-m", "memray", "run", "--trace-python-allocators", "--native"]
        return [*memray, "--quiet", "--force", "--output", self.output, *words]

    def environment(self, way):
        if way == "votrace":
            settings = {"VOTRACE_STACKS": "all", "VOTRACE_DEPTH": "256"}
            return surroundings.child_environment(self.library, self.output, **settings)
        settings = {"PYTHONMALLOC": "malloc"} if way == "alone, malloc" else {}
        return surroundings.child_environment(None, None, **settings)

    def measure(self, way, name):
        """Seconds of the process, of its parse, and the bytes that were written."""
        if os.path.exists(self.output):
            os.unlink(self.output)
        start = time.perf_counter()
        said = surroundings.run_child(self.command(way, name), self.environment(way))
        process = time.perf_counter() - start
        written = os.stat(self.output).st_size if os.path.exists(self.output) else 0
        return {"process": process, "parse": said["seconds"], "written": written}


def table(results):
    rows = []
    for name in FORMATS:
        of_way = {way: [r for r in results if (r["format"], r["way"]) == (name, way)] for way in WAYS}
        plain = statistics.median(r["process"] for r in of_way["alone"])
        for way, measured in of_way.items():
            seconds = [r["process"] for r in measured]
            median = statistics.median(seconds)
            rows.append(
                (name, way, f"{median:.2f}", f"{min(seconds):.2f}-{max(seconds):.2f}")
                + (f"{median - plain:.2f}", f"{median / plain:.2f}")
                + (f"{statistics.median(r['parse'] for r in measured):.2f}",)
                + (surroundings.human(measured[0]["written"]),)
            )
    heading = ("format", "under", "process s", "range", "added s", "x alone", "parse s", "written")
    return surroundings.aligned_table(heading, rows, left=2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, metavar="FOLDER")
    parser.add_argument("--library", metavar="FILE", help="libvotrace.so")
    parser.add_argument(
        "--rounds", type=int, default=5, help="to add to those that FOLDER has (%(default)s)"
    )
    parser.add_argument("--rows", type=int, default=1_000, help="(%(default)s)")
    parser.add_argument("--write", metavar="FILE", help="put the table into this document")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    measuring = Measuring(options)
    path = os.path.join(measuring.work, f"overhead-{options.rows}.json")
    measured = []
    if os.path.exists(path):
        with open(path) as earlier:
            measured = json.load(earlier)
    for _ in range(options.rounds):
        for name in FORMATS:
            for way in WAYS:
                measured.append({"format": name, "way": way, **measuring.measure(way, name)})
    with open(path, "w") as written:
        json.dump(measured, written)
    text = table(measured)
    print(text)
    if options.write is not None:
        surroundings.replace_figures(options.write, "overhead", text + "\n")


if __name__ == "__main__":
    main()
