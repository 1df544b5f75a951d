#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ARCHITECTURE.md states facts: its drawing shows the rooms of rooms.txt, its table has a row for
each of them, and the files, folders and identifiers that it names exist.

usage: architecture.py ROOT          checks the page
       architecture.py --self-test   finds the mistakes of planted pages

The drawing is the page's first code block. Lines connect every room at their upper ends with every
room at their lower ends, which have an arrowhead. There are no other arrowheads, so an edge cannot
point upwards.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'sources'))
import tree  # noqa: E402

UP, DOWN, LEFT, RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
SIDES = {'│': (UP, DOWN), '─': (LEFT, RIGHT), '┌': (DOWN, RIGHT), '┐': (DOWN, LEFT),
         '└': (UP, RIGHT), '┘': (UP, LEFT), '┬': (LEFT, RIGHT, DOWN), '┴': (LEFT, RIGHT, UP),
         '┼': (UP, DOWN, LEFT, RIGHT), '▼': (DOWN, UP)}  # unlike │, by its order
SOURCES = ('.c', '.h', '.def', '.py', '.build')


def rooms_table(text):
    lines = [line.split(':') for line in text.splitlines() if line and not line.startswith('#')]
    return {room: set(direct.split()) for room, direct in lines}


def net(sides, names, start, problems):
    """The rooms at the upper and lower ends of the lines that are connected with `start`, and the
    places of these lines."""
    seen, todo, upper, lower = {start}, [start], set(), set()
    while todo:
        place = todo.pop()
        for step in sides[place]:
            end = place[0] + step[0], place[1] + step[1]
            back = -step[0], -step[1]
            if back in sides.get(end, ()):
                todo += [end] * (end not in seen)
                seen.add(end)
            elif end in names and step == UP:
                upper.add(names[end])
            elif end in names and step == DOWN and sides[place] == SIDES['▼']:
                lower.add(names[end])
            else:
                problems.append(f'line {place[0] + 1} of the drawing has a loose end')
    return upper, lower, seen


def drawing_edges(drawing):
    """({(room, room below)}, all rooms, [problems])"""
    sides, names, problems, edges, done = {}, {}, [], set(), set()
    lines = drawing.split('\n')
    for row, line in enumerate(lines):
        sides.update({(row, i): SIDES[c] for i, c in enumerate(line) if c in SIDES})
        for m in re.finditer(r'[a-z][a-z-]*', line):
            names.update({(row, i): m[0] for i in range(*m.span())})
        problems += [f'{c} in line {row + 1} of the drawing' for c in line if c in '▲▶◀↑→←↓']
    for start in sides:
        if start not in done:
            upper, lower, seen = net(sides, names, start, problems)
            done |= seen
            edges |= {(a, b) for a in upper for b in lower}
    return edges, set(names.values()), problems


def check_rooms(page, table):
    drawing = re.search(r'^```\n(.*?)^```', page, re.M | re.S)
    if not drawing:
        return ['there is no drawing']
    edges, drawn, problems = drawing_edges(drawing[1])
    wanted = {(room, below) for room, direct in table.items() for below in direct}
    problems += [f'the drawing lacks {a} -> {b}' for a, b in sorted(wanted - edges)]
    problems += [f'the drawing has {a} -> {b}, rooms.txt has not'
                 for a, b in sorted(edges - wanted)]
    rows = set(re.findall(r'\| `([a-z-]+)` \|$', page, re.M))
    problems += [f'{room} is not drawn' for room in sorted(set(table) - drawn)]
    problems += [f'{room} has no row in the table' for room in sorted(set(table) - rows)]
    return problems + [f'{room} is not a room' for room in sorted((drawn | rows) - set(table))]


def check_names(page, files, text):
    """Paths and identifiers in backticks."""
    problems = []
    for code in re.findall(r'`([^`\n]+)`', re.sub(r'^```.*?^```', '', page, flags=re.M | re.S)):
        if re.fullmatch(r'[\w./-]+/', code):
            found = any('/' + code in '/' + f for f in files)
        elif re.fullmatch(r'[\w./-]+\.(c|h|py|def|txt|md|build)', code):
            found = any(('/' + f).endswith('/' + code) for f in files)
        elif re.fullmatch(r'(em|dm|kn|api|cardless)_\w+(\(.*\))?', code):
            found = re.search(r'\b' + code.partition('(')[0], text)
        else:
            continue
        problems += [] if found else [f'there is no {code}']
    return problems


def self_test():
    table = {'low': set(), 'left': {'low'}, 'right': {'low'}}
    rows = ''.join(f'| a line | `{room}` |\n' for room in table)
    good = '```\nleft right\n │    │\n └─┬──┘\n   ▼\n  low\n```\n' + rows
    planted = {
        good: [],
        good.replace('└─┬', ' ┌┬'): ['line 2 of the drawing has a loose end',
                                     'line 3 of the drawing has a loose end',
                                     'the drawing lacks left -> low'],
        good.replace('▼', '│'): ['line 4 of the drawing has a loose end',
                                 'the drawing lacks left -> low', 'the drawing lacks right -> low'],
        good.replace('| a line | `left` |\n', ''): ['left has no row in the table'],
    }
    for page, expected in planted.items():
        found = check_rooms(page, table)
        if sorted(found) != sorted(expected):
            sys.exit(f'{page}\nfound {found} instead of {expected}')
    found = check_names('`a.c` `b.c` `core/` `cores/` `em_one()` `em_two`', ['x/core/a.c'],
                        'em_one(')
    if found != ['there is no b.c', 'there is no cores/', 'there is no em_two']:
        sys.exit(f'found {found}')


def main(argument):
    if argument == '--self-test':
        self_test()
        return
    with open(os.path.join(argument, 'ARCHITECTURE.md'), encoding='utf-8') as f:
        page = f.read()
    with open(os.path.join(argument, 'tests/sources/rooms.txt'), encoding='utf-8') as f:
        table = rooms_table(f.read())
    files, text = tree.files(argument), []
    for name in files:
        if name.endswith(SOURCES):
            with open(os.path.join(argument, name), encoding='utf-8', errors='replace') as f:
                text.append(f.read())
    problems = check_rooms(page, table) + check_names(page, files, '\n'.join(text))
    print('\n'.join(problems) or f'ARCHITECTURE.md: {len(table)} rooms')
    sys.exit(bool(problems))


main(sys.argv[1])
