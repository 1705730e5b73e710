# SPDX-License-Identifier: BSD-3-Clause
"""The work that astropy_votable.py and astropy_overhead.py measure, in a process of its own.

    votable_workload.py make --rows N --folder FOLDER
    votable_workload.py parse --method METHOD --file FILE ...

`make` writes one table of N rows (ra and dec, and three columns of 64 doubles each) as
tabledata.xml, binary.xml and binary2.xml. `parse` parses one of them with astropy, and prints
what the method says of that parse as a line of JSON. Nothing but the parse lies between the
method's two looks; whatever it takes to look is imported and made ready before.
"""
import argparse
import gc
import json
import os
import resource
import tempfile
import time
import warnings

import numpy as np
from astropy.io.votable import from_table, parse
from astropy.table import Table

import votable_patch
import votrace_calls

FORMATS = ("tabledata", "binary", "binary2")
MODULE_ROWS = 200_000
ARRAY_DOUBLES = 64

warnings.simplefilter("ignore")


def make_table(rows):
    """The table that is parsed; the same bytes for the same number of rows."""
    random = np.random.default_rng(42)
    columns = {"ra": random.uniform(0, 360, rows), "dec": random.uniform(-90, 90, rows)}
    for name in ("spectrum", "error", "model"):
        columns[name] = random.normal(size=(rows, ARRAY_DOUBLES))
    return Table(columns)


def write_formats(rows, folder):
    document = from_table(make_table(rows))
    for name in FORMATS:
        document.to_xml(os.path.join(folder, name + ".xml"), tabledata_format=name)


def imports_only():
    """A process that has imported astropy and done nothing else."""


def module_data(rows=MODULE_ROWS):
    """What a benchmark module keeps and throws away when it is imported: arrays of numbers, and
    arrays of text that are made of lists."""
    random = np.random.default_rng(7)
    kept = [random.uniform(0, 360, rows) for _ in range(6)]
    kept.append(np.array([f"OBJ_{i:08d}" for i in range(rows)]))
    kept.append(np.array([f"A longer description of object {i // 1000:04d}" for i in range(rows)]))
    return kept


def module_and_setup(rows):
    """The same, then a setup() in this process that makes the table and writes the files."""
    kept = module_data()
    with tempfile.TemporaryDirectory() as folder:
        write_formats(rows, folder)
    return kept


BEFORE = {
    "imports": lambda rows: imports_only(),
    "module": lambda rows: module_data(),
    "setup": module_and_setup,
}


# The methods: each returns what it says of work(), and the work's result


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def largest_resident_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def method_plain(work):
    return {"peak_added": None}, work()


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


def memray_peak(work, **options):
    import memray

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memray.bin")
        with memray.Tracker(path, **options):
            result = work()
        metadata = memray.FileReader(path).metadata
    said = {"peak_added": metadata.peak_memory, "allocations": metadata.total_allocations}
    return said, result


def method_memray(work):
    return memray_peak(work)


def method_memray_objects(work):
    return memray_peak(work, trace_python_allocators=True)


def method_memray_native(work):
    return memray_peak(work, trace_python_allocators=True, native_traces=True)


def method_votrace(work):
    with votrace_calls.region("parse"):
        result = work()
    totals = votrace_calls.totals("parse")
    said = {
        "peak_added": totals.peak_added_bytes,
        "owned_peak": totals.owned_peak_bytes,
        "combined_peak_added": totals.combined_peak_added_bytes,
        "net": totals.net_bytes,
        "allocations": totals.allocations,
        "live_start": totals.live_start_bytes,
    }
    return said, result


METHODS = {
    "plain": method_plain,
    "rss": method_rss,
    "tracemalloc": method_tracemalloc,
    "memray": method_memray,
    "memray-objects": method_memray_objects,
    "memray-native": method_memray_native,
    "votrace": method_votrace,
}


def check_sum(document):
    """Of all values, so that a run that parsed something else is seen."""
    array = document.get_first_table().array
    return repr(float(sum(np.abs(array[name]).sum() for name in array.dtype.names)))


def run_parse(options):
    if options.patch:
        votable_patch.apply()
    kept = BEFORE[options.before](options.rows)
    gc.collect()
    seconds = []

    def work():
        start = time.perf_counter()
        document = parse(options.file)
        seconds.append(time.perf_counter() - start)
        return document

    said, document = METHODS[options.method](work)
    said["seconds"] = seconds[0]
    said["checksum"] = check_sum(document)
    print(json.dumps(said))
    del kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("--rows", type=int, required=True)
    make.add_argument("--folder", required=True)
    measured = commands.add_parser("parse")
    measured.add_argument("--method", choices=METHODS, required=True)
    measured.add_argument("--file", required=True)
    measured.add_argument("--rows", type=int, default=0, help="of setup()'s table")
    measured.add_argument("--before", choices=BEFORE, default="module")
    measured.add_argument("--patch", action="store_true")
    options = parser.parse_args()
    if options.command == "make":
        write_formats(options.rows, options.folder)
    else:
        run_parse(options)


if __name__ == "__main__":
    main()
