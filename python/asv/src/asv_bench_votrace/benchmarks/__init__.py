# SPDX-License-Identifier: BSD-3-Clause
"""The types of benchmarks that asv finds."""
