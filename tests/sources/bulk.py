#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes in bulk are moved by kernels/ alone: no room above it copies or fills memory of run-time size in another way.

usage: bulk.py ROOT ALLOWED
Reports each call of memcpy and its like whose size is not a constant, and each loop that copies element by element, unless ALLOWED names
it: one a line, `file | text on that line | why`. A line of ALLOWED that matches nothing is reported too."""
import re
import sys
from pathlib import Path

ROOMS = ('api', 'emulator', 'device-model')
CALL = re.compile(r'\b(?:__builtin_)?(memcpy|memmove|memset|mempcpy|memccpy|wmemcpy|wmemset|bcopy|bzero|explicit_bzero)\s*\(')
LOOPS = (re.compile(r'\*\w+\+\+ = \*\w+\+\+'), re.compile(r'\[(\w+)\] = [\w>.()*& -]+\[\1\];'))
TERM = r'(?:sizeof\s*(?:\([^()]*\)|[\w\s*.>\[\]-]+)|offsetof\([^()]*\)|\d+[uUlL]*)'
CONSTANT = re.compile(rf'^{TERM}(?:\s*[-+*]\s*{TERM})*$')


def arguments(text, start):
    """The arguments of the call whose parenthesis opens right before `start`."""
    depth, parts, last = 0, [], start
    for i in range(start, len(text)):
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            if depth == 0:
                return parts + [text[last:i].strip()]
            depth -= 1
        elif text[i] == ',' and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    return parts


def without_comments(text):
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)
    return re.sub(r'//[^\n]*', '', text)


def findings(text):
    """(line number, line, what) of each place that moves bytes itself."""
    lines = text.split('\n')
    for call in CALL.finditer(text):
        size = arguments(text, call.end())[-1:]
        if not size or not CONSTANT.match(' '.join(size[0].split())):
            number = text.count('\n', 0, call.start())
            yield number + 1, lines[number].strip(), f'{call.group(1)} of {size[0] if size else "?"} bytes'
    for number, line in enumerate(lines):
        if any(loop.search(line) for loop in LOOPS):
            yield number + 1, line.strip(), 'copies element by element'


def main():
    root, allowed_path = Path(sys.argv[1]), Path(sys.argv[2])
    allowed = []
    for line in allowed_path.read_text().split('\n'):
        if line.strip() and not line.startswith('#'):
            name, text, why = (part.strip() for part in line.split(' | '))
            assert why, line
            allowed.append((name, text))
    unused, wrong = set(allowed), 0
    for room in ROOMS:
        for path in sorted((root / room).rglob('*.[ch]')):
            name = path.relative_to(root).as_posix()
            for number, line, what in findings(without_comments(path.read_text())):
                reasons = {(n, t) for n, t in allowed if n == name and t in line}
                unused -= reasons
                if not reasons:
                    print(f'{name}:{number}: {what}: {line}')
                    wrong += 1
    for name, text in sorted(unused):
        print(f'{allowed_path.name}: nothing in {name} matches "{text}" any more')
    if wrong:
        print(f'{wrong} places move bytes themselves: use dm_box_copy, dm_box_fill or kn_copy, or say in {allowed_path.name} why not')
    return 1 if wrong or unused else 0


sys.exit(main())
