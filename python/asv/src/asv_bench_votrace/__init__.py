# SPDX-License-Identifier: BSD-3-Clause
"""Types of benchmarks for airspeed velocity: exact memory of the heap, by votrace.

asv imports this package, and what is in `benchmarks`, because of the distribution's name. It takes
an ImportError for a plugin that is not wanted, without a word: nothing here imports what may be
missing before a benchmark runs.
"""

__version__ = "0.1.0"
