#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks docs/pictures/latency.svg against docs/measured/latency.txt.

Each row of the picture carries the times that it shows. They must be those of the measurement, each
once; the dots must stand where these times are on one scale of powers of ten, and the text at the
right must be their ratio. With --self-test, pictures with a mistake must be found.

  latency_chart.py ROOT [--self-test]
"""

import math
import os
import re
import sys
import xml.etree.ElementTree as ET

SVG = '{http://www.w3.org/2000/svg}'


def measured(text):
    """{name: (ours, the card's)} of the rows with both times."""
    row = re.compile(r'^([^#\s].*?)\s{2,}(\d+)\s+(\d+)\s*$', re.M)
    return {name: (int(ours), int(card)) for name, ours, card in row.findall(text)}


def numbers(text):
    """The ratio that a text names; below 1 if Cardless is slower."""
    value = float(re.match(r'[\d.e+]+', text)[0])
    return 1 / value if 'slower' in text else value


def mistakes(picture, rows):
    found, drawn, dots = [], {}, []
    for group in ET.fromstring(picture).iter(SVG + 'g'):
        fact = re.fullmatch(r'(.*): (\d+) (\d+)', group.get('data-fact') or '')
        if not fact:
            continue
        name, ours, card = fact[1], int(fact[2]), int(fact[3])
        texts = [t.text for t in group.iter(SVG + 'text')]
        if name in drawn:
            found.append(f'{name} is drawn twice')
        drawn[name] = ours, card
        if texts[0] != name:
            found.append(f'{name} has the label {texts[0]}')
        if abs(numbers(texts[1]) / (card / ours) - 1) > 0.06:
            found.append(f'{name}: {texts[1]}, but the ratio is {card / ours}')
        by_colour = {r.get('class'): float(r.get('x')) for r in group.iter(SVG + 'rect')}
        own = 'bad' if ours > card else 'a'
        if set(by_colour) != {own, 'b'}:
            found.append(f'{name} has dots of the colours {sorted(by_colour)}')
            continue
        dots += [(name, by_colour[own], ours), (name, by_colour['b'], card)]
    if drawn != rows:
        found.append(
            f'drawn {sorted(set(drawn.items()) - set(rows.items()))}, but measured '
            f'{sorted(set(rows.items()) - set(drawn.items()))}'
        )
    if not dots:
        return found + ['the picture has no dots']
    (_, x0, t0), (_, x1, t1) = min(dots, key=lambda p: p[2]), max(dots, key=lambda p: p[2])
    scale = (x1 - x0) / math.log(t1 / t0)
    for name, x, ns in dots:
        if abs(x0 + scale * math.log(ns / t0) - x) > 0.6:
            found.append(f'{name}: {ns} ns is drawn at {x}')
    return found


def self_test(picture, rows):
    """Whether each of some mistakes is found."""
    name = next(iter(rows))
    planted = [
        (picture, {**rows, 'a call that is not drawn': (1, 2)}),
        (picture, {**rows, name: (rows[name][0] + 1, rows[name][1])}),
        (re.sub(r'(<rect x=")([\d.]+)(" y="[\d.]+" [^>]*class="b"/>)(?=\n<rect)', r'\g<1>333\3',
                picture, count=1), rows),
        (re.sub(r'>[\d.]+ x<', '>999999999 x<', picture, count=1), rows),
    ]
    return all(mistakes(*case) for case in planted) and planted[2][0] != picture


def main(root, *options):
    def read(*path):
        with open(os.path.join(root, 'docs', *path), encoding='utf-8') as f:
            return f.read()

    picture, rows = read('pictures', 'latency.svg'), measured(read('measured', 'latency.txt'))
    if options == ('--self-test',):
        return not self_test(picture, rows)
    found = mistakes(picture, rows)
    print('\n'.join(found))
    return bool(found)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
