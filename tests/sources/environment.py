#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The libraries read environment variables with secure_getenv alone, which finds nothing in a
program that has more rights than its user.

usage: environment.py ROOT"""
import re
import sys
from pathlib import Path

ROOMS = ['kernels', 'device-model', 'ptx', 'emulator', 'api', 'runtime', 'vulkan-layer']
READS = re.compile(r'\b(secure_)?getenv\(|\benviron\b')
# Looks for the names of settings, to say that they are misspelt or ignored.
NAMES_ONLY = 'variable = environ; variable && *variable; variable++'

good, bad = 0, []
for room in ROOMS:
    for path in sorted(Path(sys.argv[1], room).rglob('*.[ch]')):
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            for read in READS.finditer(line):
                if read[1] or NAMES_ONLY in line:
                    good += 1
                else:
                    bad.append(f'{path}:{number}: {line.strip()}')
print(f'{good} reads by secure_getenv, or of names only', *bad, sep='\n')
sys.exit(bool(bad) or good < 4)
