#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/measured/kernels.txt, the table of `checkasm --bench`, as an SVG: one bar a row.

kernels_chart.py DATA FILE.svg
"""

import re
import sys
from html import escape

ROW, LEFT, UNIT, TOP, LONGEST = 15, 330, 190, 46, 4
LINE = re.compile(r'^(\S+)\s{2,}(.+?)\s+([\d.]+ GB/s)((?:\s+[\d.]+[ *]?)+)\s*$')


def read(path):
    """Rows of (function, case, the host's speed, ratio, whether the ratio misses its goal)."""
    rows, name = [], 'kernels/'
    with open(path, encoding='utf-8') as f:
        for line in f:
            match = LINE.match(line)
            if line.startswith('function'):
                name = line.split()[-1]
            elif match:
                ratio = match[4].split()[-1]
                rows.append(
                    (match[1], match[2], match[3], float(ratio.rstrip('*')), ratio.endswith('*'))
                )
    if not rows:
        sys.exit(f'{path}: no rows')
    return rows, name


def text(x, y, string, more=''):
    return f'<text x="{x}" y="{y}"{more}>{escape(string)}</text>'


def draw(rows, name):
    width, height = LEFT + LONGEST * UNIT + 60, TOP + ROW * len(rows) + 10
    title = (
        f"{name} functions against the host's own way, same run "
        f'(medians; bars end at {LONGEST})'
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        text(10, 18, title, ' font-size="13"'),
    ]
    for tick in (0.5, 1, 2, 3, 4):
        x, colour = LEFT + tick * UNIT, '#444' if tick == 1 else '#ddd'
        out += [
            f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height - 8}" stroke="{colour}"/>',
            text(x, TOP - 12, str(tick), ' text-anchor="middle"'),
        ]
    for i, (function, case, host, ratio, missed) in enumerate(rows):
        y, length = TOP + i * ROW, round(min(ratio, LONGEST) * UNIT)
        colour = '#c8553d' if missed else '#3d7ea6'
        out += [
            text(10, y + 11, function),
            text(100, y + 11, case),
            text(LEFT - 6, y + 11, host, ' text-anchor="end" fill="#777"'),
            f'<rect x="{LEFT}" y="{y + 2}" width="{length}" height="{ROW - 4}" '
            f'fill="{colour}"/>',
            text(LEFT + length + 4, y + 11, f'{ratio:.2f}'),
        ]
    return '\n'.join(out + ['</svg>', ''])


if __name__ == '__main__':
    with open(sys.argv[2], 'w', encoding='utf-8') as out_file:
        out_file.write(draw(*read(sys.argv[1])))
