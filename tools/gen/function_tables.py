#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the interpolator's tables from data/functions/coefficients.txt.

    function_tables.py data/functions/coefficients.txt function_tables.c
"""
import sys

# What is added before the last digits are cut off, in 2^-17 of a unit. Measured: any other value of
# the range given here would do, no value outside would.
ROUNDING = {'rcp': 8093,  # 8092 … 8095
            'rsqrt': -1,  # -2, -1
            'sqrt': -1,  # -2, -1
            'ex2': -8310,  # -8312 … -8309
            'sin': 0,  # 0 … 15, the values' last digit
            'lg2': 6696,  # 6696 … 6703
            'tanh': 0}  # 0 … 31 at most: the values of small arguments have this many digits

# Functions whose results are cut to 23 digits.
CUT = ('rcp', 'rsqrt', 'sqrt', 'ex2')


def signed(value):
    """The value of the 32 lower bits."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def main(source, target):
    tables, rows = {}, None
    for line in open(source, encoding='utf-8'):
        words = line.split()
        if not words or words[0].startswith('#'):
            continue
        if words[0] == 'table':
            rows = tables.setdefault(words[1], [])
        else:
            rows.append([int(word) for word in words])
    with open(target, 'w', encoding='utf-8') as out:
        out.write('// SPDX-License-Identifier: MIT\n// Made by tools/gen/function_tables.py.\n'
                  '#include "lanes/interpolate.inc.h"\n')
        for name, rows in tables.items():
            out.write(f'\nconst struct kn_segments kn_segments_{name} = {{\n')
            out.write('    .c = {\n')
            for row in rows:
                values = [row[n] * factor for n, factor in enumerate((1 << 15, 2, 4))]
                values[0] += ROUNDING[name]
                assert all(abs(value) < 1 << 53 for value in values)
                out.write(f'        {{{", ".join(map(str, values))}}},\n')
            out.write('    },\n')
            out.write('};\n')
            if name not in CUT:
                continue
            short = [(signed(c0 << 6), c1, 4 * c2) for c0, c1, c2 in rows]
            out.write(f'\nconst struct kn_rows kn_rows_{name} = {{\n')
            out.write('    .row = {\n')
            for row in short:
                out.write(f'        {{{", ".join(map(str, row))}, {ROUNDING[name]}}},\n')
            out.write('    },\n    .column = {\n')
            for column in zip(*short):
                out.write(f'        {{{", ".join(map(str, column))}}},\n')
            out.write('    },\n')
            out.write('};\n')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
