# SPDX-License-Identifier: BSD-3-Clause
"""votrace: what a piece of Python asks of the allocator, exact to the byte.

    with votrace.region("parse"):
        table = parse(path)

    votrace.measure(parse, path).peak_added

Regions are measured in a process that libvotrace.so is preloaded into (`votreport run --python`);
elsewhere they do nothing. `measure` starts such a process for one call.
"""

from ._child import Traceback
from ._measure import Call, ChildDied, Frame, Measurement, Measurer, Site, measure
from ._region import Stats, active, region
from ._tools import NotAvailable, StaticPython

__version__ = "0.1.0"

__all__ = [
    "Call",
    "ChildDied",
    "Frame",
    "Measurement",
    "Measurer",
    "NotAvailable",
    "Site",
    "StaticPython",
    "Stats",
    "Traceback",
    "active",
    "measure",
    "region",
]
