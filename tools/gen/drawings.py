#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/concepts.md from facts that a program observes in the built library.

drawings.py FACTS_PROGRAM FOLDER      (tests/docs/facts.c; `ninja -C build drawings` runs this)
"""

import os
import subprocess
import sys

from drawing import Drawing


class Fact(dict):
    """A line such as `range name=p memory=0`: `kind`, and the values as text."""

    def __init__(self, line):
        self.line = line
        self.kind, *pairs = line.split()
        super().__init__(p.split('=', 1) for p in pairs)

    def number(self, name):
        return int(self[name])


def read(program, drawing):
    out = subprocess.run([program, drawing], capture_output=True, text=True, check=True).stdout
    return [Fact(line) for line in out.splitlines()]


def aliases(facts):
    d = Drawing(
        780,
        270,
        'Addresses and memory',
        'Five ranges of device addresses and the memory that each one shows.',
    )
    colours = {'none': 'gap', '0': 'a', '1': 'b'}
    x, middles = 10, {}
    d.text(10, 20, 'Device addresses', 'head')
    for f in facts:
        width = {'p': 130, 'q': 240}.get(f['name'], 118)
        x += 15 if f['name'] in ('r', 'q') else 0
        if f['name'] == 'r':
            d.path([(x, 38), (x, 30), (x + 3 * width, 30), (x + 3 * width, 38)])
            d.text(x + 1.5 * width, 22, 'cuMemAddressReserve, 6 MiB', 'code small middle')
        with d.fact(f.line):
            mapped = f['memory'] != 'none'
            d.rect(x, 44, width, 70, colours[f['memory']] + ('' if mapped else ' dash'), 0)
            d.text(x + width / 2, 70, f['name'], 'code middle')
            d.text(x + width / 2, 94, f['call'] if mapped else 'no memory yet', 'code small middle')
        if mapped:
            middles.setdefault(f['memory'], []).append(x + width / 2)
        x += width
    d.text(770, 240, 'Memory', 'head end')
    for memory, tops in sorted(middles.items()):
        middle = max(95, sum(tops) / len(tops))
        d.rect(middle - 85, 205, 170, 54, colours[memory])
        d.text(middle, 228, f'allocation {int(memory) + 1}, 2 MiB', 'middle')
        d.text(
            middle, 247, f'{len(tops)} address' + ('es' if len(tops) > 1 else ''), 'small middle'
        )
        for i, top in enumerate(tops):
            d.path([(top, 114), (middle + 40 * (i - (len(tops) - 1) / 2), 203)], 'wait', arrow=True)
    return d


def numbered_grid(d, facts, at, unit, cell, colour):
    """Cells at their place in the image, each with its place in memory; a line follows memory."""
    x0, y0 = at
    xs = sorted({f.number('x') for f in facts})
    ys = sorted({f.number('y') for f in facts})
    centres = {}
    for f in facts:
        x, y = x0 + xs.index(f.number('x')) * cell[0], y0 + ys.index(f.number('y')) * cell[1]
        place = f.number('at') // unit
        centres[place] = (x + cell[0] / 2, y + cell[1] / 2)
        with d.fact(f.line):
            d.rect(x, y, cell[0], cell[1], colour(place), 0)
            d.text(x + cell[0] / 2, y + cell[1] / 2 + 5, place, 'middle')
    for i, x in enumerate(xs):
        d.text(x0 + i * cell[0] + 2, y0 - 6, x, 'pale small')
    for i, y in enumerate(ys):
        d.text(x0 - 6, y0 + i * cell[1] + cell[1] / 2 + 4, y, 'pale small end')
    return centres


def gob(facts):
    d = Drawing(
        780,
        400,
        'GOB and block',
        'The order in memory of the 16-byte pieces of a GOB, and of the GOBs of an image.',
    )
    pieces = [f for f in facts if f.kind == 'piece']
    gobs = [f for f in facts if f.kind == 'gob']
    per_block = 1 + max(f.number('y') for f in gobs) // 8
    d.text(30, 22, 'One GOB: 64 bytes x 8 rows', 'head')
    d.text(30, 42, 'in pieces of 16 bytes; the numbers are their order in memory', 'pale small')
    numbered_grid(d, pieces, (50, 78), 16, (76, 34), lambda n: 'abcd'[n // 8])
    d.text(440, 22, 'An image: 64 x 64 texels of 4 bytes', 'head')
    d.text(440, 42, 'each cell is a GOB; the numbers are their order in memory', 'pale small')
    centres = numbered_grid(d, gobs, (460, 78), 512, (72, 34), lambda n: 'abcd'[n // per_block % 4])
    for first in range(0, len(gobs), per_block):
        points = [centres[n] for n in range(first, first + per_block)]
        left, top = min(p[0] for p in points) - 36, min(p[1] for p in points) - 17
        right, bottom = max(p[0] for p in points) + 36, max(p[1] for p in points) + 17
        d.path(
            [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)],
            f"thick edge-{'abcd'[first // per_block % 4]}",
        )
    d.text(50, 375, 'Colours: every 8 pieces, 128 bytes in memory.', 'pale small')
    d.text(
        460,
        375,
        f'Thick frames: blocks of 1 x {per_block} GOBs, one after the other.',
        'pale small',
    )
    return d


def mips(facts):
    scale = 1.2
    end = 2 * facts[len(facts) // 2].number('at')
    d = Drawing(
        780,
        380,
        'Mip chain and layers',
        'The levels of two layers, and the places of all of them in memory.',
    )
    bar = 740 / end
    for f in facts:
        level, layer = f.number('level'), f.number('layer')
        colour = 'abcd'[level]
        side = f.number('width') * scale
        left = 20 + layer * 390 + sum(128 * scale / 2**i + 18 for i in range(level))
        start = f.number('at')
        later = [g.number('at') for g in facts if g.number('at') > start] + [end]
        with d.fact(f.line):
            d.rect(left, 70, side, f.number('height') * scale, colour, 0)
            d.text(left + side / 2, 62, f"{f['width']} x {f['height']}", 'small middle')
            x, y = 20 + start * bar, 330 + 13 * level
            d.rect(x, 280, (min(later) - start) * bar, 34, colour, 0)
            d.path([(x, 314), (x, y)])
            d.text(x + (3 if level < 2 else -3), y, start, 'small' if level < 2 else 'small end')
    for layer in (0, 1):
        d.text(20 + layer * 390, 30, f'Layer {layer}', 'head')
        x = 20 + layer * end / 2 * bar
        d.path([(x, 274), (x, 268), (x + end / 2 * bar - 4, 268), (x + end / 2 * bar - 4, 274)])
        d.text(x + end / 4 * bar, 260, f'layer {layer}: {end // 2} bytes', 'small middle')
    return d


def mapping(facts):
    steps = [f for f in facts if f.kind == 'step']
    row, top = 38, 64
    d = Drawing(
        780,
        top + row * len(steps) + 20,
        'Map and unmap over time',
        'Calls of a graphics API and of CUDA on one buffer, and the result of each.',
    )
    calls = [f['call'] for f in steps]
    start, stop = calls.index('cuGraphicsMapResources'), calls.index('cuGraphicsUnmapResources')
    d.text(150, 24, 'Graphics', 'head middle')
    d.text(520, 24, 'CUDA', 'head middle')
    d.path([(290, 40), (290, top + row * len(steps) + 12)], 'line', arrow=True)
    d.text(298, 50, 'time', 'pale small')
    d.text(284, 50, 'owner', 'pale small end')
    owner = [(0, start + 0.5, 'a'), (start + 0.5, stop + 0.5, 'c'), (stop + 0.5, len(steps), 'a')]
    for a, b, colour in owner:
        d.rect(268, top + a * row, 14, (b - a) * row - 3, colour, 2)
    for i, f in enumerate(facts):
        if f.kind == 'value':
            with d.fact(f.line):
                d.text(
                    20,
                    top + (i - 1) * row + 46,
                    f"reads {f['reads']}, CUDA's last write while mapped",
                    'small',
                )
            continue
        y = top + i * row
        left, width = (20, 236) if f['who'] == 'graphics' else (300, 250)
        good = f['result'] == 'CUDA_SUCCESS'
        reported = f['diagnostic'] != 'none'
        with d.fact(f.line):
            colour = 'a' if f['who'] == 'graphics' else 'c'
            if reported:
                colour = 'b' if good else 'bad'
            d.rect(left, y, width, row - 8, colour)
            d.text(left + 10, y + 20, f['call'], 'code small')
            note = f['diagnostic'] if good else f"{f['result']} ({f['diagnostic']})"
            if reported and f['who'] == 'graphics':
                d.text(left + width - 8, y + 20, note, 'small end')
            elif reported:
                d.text(left + width + 10, y + 20, note, 'small')
    return d


def streams(facts):
    waits = {(f['command'], f['for']) for f in facts}
    names = sorted({n for pair in waits for n in pair} | {'C1'})
    direct = {
        (c, p) for c, p in waits if not any((c, m) in waits and (m, p) in waits for m in names)
    }
    lanes = [
        ('A', 'stream A'),
        ('B', 'stream B'),
        ('D', 'legacy default stream'),
        ('C', 'stream C, non-blocking'),
    ]
    depth = {}

    def place(name):
        if name not in depth:
            depth[name] = 1 + max((place(p) for c, p in direct if c == name), default=-1)
        return depth[name]

    d = Drawing(
        780,
        290,
        'Stream order',
        'Six commands in four streams; an arrow leads to each command from those it waits for.',
    )
    boxes = {}
    for i, (letter, title) in enumerate(lanes):
        y = 52 + i * 60
        d.text(10, y + 5, title)
        d.path([(180, y), (770, y)], 'line dash')
        for name in [n for n in names if n[0] == letter]:
            x = 210 + place(name) * 140
            boxes[name] = (x, y)
    for command, before in sorted(direct):
        (x1, y1), (x2, y2) = boxes[before], boxes[command]
        with d.fact(f'waits command={command} for={before}'):
            d.curve(x1 + 76, y1, x2 - 2, y2, 'wait')
    for i, name in enumerate(names):
        x, y = boxes[name]
        d.rect(x, y - 18, 76, 36, 'abdc'[[letter for letter, _ in lanes].index(name[0])])
        d.text(x + 38, y + 5, name, 'middle')
    d.text(324, 84, 'event', 'pale small')
    d.path([(700, 18), (765, 18)], 'wait', arrow=True)
    d.text(690, 22, 'time', 'pale small end')
    return d


DRAWINGS = {'aliases': aliases, 'gob': gob, 'mips': mips, 'mapping': mapping, 'streams': streams}

if __name__ == '__main__':
    for drawing_name, draw in DRAWINGS.items():
        path = os.path.join(sys.argv[2], drawing_name + '.svg')
        with open(path, 'w', encoding='utf-8') as out_file:
            out_file.write(draw(read(sys.argv[1], drawing_name)).svg())
        print(path)
