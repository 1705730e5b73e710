# SPDX-License-Identifier: BSD-3-Clause
"""The work that astropy_votable.py and astropy_overhead.py measure, in a process of its own.

    votable_workload.py make --rows N --format FORMAT --file FILE
    votable_workload.py parse --method METHOD --file FILE ...
    votable_workload.py versions

`make` writes a table of N rows (ra and dec, and three columns of 64 doubles each). `parse` parses
such a file with astropy, and prints what the method says of that parse as a line of JSON. Nothing
but the parse lies between the method's two looks; whatever it takes to look is imported and made
ready before. `versions` says what takes part.
"""

import argparse
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import resource
import sys
import tempfile
import time
import warnings

import numpy as np
from astropy.io.votable import from_table, parse
from astropy.table import Table

import votable_patch

FORMATS = ("tabledata", "binary", "binary2")
MODULE_ROWS = 200_000
ARRAY_DOUBLES = 64
PLACES = 5

warnings.simplefilter("ignore")


def make_document(rows):
    """The table that is parsed; the same bytes for the same number of rows."""
    random = np.random.default_rng(42)
    columns = {"ra": random.uniform(0, 360, rows), "dec": random.uniform(-90, 90, rows)}
    for name in ("spectrum", "error", "model"):
        columns[name] = random.normal(size=(rows, ARRAY_DOUBLES))
    return from_table(Table(columns))


# What the process did before the parse; each returns what it keeps


def imports_only(rows):
    """It has imported astropy, and done nothing else."""


def module_data(rows):
    """What a benchmark's module keeps and throws away when it is imported: arrays of numbers, and
    arrays of text that are made of lists."""
    random = np.random.default_rng(7)
    kept = [random.uniform(0, 360, MODULE_ROWS) for _ in range(6)]
    kept.append(np.array([f"OBJ_{i:08d}" for i in range(MODULE_ROWS)]))
    long_words = [f"A longer description of object {i // 1000:04d}" for i in range(MODULE_ROWS)]
    kept.append(np.array(long_words))
    return kept


def module_and_setup(rows):
    """The same, then a setup() in this process that makes the table and writes the files."""
    kept = module_data(rows)
    document = make_document(rows)
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMATS:
            document.to_xml(os.path.join(folder, name + ".xml"), tabledata_format=name)
    return kept


BEFORE = {"imports": imports_only, "module": module_data, "setup": module_and_setup}


def begin(before, rows, patch):
    """Bring this process to where the parse begins; returns what has to live meanwhile."""
    if patch:
        votable_patch.apply()
    kept = BEFORE[before](rows)
    gc.collect()
    return kept


# The methods: each returns what it says of work(), and the work's result


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def largest_resident_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def method_plain(work):
    return {}, work()


def method_rss(work):
    """As benchmarks usually do: the process's largest resident size, after less before."""
    resident = resident_bytes()
    before = largest_resident_bytes()
    result = work()
    after = largest_resident_bytes()
    said = {
        "peak_added": after - before,
        "largest_before": before,
        "resident_before": resident,
        "largest_after": after,
    }
    return said, result


def method_tracemalloc(work):
    import tracemalloc

    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    result = work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"peak_added": peak - before}, result


def method_memray(work):
    import memray

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memray.bin")
        with memray.Tracker(path):
            result = work()
        metadata = memray.FileReader(path).metadata
    said = {"peak_added": metadata.peak_memory, "allocations": metadata.total_allocations}
    return said, result


def method_region(work):
    import votrace

    marked = votrace.region("parse")
    with marked:
        result = work()
    stats = marked.stats
    if stats is None:
        sys.exit("votable_workload.py: votrace sees nothing: libvotrace.so is not preloaded")
    return stats._asdict(), result


#: What a method looks with: imported before the parse's process is brought to its beginning, as
#: the objects that an import makes have a say in when the garbage collector runs next.
MODULES = {"tracemalloc": "tracemalloc", "memray": "memray", "region": "votrace"}

METHODS = {
    "plain": method_plain,
    "rss": method_rss,
    "tracemalloc": method_tracemalloc,
    "memray": method_memray,
    "region": method_region,
}


def check_sum(document):
    """Of all values, so that a run that parsed something else is seen."""
    array = document.get_first_table().array
    return repr(float(sum(np.abs(array[name]).sum() for name in array.dtype.names)))


def parse_as_said(options):
    if options.method in MODULES:
        importlib.import_module(MODULES[options.method])
    kept = begin(options.before, options.rows, options.patch)
    seconds = [0.0]

    def work():
        start = time.perf_counter()
        document = parse(options.file)
        seconds[0] = time.perf_counter() - start
        return document

    said, document = METHODS[options.method](work)
    del kept
    return {**said, "seconds": seconds[0], "checksum": check_sum(document)}


# votrace.measure() makes a process of its own for the call


def parse_after(kept, path):
    """The call that is measured; @kept is what begin() made before it."""
    return parse(path)


def measure_as_said(options):
    import votrace

    setup = functools.partial(begin, options.before, options.rows, options.patch)
    measurement = votrace.Measurer(setup=setup)(parse_after, options.file)
    if not measurement.complete:
        sys.exit("votable_workload.py: the measurement is not complete")
    return {
        "peak_added": measurement.peak_added,
        "net": measurement.net,
        "allocations": measurement.blocks,
        "places": top_places(measurement.sites),
    }


def top_places(sites):
    """[bytes at the peak, C function, Python function, its file and line], most bytes first."""
    sums = {}
    for site in sites:
        place = (native_function(site), site.function, f"{short_path(site.file)}:{site.line}")
        sums[place] = sums.get(place, 0) + site.bytes
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return [[size, *place] for place, size in ordered[:PLACES]]


def native_function(site):
    """The innermost function of an extension module below the Python line; "" without one."""
    for frame in site.stack:
        name = os.path.basename(frame.module)
        if frame.is_python:
            return ""
        if frame.function and ".so" in name and not name.startswith(("libpython", "libvotrace")):
            return frame.function
    return ""


def short_path(path):
    """From the package on, or the name of a module of Python's own."""
    _, found, rest = path.partition("/site-packages/")
    return rest if found else os.path.basename(path)


def versions():
    found = {name: importlib.metadata.version(name) for name in ("astropy", "numpy", "memray")}
    return {"python": platform.python_version(), **found}


def make(options):
    make_document(options.rows).to_xml(options.file, tabledata_format=options.format)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("make", help="write a table")
    made.add_argument("--format", choices=FORMATS, required=True)
    parsed = commands.add_parser("parse", help="parse a table, and say what that took")
    parsed.add_argument("--method", choices=[*METHODS, "measure"], required=True)
    parsed.add_argument("--before", choices=BEFORE, default="module", help="(%(default)s)")
    parsed.add_argument("--patch", action="store_true", help="read it by votable_patch.py")
    for command in (made, parsed):
        command.add_argument("--rows", type=int, required=True, help="that the table has")
        command.add_argument("--file", required=True)
    commands.add_parser("versions", help="say what takes part")
    return parser.parse_args()


def main():
    options = read_options()
    if options.command == "make":
        make(options)
        return
    if options.command == "versions":
        said = versions()
    elif options.method == "measure":
        said = measure_as_said(options)
    else:
        said = parse_as_said(options)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
