#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No line of the project's sources has more than 100 columns.

usage: columns.py ROOT          fails if a line is longer
       columns.py --self-test   finds the lines that are planted in a folder

Reads every text file but drawings, which tools make, and text files of data (*.txt): recordings,
figures, and tables of one entry a line. In Markdown, only prose that could be broken counts:
tables, code, headings, and lines without a space before the limit (a long link) may be longer."""
import os
import re
import sys
import tempfile

import tree

LIMIT = 100
LEFT_OUT = ('.svg', '.txt')
LIST_ITEM = re.compile(r'\s*([-*+]|\d+[.)])\s+')


def prose(lines):
    """The numbers, from 1, of a Markdown page's lines that are paragraphs or items of lists."""
    fenced = in_list = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
        elif line.strip() and not fenced:
            if not line.startswith(' '):
                in_list = bool(LIST_ITEM.match(line))
            code = line.startswith('    ') and not in_list
            if not code and not re.match(r'\s*(\||#|<|!\[|\[[^]]*\]:)', line):
                yield number


def can_break(line):
    """Whether a line of prose has a space before the limit, outside code spans and links."""
    text = re.sub(r'`[^`]*`|\[[^]]*\]\([^)]*\)', lambda m: 'x' * len(m[0]), line)
    start = LIST_ITEM.match(text)
    return ' ' in text[:LIMIT + 1].rstrip()[start.end() if start else 0:].lstrip()


def too_long(root):
    """(number of files that were read, [(file, line number, columns)])"""
    count, found = 0, []
    for name in tree.files(root):
        if name.endswith(LEFT_OUT):
            continue
        with open(os.path.join(root, name), 'rb') as f:
            data = f.read()
        try:
            text = data.decode('utf-8')
        except UnicodeDecodeError:
            continue  # not a text file
        count += 1
        lines = text.split('\n')
        numbers = prose(lines) if name.endswith('.md') else range(1, len(lines) + 1)
        for number in numbers:
            line = lines[number - 1]
            columns = len(line.expandtabs(8))
            if columns > LIMIT and (not name.endswith('.md') or can_break(line)):
                found.append((name, number, columns))
    return count, found


def self_test():
    words, link = 'word ' * 30 + '.', f'[a text](http://{"d" * 200})'
    planted = {'good.c': 'é' * 100 + '\n', 'long.c': 'a\n' + 'b' * 101 + '\n',
               'tab.py': '\t' + 'c' * 93, 'build-x/made.c': 'e' * 200,
               'good.md': f'# {words}\n\n| {words} |\n\n```\n{words}\n```\n\n    {words}\n\n'
                          f'{link}\n- {link}\n  `{words}`\n',
               'long.md': f'short\n{words}\n\n- {words}\n\n    {words}\na {link}\n'}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, 'build-x'))
        for name, text in planted.items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        with open(os.path.join(folder, 'binary'), 'wb') as f:
            f.write(b'\xff' * 200)
        answer = too_long(folder)
    expected = 5, [('long.c', 2, 101), ('long.md', 2, 151), ('long.md', 4, 153),
                   ('long.md', 6, 155), ('long.md', 7, 219), ('tab.py', 1, 101)]
    if answer != expected:
        sys.exit(f'found {answer} instead of {expected}')


def main(arguments):
    if arguments == ['--self-test']:
        self_test()
        return
    count, found = too_long(arguments[0])
    for name, number, columns in found:
        print(f'{name}:{number}: {columns} columns; the limit is {LIMIT}')
    print(f'{count} files, {len(found)} lines are too long')
    sys.exit(bool(found) or count < 500)


main(sys.argv[1:])
