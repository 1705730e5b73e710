# SPDX-License-Identifier: BSD-3-Clause
"""The parse of docs/astropy.md as benchmarks of asv: exact memory, and the resident peak."""

import resource

import numpy as np
from astropy.io.votable import from_table
from astropy.table import Table

import reader

ROWS = 2000
ARRAY_DOUBLES = 64


class Parse:
    params = ["tabledata", "binary", "binary2"]
    param_names = ["format"]
    timeout = 300

    def setup_cache(self):
        """Write the files into the folder that the benchmarks run in."""
        random = np.random.default_rng(42)
        columns = {"ra": random.uniform(0, 360, ROWS), "dec": random.uniform(-90, 90, ROWS)}
        for name in ("spectrum", "error", "model"):
            columns[name] = random.normal(size=(ROWS, ARRAY_DOUBLES))
        document = from_table(Table(columns))
        for name in self.params:
            document.to_xml(f"{name}.xml", tabledata_format=name)

    def peakheap_parse(self, format):
        reader.parse(f"{format}.xml")

    def netheap_parse(self, format):
        reader.parse(f"{format}.xml")

    def track_maxrss_parse(self, format):
        """The largest resident size after, less before: what such benchmarks usually take."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reader.parse(f"{format}.xml")
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024

    track_maxrss_parse.unit = "bytes"
