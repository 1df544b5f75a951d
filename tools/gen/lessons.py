#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills in the pages of docs/learn: code of the lessons' programs, their output, and pictures.

  lessons.py BUILD ROOT --check|--write [N…]

A page names what belongs into its blocks:

    <!-- lesson 1: code map -->       the part of lesson_1.c between // [map] and // [end]
    <!-- lesson 1: output -->         the output of `tools/learn 1`
    <!-- lesson 1: output wrong -->   the same of `tools/learn 1 wrong`
    <!-- lesson 1: step COMMANDS -->  the output of `cardless step --do COMMANDS`

The pictures are drawn from what the tools say of a run (lesson_pictures.py).
"""

import os
import re
import subprocess
import sys
import textwrap

import lesson_pictures

# Addresses of mappings are others if the processor has protection keys.
os.environ['CARDLESS_PKEYS'] = '0'
BUILD, ROOT, MODE = sys.argv[1:4]
NUMBERS = sys.argv[4:]
FOLDER = os.path.join(ROOT, 'docs', 'learn')
BLOCK = re.compile(r'(<!-- lesson (\d): ([^\n]*) -->\n```\w+\n)(.*?)(^```$)', re.M | re.S)
failures = []


def learn(*arguments, **more):
    return subprocess.run(
        [os.path.join(ROOT, 'tools', 'learn'), '--no-build', '--build', BUILD, *arguments],
        capture_output=True, text=True, timeout=60, check=False, **more,
    )  # fmt: skip


def check_command():
    """The forms of the command that no page shows."""
    page = os.path.join(BUILD, 'lesson_1.html')
    runs = {
        'page': learn('1', 'page'),
        'step': learn('1', 'step', input='until cuMemCreate\nquit\n'),
        'no such lesson': learn('10'),
        'no such form': learn('1', 'wronger'),
    }
    codes = [r.returncode for r in runs.values()]
    if codes != [0, 130, 2, 2] or 'cuMemCreate(' not in runs['step'].stdout:
        failures.append(f'tools/learn: {runs}')
    if page not in runs['page'].stdout or not os.path.getsize(page):
        failures.append(f'tools/learn 1 page: no {page}')


def output(number, arguments):
    run = learn(number, *arguments)
    if run.returncode:
        sys.exit(f'lesson {number} {arguments}: {run}')
    lines = (run.stdout + run.stderr).splitlines()
    return ''.join(
        textwrap.fill(line, 100, subsequent_indent='    ', break_long_words=False) + '\n'
        for line in lines
    )


def code(number, part):
    with open(os.path.join(ROOT, 'examples', 'learn', f'lesson_{number}.c'), encoding='utf-8') as f:
        found = re.search(rf'^ *// \[{part}\]\n(.*?)^ *// \[end\]$', f.read(), re.M | re.S)
    if not found:
        sys.exit(f'lesson {number} has no part {part}')
    return textwrap.dedent(found[1])


def content(number, what):
    kind, *rest = what.split()
    if kind == 'code':
        return code(number, *rest)
    if kind == 'output':
        return output(number, rest)
    return lesson_pictures.step(BUILD, number, ' '.join(rest))


def compare(path, old, new, what):
    if old == new:
        return
    if MODE == '--write':
        with open(path, 'w', encoding='utf-8') as f:
            f.write(new)
    else:
        failures.append(f'{os.path.relpath(path, ROOT)}: {what}')


def fill_in(path):
    with open(path, encoding='utf-8') as f:
        old = new = f.read()
    numbers = set()
    if len(BLOCK.findall(old)) != len(re.findall(r'^```\w', old, re.M)):
        failures.append(f'{path}: a block does not say what belongs into it')
    for head, number, what, block, tail in BLOCK.findall(old):
        numbers.add(number)
        now = content(number, what)
        if 'wrong' in what.split() and what.startswith('output'):
            ids = set(re.findall(r'\[([A-Z]\d\d) ', now))
            if not ids or not all(f'#{i.lower()}' in old.lower() or f'[{i}]' in old for i in ids):
                failures.append(f'{path}: diagnostics {ids} have no link')
        new = new.replace(head + block + tail, head + now + tail)
    compare(path, old, new, 'a block is not as the program says')
    return numbers


def main():
    pages = sorted(f for f in os.listdir(FOLDER) if re.match(r'\d-.*\.md$', f))
    for page in pages:
        if NUMBERS and page[0] not in NUMBERS:
            continue
        if page[0] == '9' and not os.path.exists(lesson_pictures.program(BUILD, '9')):
            print(f'{page} is left out: its program needs Vulkan')
            continue
        numbers = fill_in(os.path.join(FOLDER, page))
        if numbers != {page[0]}:
            failures.append(f'{page} has blocks of the lessons {sorted(numbers)}')
        path = os.path.join(FOLDER, 'pictures', page.replace('.md', '.svg'))
        old = ''
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                old = f.read()
        compare(path, old, lesson_pictures.picture(BUILD, page[0]), 'the picture is another one')
    if MODE == '--check':
        check_command()
    print(f'{len(pages)} lessons')
    for failure in failures:
        print(failure)
    sys.exit(bool(failures) or not pages)


main()
