#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the calls of the made-up API and checks the lines of its trace. dialect.py CALLS LIBRARY"""
import subprocess
import sys

WANTED = [
    'toyOpen(queue=0x',
    ', flags=TOY_OPEN_FRAGILE | TOY_OPEN_HEAVY) = toySuccess; *queue=toyQueue #1.1\n',
    'toyPack(queue=toyQueue #1.9, ',
    'boxes=[{shape=TOY_ROUND, size={radius=7}}, '
    '{shape=TOY_SQUARE, size={sides={width=20, height=3}}}], count=2',
    '= toyErrorUnreadable\n',
    'toyPack_ptsz(queue=NULL, ',
    '*weight=1007\n',
    'toyFly(height=3) = toyErrorMissing\n',
]
run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
missing = [w for w in WANTED if w not in run.stdout]
print(run.stdout)
for w in missing:
    print(f'missing: {w!r}')
sys.exit(bool(missing) or run.returncode)
