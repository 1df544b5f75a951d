#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins runs of tests/bench/latency, read from stdin, into one table of medians.

A row has a name, then the median here, then the recorded time of a card's driver or -, all in
nanoseconds. The memory of the process, which is no time, keeps its unit."""
import re
import statistics
import sys

rows = {}
for line in sys.stdin:
    row = re.match(r'(\S.*?)\s{2,}(\d+)( KiB)?(?:\s+([\d.]+|-).*)?$', line)
    if row:
        name, here, unit, card = row.groups()
        rows.setdefault((name, unit or '', card or ''), []).append(int(here))
if not rows:
    sys.exit('medians.py: no rows')
if len({len(times) for times in rows.values()}) > 1:
    sys.exit('medians.py: the runs have different rows')
for (name, unit, card), times in rows.items():
    print(f'{name:<48} {statistics.median(times):>12.0f}{unit} {card:>12}'.rstrip())
