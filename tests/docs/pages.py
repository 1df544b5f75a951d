#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the generated pages, except that of conformance (tests/silicon compares the same lines),
and checks that each row of their tables is on them.

  pages.py ROOT OUT
"""

import os
import re
import subprocess
import sys

ROOT, OUT = sys.argv[1:3]
failures = []


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def expect(rows, found, page):
    """Every row is on the page; a table without rows is a mistake of this test."""
    missing = sorted(set(rows) - set(found))
    if not rows:
        failures.append(f'{page}: the table has no rows')
    if missing:
        failures.append(f'{page}: not on the page: {", ".join(missing)}')
    print(f'{page}: {len(set(rows))} rows')


def coverage():
    # Rows marked "declared" are in the headers only: the driver does not export them.
    table = re.findall(
        r'^(?!declared)\w+ *\| (cu\w+) *\|', read(ROOT, 'api/table/driver.def'), re.M
    )
    expect(table, re.findall(r'^- `(cu\w+)`', read(OUT, 'coverage.md'), re.M), 'coverage.md')
    table = re.findall(
        r'^\w+ *\| [\w *]*?(\w+) *\|', read(ROOT, 'runtime/table/runtime.def'), re.M
    )
    page = read(OUT, 'runtime-coverage.md')
    expect(table, re.findall(r'^- `(\w+)`', page, re.M), 'runtime-coverage.md')


def diagnostics():
    """Each id has its section, and in it a wrong and a right snippet that are not empty."""
    ids = re.findall(
        r'^EM_DIAGNOSTIC\(\s*([A-Z]\d\d)\b', read(ROOT, 'emulator/core/diagnostics.def'), re.M
    )
    page = read(OUT, 'diagnostics.md')
    sections = dict(re.findall(r'^### ([A-Z]\d\d)\n(.*?)(?=^##)', page, re.M | re.S))
    expect(ids, sections, 'diagnostics.md')
    for name, text in sections.items():
        snippets = re.findall(
            r'^(Wrong|Right) \(`\w+` in `[\w/.]+`\):\n\n```c\n(.+?)\n```', text, re.M | re.S
        )
        if [kind for kind, _ in snippets] != ['Wrong', 'Right'] and name != 'M03':
            failures.append(f'diagnostics.md: {name} lacks a wrong or a right snippet')
        for kind, code in snippets:
            if 'EXPECT' in code or 'MUST(' in code:
                failures.append(
                    f'diagnostics.md: {name} {kind.lower()} shows a macro of the tests: {code}'
                )
    claimed = int(re.search(r'(\d+) mistakes with ids', read(ROOT, 'README.md'))[1])
    if claimed != len(ids) - 1:  # M03 is never reported
        failures.append(f'README.md: {claimed} mistakes, but the table has {len(ids) - 1}')
    linked = re.findall(r'^\| \[([A-Z]\d\d)\]\(#([a-z]\d\d)\)', page, re.M)
    expect(
        ids,
        [name for name, anchor in linked if anchor == name.lower()],
        'diagnostics.md, its index',
    )


def disagreements():
    names = re.findall(
        r'\bEM_QUIRK\(\s*(\w+)', re.sub(r'//.*', '', read(ROOT, 'emulator/core/quirks.def'))
    )
    expect(
        names, re.findall(r'\| (\w+) \|$', read(OUT, 'disagreements.md'), re.M), 'disagreements.md'
    )


def instructions():
    """Each opcode of the table. A row may go on in the next line."""
    table = read(ROOT, 'ptx/instructions.def').replace('\\\n', ' ')
    rows = re.findall(r'^(?!#|type |let |chapter )(\S+) +\| ', table, re.M)
    found = re.findall(r'^\| `(\S+)` \|', read(OUT, 'ptx-coverage.md'), re.M)
    expect(rows, found, 'ptx-coverage.md')


def measured():
    lines = [x for x in read(ROOT, 'docs/measured/latency.txt').splitlines() if x and x[0] != '#']
    rows = [re.split(r'\s{2,}', line)[0] for line in lines]
    expect(rows, re.findall(r'^\| (\S.*?) \|', read(OUT, 'latency.md'), re.M), 'latency.md')
    rows = re.findall(r'^\w+ +.*?\S +[\d.]+ GB/s', read(ROOT, 'docs/measured/kernels.txt'), re.M)
    bars = read(OUT, 'kernels.svg').count('<rect x=')
    if not rows or bars != len(rows):
        failures.append(f'kernels.svg: {bars} bars for {len(rows)} rows')
    print(f'kernels.svg: {len(rows)} rows')


subprocess.run(
    [sys.executable, os.path.join(ROOT, 'tools', 'docs'), '--out', OUT, '--quick'], check=True
)
for check in (coverage, diagnostics, disagreements, instructions, measured):
    check()
print('\n'.join(failures))
sys.exit(bool(failures))
