# SPDX-License-Identifier: MIT
"""Pictures of the lessons, drawn from the output of `cardless step`, `trace` and `layout`."""

import os
import re
import subprocess

from drawing import Drawing

MEMORY = re.compile(
    r'memory (?P<number>\d+), (?P<name>.*?): (?P<size>\d+) (?P<unit>MiB|bytes)'
    r'(?P<address> at 0x[0-9a-f]+)?(?: without an address)?'
    r'(?:; the bytes of memory (?P<of>\d+)(?: from (?P<offset>\d+) on)?)?'
    r'(?:; overlaps (?P<overlaps>.*))?$'
)
WIDTH = 780


def tool(build):
    return os.path.join(build, 'tools', 'cardless', 'cardless')


def program(build, number):
    return os.path.join(build, 'examples', 'learn', 'lesson_' + number)


def step(build, number, commands):
    out = subprocess.run([tool(build), 'step', '--do', commands, '--', program(build, number)],
                         capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    return out.stdout


def size_text(size):
    return f'{size >> 20} MiB' if size % (1 << 20) == 0 else f'{size} bytes'


def memory_map(build, number, until, title):
    """Imports at the bottom, and above each the ranges of addresses that show parts of it."""
    text = step(build, number, f'until {until}; map; c')
    lines = re.findall(r'^ {4}(memory .*)$', text, re.M)
    rows = [(line, MEMORY.match(line)) for line in lines]
    sizes, bases, shown = {}, [], []
    for line, m in rows:
        size = int(m['size']) << (20 if m['unit'] == 'MiB' else 0)
        sizes[m['number']] = size
        (shown if m['address'] else bases).append((line, m, size))
    left, across = 150, WIDTH - 170
    longest = max(sizes.values())
    bottom = 44 + 62 * len(shown)
    height = bottom + 60 * len(bases)
    d = Drawing(WIDTH, height, title, 'Ranges of addresses, and the memory that they show.')
    d.text(10, 22, title, 'head')
    y = 44
    for line, m, size in shown:
        x = left + int(m['offset'] or 0) * across / longest
        width = size * across / longest
        with d.fact(re.sub(' at 0x[0-9a-f]+', '', line)):
            d.text(10, y + 18, f'memory {m["number"]}', 'code')
            d.text(10, y + 34, 'addresses', 'pale small')
            d.rect(x, y, width, 40, 'abcd'[int(m['number']) % 4], 0)
            d.text(x + 8, y + 17, size_text(size), 'small')
            d.text(x + 8, y + 33, f'from byte {m["offset"] or 0} on', 'small')
        d.path([(x, y + 40), (x, bottom)], 'line dash')
        d.path([(x + width, y + 40), (x + width, bottom)], 'line dash')
        y += 62
    for line, m, size in bases:
        with d.fact(line):
            d.text(10, y + 22, f'memory {m["number"]}', 'code')
            d.text(10, y + 38, 'the bytes', 'pale small')
            d.rect(left, y, size * across / longest, 46, 'gap', 0)
            d.text(left + 8, y + 28, f'{m["name"]}, {size_text(size)}', 'small')
        y += 60
    return d


PICTURES = {
    '1': (memory_map, 'cuMemsetD8', 'One import, and a range of addresses that shows it'),
    '2': (memory_map, 'cuMemsetD8', 'Two buffers in one import, and a mapping of both'),
    '5': (memory_map, 'cuMemsetD8', 'Two mappings that share half of their bytes'),
}


def picture(build, number):
    draw, *arguments = PICTURES[number]
    return draw(build, number, *arguments).svg()
