#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No line of the project's sources has more than 100 columns.

usage: columns.py ROOT          fails if a line is longer
       columns.py --self-test   finds the lines that are planted in a folder

Reads every text file but Markdown (a sentence may be one line), drawings, which tools make, and
text files of data (*.txt): recordings, figures, and tables of one entry a line."""
import os
import sys
import tempfile

import tree

LIMIT = 100
LEFT_OUT = ('.md', '.svg', '.txt')


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
        for number, line in enumerate(text.split('\n'), 1):
            columns = len(line.expandtabs(8))
            if columns > LIMIT:
                found.append((name, number, columns))
    return count, found


def self_test():
    planted = {'good.c': 'é' * 100 + '\n', 'long.c': 'a\n' + 'b' * 101 + '\n',
               'tab.py': '\t' + 'c' * 93, 'page.md': 'd' * 200, 'build-x/made.c': 'e' * 200}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, 'build-x'))
        for name, text in planted.items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        with open(os.path.join(folder, 'binary'), 'wb') as f:
            f.write(b'\xff' * 200)
        answer = too_long(folder)
    expected = 3, [('long.c', 2, 101), ('tab.py', 1, 101)]
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
