# SPDX-License-Identifier: BSD-3-Clause
"""What votrace with Python's frames costs on a parse by astropy, beside memray.

    python3 python/examples/astropy_overhead.py --work FOLDER --library libvotrace.so

Both take the whole stack, Python's functions and native ones, of every object that the process
allocates: votrace with VOTRACE_STACKS=all, memray with --trace-python-allocators --native. They
take turns with the same process alone. Needs a machine that does nothing else; FOLDER is that
of astropy_votable.py. docs/astropy.md shows the result (--write).
"""

import os
import statistics
import time

import figures
import surroundings

FORMATS = ("tabledata", "binary")
WAYS = ("alone", "alone, malloc", "votrace", "memray")


class Measuring:
    def __init__(self, options, library):
        self._work = os.path.abspath(options.work)
        self._library = library
        self._rows = options.rows
        self._python = surroundings.make_environment(os.path.join(self._work, "environment"))
        self._output = os.path.join(self._work, "overhead.out")

    def make_file(self, name):
        return surroundings.make_file(self._python, self._work, name, self._rows)

    def _command(self, way, name):
        words = [surroundings.WORKLOAD, "parse", "--method", "plain", "--before", "imports"]
        words += ["--rows", str(self._rows), "--file", self.make_file(name)]
        if way != "memray":
            return [self._python, *words]
        memray = [self._python, "-m", "memray", "run", "--trace-python-allocators", "--native"]
        return [*memray, "--quiet", "--force", "--output", self._output, *words]

    def _environment(self, way):
        if way == "votrace":
            settings = {"VOTRACE_STACKS": "all", "VOTRACE_DEPTH": "256"}
            return surroundings.child_environment(self._library, self._output, **settings)
        settings = {"PYTHONMALLOC": "malloc"} if way == "alone, malloc" else {}
        return surroundings.child_environment(**settings)

    def measure(self, way, name):
        """Seconds of the process, of its parse, and the bytes that were written."""
        command, environment = self._command(way, name), self._environment(way)
        start = time.perf_counter()
        said = surroundings.run_child(command, environment)
        process = time.perf_counter() - start
        written = 0
        if os.path.exists(self._output):
            written = os.stat(self._output).st_size
            os.unlink(self._output)
        found = {"process": process, "parse": said["seconds"], "written": written}
        return {"format": name, "way": way, **found}


def of(results, name, way, key):
    return [each[key] for each in results if (each["format"], each["way"]) == (name, way)]


def added(results, name, way):
    """Seconds on top of the process alone, of the medians."""
    taken = statistics.median(of(results, name, way, "process"))
    return taken - statistics.median(of(results, name, "alone", "process"))


def table(results):
    rows = []
    for name in FORMATS:
        alone = statistics.median(of(results, name, "alone", "process"))
        for way in WAYS:
            seconds = of(results, name, way, "process")
            rows.append(
                (name, way, f"{statistics.median(seconds):.2f}")
                + (f"{min(seconds):.2f}-{max(seconds):.2f}", f"{added(results, name, way):.2f}")
                + (f"{statistics.median(seconds) / alone:.2f}",)
                + (f"{statistics.median(of(results, name, way, 'parse')):.2f}",)
                + (figures.median(of(results, name, way, "written")), len(seconds))
            )
    heading = ("format", "under", "process s", "range", "added s", "x alone", "parse s")
    return figures.aligned_table((*heading, "written", "runs"), rows, words=2)


def comparison(results):
    said = [
        f"{added(results, name, 'votrace') / added(results, name, 'memray'):.2f} on {name.upper()}"
        for name in FORMATS
    ]
    return f"Of the time that memray adds, votrace adds {' and '.join(said)}."


def read_options():
    parser = surroundings.new_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--rows", type=int, default=1_000, help="(%(default)s)")
    parser.add_argument("--write", metavar="FILE.md", help="put the table into this document")
    return parser.parse_args()


def main():
    options = read_options()
    document = None
    if options.write is not None:
        document = surroundings.open_document(options.write, ["overhead"])
    library = surroundings.find_library(options.library)
    os.makedirs(options.work, exist_ok=True)
    measuring = Measuring(options, library)
    for name in FORMATS:  # once unmeasured, so that compiled files and tables are there
        measuring.measure("memray", name)
    turns = [(name, way) for _ in range(options.rounds) for name in FORMATS for way in WAYS]
    measured = [measuring.measure(way, name) for name, way in turns]
    text = f"{table(measured)}\n\n{comparison(measured)}"
    print(text)
    if document is not None:
        document.replace("overhead", text)
        document.save()


if __name__ == "__main__":
    main()
