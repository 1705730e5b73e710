# SPDX-License-Identifier: BSD-3-Clause
"""Parse the VOTable that is named: some twenty Python frames deep, an interpreter's C between."""

import sys
import warnings

from astropy.io.votable import parse

warnings.simplefilter("ignore")
parse(sys.argv[1])
