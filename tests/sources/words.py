#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts words that show how the English of comments and documents reads.

usage: words.py FOLDER [PART...]      fails if the project in FOLDER, or parts of it (paths), is
                                      beyond a limit of words.txt, and names the worst files
       words.py --count FOLDER        prints the figures of any project in C
       words.py --self-test           finds the words that are planted in a folder

A line of words.txt has a word (or several), the figure of libuv per 1,000 words of comment, and the
side of it on which ours must stay: at most twice the figure, or at least half of it. Documents keep
the upper limits only, because reference pages of tables and lists need few conditions.

Quotations do not count, because most are the manual's. Neither do identifiers, words in capitals
(CU_MEM_NONE), and code in documents or between backquotes."""
import argparse
import collections
import os
import re
import sys
import tempfile

import tree

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'words.txt')
# Programs that are kept exactly as they were when a card answered them.
LEFT_OUT = ('tests/silicon/probes/',)
MARKDOWN_CODE = re.compile(r'^```.*?^```|^ {4}.*?$|`[^`]*`|^\|.*?$|\]\([^)]*\)|<[^>]*>',
                           re.M | re.S)
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.S)
QUOTATION = re.compile(r'"[^"]*"|`[^`\n]*`')
WORD = re.compile(r"(?<![\w/.-])[A-Za-z][a-z']*(?![\w])")
WORST_FILES = 5


def comments_of(text):
    """The text of all comments of C but licences; strings and character constants are skipped."""
    found = (match.group() for match in TOKEN.finditer(text))
    return '\n'.join(c for c in found if c.startswith(('//', '/*')) and 'Copyright' not in c)


def document_of(text):
    return MARKDOWN_CODE.sub(' ', text)


KINDS = (('comments', ('.c', '.h', '.def'), comments_of), ('documents', ('.md',), document_of))


def count(text):
    return collections.Counter(w.lower() for w in WORD.findall(QUOTATION.sub(' ', text)))


def count_files(folder, parts, endings, prose_of):
    """{file: Counter of its words}"""
    counts = {}
    for name in tree.files(folder):
        if name.endswith(endings) and name.startswith(parts) and not name.startswith(LEFT_OUT):
            with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as f:
                counts[name] = count(prose_of(f.read()))
    return counts


def read_table():
    with open(TABLE, encoding='utf-8') as f:
        for line in f:
            line = line.partition('#')[0].strip()
            if line:
                names, figure, side = (field.strip() for field in line.split('|'))
                yield names.split(), float(figure), side


def worst(counts, names):
    """The files with most of these words, as a text."""
    figures = {file: sum(words[n] for n in names) for file, words in counts.items()}
    most = sorted(figures, key=lambda file: (-figures[file], file))[:WORST_FILES]
    return ', '.join(f'{file} ({figures[file]})' for file in most if figures[file])


def check(folder, parts, only_count=False):
    """Prints the figures. Returns the sentences about those that are beyond their limits."""
    bad = []
    for kind, endings, prose_of in KINDS:
        counts = count_files(folder, parts, endings, prose_of)
        total = sum(sum(words.values()) for words in counts.values())
        print(f'{kind}: {total} words')
        for names, figure, side in read_table():
            uses = sum(words[n] for words in counts.values() for n in names)
            ours = 1000 * uses / total if total else 0
            limit = 2 * figure if side == 'most' else figure / 2
            label = ' '.join(names)
            print(f'  {label:32} {ours:6.2f}'
                  + ('' if only_count else f'  at {side} {limit:.2f}'))
            if side == 'most' and ours > limit:
                bad.append(f'{kind}: {label}: {ours:.2f} per 1,000 words; at most {limit:.2f}. '
                           f'Rewrite sentences of {worst(counts, names)}')
            if side == 'least' and ours < limit and kind == 'comments':
                bad.append(f'{kind}: {label}: {ours:.2f} per 1,000 words; at least {limit:.2f}')
    return bad


GOOD = ('// If the copy fails, the stream should stay as it was, because the caller tries again.\n'
        '// "what none told" is a quotation, `none` a value; CU_NONE and behind_it are names.\n')


def self_test():
    planted = {
        'good.c': GOOD + 'const char *text = "none, none // none";\n',
        'bad.h': '/* What is behind it tells what was told where none is. */\n' + GOOD,
        'bad.md': 'Where there is none, none is told.\n\n```\nif none\n```\n\n| none | none |\n',
        'build-x/made.c': '// none none\n',
    }
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, 'build-x'))
        for name, text in planted.items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        good = check(folder, ('good.c',))
        bad = check(folder, ('',))
    expected = ['comments: what: .*bad.h .2.$', 'comments: where: .*bad.h .1.$',
                'comments: none: .*bad.h .1.$', 'comments: behind told tells: .*bad.h .3.$',
                'documents: where: .*bad.md .1.$', 'documents: none: .*bad.md .2.$',
                'documents: behind told tells: .*bad.md .1.$']
    if good or len(bad) != len(expected) or not all(map(re.match, expected, bad)):
        sys.exit(f'found {good} and {bad}')


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--count', action='store_true')
    p.add_argument('--self-test', action='store_true')
    p.add_argument('folder', nargs='?', default='.')
    p.add_argument('parts', nargs='*', default=[''])
    a = p.parse_args()
    if a.self_test:
        self_test()
        return
    bad = check(a.folder, tuple(a.parts), a.count)
    if bad and not a.count:
        sys.exit('\n'.join(bad))


main()
