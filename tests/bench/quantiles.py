#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums up a table of tests/checkasm --random-boxes, read from stdin: of each function and
instruction set the least ratio, the tenth and the half of the rows below which the others lie."""
import re
import sys

sets, ratios = [], {}
for line in sys.stdin:
    row = re.match(r'(\w+)\s+(.*?)\s{2,}[\d.]+ GB/s((?:\s+[\d.]+\*?)+)', line)
    if line.startswith('function'):
        sets = line.split('host')[1].split()
    elif row:
        for name, ratio in zip(sets, row[3].replace('*', '').split()):
            ratios.setdefault((row[1], name), []).append(float(ratio))
if not ratios:
    sys.exit('quantiles.py: no rows')
print(f'{"function":<10} {"set":<8} {"rows":>5} {"least":>7} {"10 %":>7} {"median":>7}')
for (function, name), values in ratios.items():
    values.sort()
    least, tenth, half = values[0], values[len(values) // 10], values[len(values) // 2]
    print(f'{function:<10} {name:<8} {len(values):>5} {least:>7.2f} {tenth:>7.2f} {half:>7.2f}')
