#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the table of `checkasm --bench` as an SVG: a bar a row, its ratio to the host's own way beside it.

usage: tools/bench kernels | tools/gen/kernels_chart.py FILE.svg     the table goes through to standard output"""
import re
import sys
from html import escape

ROW, LEFT, UNIT, TOP = 15, 330, 190, 46
LINE = re.compile(r'^(\S+)\s{2,}(.+?)\s+([\d.]+ GB/s)((?:\s+[\d.]+[ *]?)+)\s*$')


def rows_of(lines):
    for line in lines:
        sys.stdout.write(line)
        match = LINE.match(line)
        if match:
            last = match.group(4).split()[-1]
            yield match.group(1), match.group(2), match.group(3), float(last.rstrip('*')), last.endswith('*')


def draw(rows, name):
    height = TOP + ROW * len(rows) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + 4 * UNIT + 60}" height="{height}" '
           f'font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="10" y="18" font-size="13">{escape(name)} functions against the host\'s own way, same run (medians; bars end at 4)</text>']
    for tick in (0.5, 1, 2, 3, 4):
        x = LEFT + tick * UNIT
        out.append(f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height - 8}" stroke="{"#444" if tick == 1 else "#ddd"}"/>')
        out.append(f'<text x="{x}" y="{TOP - 12}" text-anchor="middle">{tick}</text>')
    for i, (function, case, host, ratio, missed) in enumerate(rows):
        y = TOP + i * ROW
        out.append(f'<text x="10" y="{y + 11}">{escape(function)}</text><text x="100" y="{y + 11}">{escape(case)}</text>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end" fill="#777">{host}</text>')
        out.append(f'<rect x="{LEFT}" y="{y + 2}" width="{min(ratio, 4) * UNIT:.0f}" height="{ROW - 4}" fill="{"#c8553d" if missed else "#3d7ea6"}"/>')
        out.append(f'<text x="{LEFT + min(ratio, 4) * UNIT + 4:.0f}" y="{y + 11}">{ratio:.2f}</text>')
    return '\n'.join(out + ['</svg>', ''])


def main():
    lines, name = iter(sys.stdin), 'kernels/'

    def headed():
        nonlocal name
        for line in lines:
            if line.startswith('function'):
                name = line.split()[-1]
            yield line

    rows = list(rows_of(headed()))
    if not rows:
        sys.exit('kernels_chart.py: no rows on standard input')
    with open(sys.argv[1], 'w', encoding='utf-8') as f:
        f.write(draw(rows, name))


main()
