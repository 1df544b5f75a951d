#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the PTX texts of a compressed file as strings of a C header. A line `// part N` begins the
text of the string part_N."""
import gzip
import re
import sys

source, header = sys.argv[1:]
with gzip.open(source, 'rt', encoding='utf-8') as f:
    parts = re.split(r'^// part (\d+)\n', f.read(), flags=re.MULTILINE)[1:]
with open(header, 'w', encoding='utf-8') as f:
    f.write('#pragma once\n')
    for number, text in zip(parts[::2], parts[1::2]):
        lines = (line.replace('\\', '\\\\').replace('"', '\\"') for line in text.splitlines())
        f.write(f'__attribute__((unused)) static const char part_{number}[] =\n' +
                '\n'.join(f'    "{line}\\n"' for line in lines) + ';\n')
