#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the pictures of orders in the manual are what `cardless explore` prints.

  pictures.py CARDLESS CORPUS ROOT [--write]

A comment before a block names the program of the corpus: <!-- explore: missing_wait -->, or
<!-- explore report: missing_wait --> for the whole report. With --write, the blocks are filled
in."""
import os
import re
import subprocess
import sys

TOOL, CORPUS, ROOT = sys.argv[1:4]
WRITE = '--write' in sys.argv[4:]
BLOCK = re.compile(r'(<!-- explore( report)?: (\w+) -->\n```text\n)(.*?)(^```$)', re.M | re.S)
reports, stale = {}, []


def report(name):
    if name not in reports:
        r = subprocess.run([TOOL, 'explore', '--jobs', '1', '--check', 'off', '--', CORPUS, name,
                            'wrong'], capture_output=True, text=True, timeout=60, check=False)
        if r.returncode != 1:
            sys.exit(f'{name}: no report: {r}')
        reports[name] = re.sub(r' +$', '', r.stdout.replace(f'{CORPUS} {name} wrong', './test'),
                               flags=re.M)
    return reports[name]


def picture(name, whole):
    """The report, or its rows without the indentation of all of them."""
    if whole:
        return report(name)
    rows = re.search(r'^  host .*?(?=^$)', report(name), re.M | re.S)
    return re.sub(r'^  ', '', rows[0], flags=re.M)


count = 0
for folder, _, files in os.walk(os.path.join(ROOT, 'docs')):
    for page in (os.path.join(folder, f) for f in sorted(files) if f.endswith('.md')):
        with open(page, encoding='utf-8') as f:
            text = f.read()
        new = BLOCK.sub(lambda m: m[1] + picture(m[3], m[2]) + m[5], text)
        count += len(BLOCK.findall(text))
        if new == text:
            continue
        if WRITE:
            with open(page, 'w', encoding='utf-8') as f:
                f.write(new)
        else:
            stale.append(os.path.relpath(page, ROOT))
            print(f'{stale[-1]} should have:\n' + '\n'.join(m[3] + '\n' + picture(m[3], m[2])
                                                          for m in BLOCK.finditer(text)))
print(f'{count} pictures; pages with other ones: {", ".join(stale) or "no"}')
sys.exit(bool(stale) or not count)
