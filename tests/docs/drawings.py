#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the drawings of docs/concepts.md against the built library.

Each shape of a drawing carries the fact that it shows. The facts are observed anew (facts.c), and
must be the ones of the drawing, each once; the shapes' labels, places and sizes must agree with
them. `cardless layout`, which asks the layout code instead of memory, must say the same.

  drawings.py FACTS_PROGRAM CARDLESS FOLDER
"""

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET

FACTS, CARDLESS, FOLDER = sys.argv[1:4]
WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
SVG = '{http://www.w3.org/2000/svg}'
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)


def parse(line):
    kind, *pairs = line.split()
    return {'kind': kind, **dict(p.split('=', 1) for p in pairs)}


def observed(name):
    out = subprocess.run([*WRAPPER, FACTS, name], capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out
    return out.stdout.splitlines()


def shapes(name):
    """(fact, the group of shapes that shows it) of a drawing."""
    root = ET.parse(os.path.join(FOLDER, name + '.svg')).getroot()
    return [(g.get('data-fact'), g) for g in root.iter(SVG + 'g') if g.get('data-fact')]


def label(group):
    return ' '.join(t.text or '' for t in group.iter(SVG + 'text'))


def box(group):
    """x, y, width and height of the group's first rectangle."""
    r = next(group.iter(SVG + 'rect'))
    return [float(r.get(k)) for k in ('x', 'y', 'width', 'height')]


def same_facts(name, drawn, lines):
    expect(
        sorted(drawn) == sorted(lines),
        f'{name}: drawn {sorted(set(drawn) - set(lines))}, but the '
        f'library has {sorted(set(lines) - set(drawn))}',
    )


def proportional(name, pairs):
    """Drawn and observed numbers differ by a factor and an offset only."""
    (d0, o0), (d1, o1) = min(pairs, key=lambda p: p[1]), max(pairs, key=lambda p: p[1])
    scale = (d1 - d0) / (o1 - o0)
    expect(scale > 0, f'{name}: drawn in the other direction')
    for drawn, fact in pairs:
        expect(abs(drawn - d0 - scale * (fact - o0)) < 0.6, f'{name}: {fact} is drawn at {drawn}')


def aliases(found):
    fill = {}
    for line, group in found:
        f, colour = parse(line), next(group.iter(SVG + 'rect')).get('class').split()[0]
        expect(f['name'] in label(group), f'aliases: no label {f["name"]}')
        expect(f['memory'] == 'none' or f['call'] in label(group), f'aliases: no label {f["call"]}')
        expect(
            fill.setdefault(f['memory'], colour) == colour,
            f'aliases: {f["name"]} has another colour',
        )
    expect(len(set(fill.values())) == len(fill), 'aliases: two allocations have the same colour')


def gob(found):
    for kind, unit in (('piece', 16), ('gob', 512)):
        facts = [(parse(line), group) for line, group in found if line.startswith(kind + ' ')]
        for f, group in facts:
            expect(
                label(group) == str(int(f['at']) // unit), f'gob: {f} has the label {label(group)}'
            )
        proportional(f'gob {kind} x', [(box(g)[0], int(f['x'])) for f, g in facts])
        proportional(f'gob {kind} y', [(box(g)[1], int(f['y'])) for f, g in facts])


def mips(found):
    facts = [(parse(line), group) for line, group in found]
    bars = []
    for f, group in facts:
        picture, bar = list(group.iter(SVG + 'rect'))
        bars.append((float(bar.get('x')), int(f['at'])))
        expect(
            f"{f['width']} x {f['height']}" in label(group),
            f'mips: {f} has the label {label(group)}',
        )
        expect(f['at'] in label(group).split(), f'mips: {f} has the label {label(group)}')
        expect(
            float(picture.get('width')) * int(f['height'])
            == float(picture.get('height')) * int(f['width']),
            f'mips: {f} has another shape',
        )
    proportional('mips', bars)
    table = subprocess.run(
        [*WRAPPER, CARDLESS, 'layout', '128x128', '--levels', '4', '--layers', '2', '--no-picture'],
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout
    stride = int(re.search(r'layers +2, (\d+) bytes apart', table)[1])
    for f, _ in facts:
        row = re.search(rf'^ +{f["level"]}  {f["width"]}x{f["height"]} +(\d+) ', table, re.M)
        expect(
            row and int(row[1]) + stride * int(f['layer']) == int(f['at']),
            f'mips: cardless layout has another offset for {f}',
        )


def mapping(found):
    """Steps follow each other downwards; errors and diagnostics are named and coloured."""
    tops = []
    for line, group in found:
        f = parse(line)
        if f['kind'] == 'value':
            expect(
                f'reads {f["reads"]},' in label(group),
                f'mapping: {line} has the label {label(group)}',
            )
            continue
        tops.append(box(group)[1])
        colour = next(group.iter(SVG + 'rect')).get('class')
        expect(f['call'] in label(group), f'mapping: no label {f["call"]}')
        expect(f['diagnostic'] == 'none' or f['diagnostic'] in label(group), f'mapping: {line}')
        expect(
            (f['result'] == 'CUDA_SUCCESS') == (colour != 'bad'), f'mapping: the colour of {line}'
        )
        expect(f['result'] == 'CUDA_SUCCESS' or f['result'] in label(group), f'mapping: {line}')
    expect(tops == sorted(tops), 'mapping: the steps are out of order')


def closure(pairs):
    pairs = set(pairs)
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs


def streams(found, lines):
    """The arrows, followed from one to the next, are all the waiting that was observed."""
    arrows = {(f['command'], f['for']) for f in (parse(line) for line, _ in found)}
    waits = {(f['command'], f['for']) for f in map(parse, lines)}
    expect(
        closure(arrows) == waits,
        f'streams: the arrows say {sorted(closure(arrows) - waits)} too much and '
        f'{sorted(waits - closure(arrows))} too little',
    )
    for arrow in arrows:
        expect(
            arrow not in closure(arrows - {arrow}), f'streams: the arrow {arrow} says nothing new'
        )
    names = {
        t.text for t in ET.parse(os.path.join(FOLDER, 'streams.svg')).getroot().iter(SVG + 'text')
    }
    expect({n for pair in waits for n in pair} <= names, 'streams: a command is not drawn')
    expect(
        'C1' in names and not any('C1' in pair for pair in waits), 'streams: C1 waits for something'
    )


for name, check in (('aliases', aliases), ('gob', gob), ('mips', mips), ('mapping', mapping)):
    lines, found = observed(name), shapes(name)
    same_facts(name, [line for line, _ in found], lines)
    check(found)
    print(f'{name}: {len(lines)} facts')
lines = observed('streams')
streams(shapes('streams'), lines)
print(f'streams: {len(lines)} facts')
print('\n'.join(failures))
sys.exit(bool(failures))
