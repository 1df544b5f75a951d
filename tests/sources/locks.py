#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The exported functions' bodies take no lock: state is the emulator's.

usage: locks.py ROOT"""
import re
import sys
from pathlib import Path

found = 0
for path in sorted(Path(sys.argv[1], 'api').rglob('*.[ch]')):
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if re.search(r'#include "lock\.h"|\bem_(un)?lock\(', line):
            print(f'{path}:{number}: {line.strip()}')
            found += 1
sys.exit(found > 0)
