#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the calls of docs/measured/latency.txt that a card's driver was measured with, too: a dot
for each on a scale of powers of ten, those that gain most first.

latency_chart.py DATA FILE.svg
"""

import math
import sys

from drawing import Drawing
from latency_page import read

ROW, LEFT, DECADE, TOP, RIGHT = 19, 330, 46, 74, 92
DOT = 9  # the side of a dot
UNITS = ('ns', 'µs', 'ms', 's')


def position(ns):
    """The x coordinate of a time."""
    return LEFT + DECADE * math.log10(ns)


def compared(rows):
    """(name, ours, the card's) of the rows that have both times, the largest gain first."""
    both = [(name, ours, float(card)) for name, (card, ours) in rows.items()
            if card and card != '-']
    return sorted(both, key=lambda row: row[1] / row[2])


def factor(ours, card):
    """The gain in words: times as fast, or times as slow."""
    gain = card / ours
    if gain < 1:
        return f'{1 / gain:.3g} x slower'
    return f'{gain:.0f} x' if gain >= 10 else f'{gain:.1f} x'


def draw(processor, rows):
    both = compared(rows)
    last = math.ceil(math.log10(max(max(row[1:]) for row in both)))
    width, bottom = LEFT + DECADE * last + RIGHT, TOP + ROW * len(both)
    d = Drawing(
        width,
        bottom + 12,
        'How long calls take',
        'The time of driver calls on Cardless, and of the same calls with the driver of a card.',
    )
    d.text(10, 20, 'How long calls take', 'head')
    d.rect(LEFT, 11, DOT, DOT, 'a', DOT // 2)
    d.text(LEFT + 16, 20, 'Cardless')
    d.rect(LEFT + 100, 11, DOT, DOT, 'b', DOT // 2)
    d.text(LEFT + 116, 20, "a card's driver, on its machine (H100; five rows: H200)")
    d.text(10, 38, f'Cardless on {processor}', 'pale small')
    for i, unit in enumerate(UNITS):
        x = position(1000**i)
        d.path([(x, TOP - 8), (x, bottom)], 'line dash')
        d.text(x, TOP - 14, f'1 {unit}', 'middle small pale')
    for i, (name, ours, card) in enumerate(both):
        y = TOP + ROW * i + ROW / 2
        with d.fact(f'{name}: {ours:.0f} {card:.0f}'):
            d.text(LEFT - 12, y + 4, name, 'end small')
            d.path([(position(ours), y), (position(card), y)])
            for ns, colour in ((card, 'b'), (ours, 'a' if ours <= card else 'bad')):
                d.rect(position(ns) - DOT / 2, y - DOT / 2, DOT, DOT, colour, DOT // 2)
            d.text(width - RIGHT + 10, y + 4, factor(ours, card), 'small')
    return d.svg()


if __name__ == '__main__':
    with open(sys.argv[2], 'w', encoding='utf-8') as out_file:
        out_file.write(draw(*read(sys.argv[1])))
