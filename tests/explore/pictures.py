#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the pictures of orders in the manual are what `cardless explore` prints.

  pictures.py CARDLESS CORPUS ROOT [--write]

A comment before a block names the program of the corpus: <!-- explore: missing_wait -->. With
--write, the blocks are filled in."""
import os
import re
import subprocess
import sys

TOOL, CORPUS, ROOT = sys.argv[1:4]
WRITE = '--write' in sys.argv[4:]
BLOCK = re.compile(r'(<!-- explore: (\w+) -->\n```text\n)(.*?)(^```$)', re.M | re.S)
pictures, stale = {}, []


def picture(name):
    """The rows of the report, without the indentation of all rows."""
    if name not in pictures:
        r = subprocess.run([TOOL, 'explore', '--jobs', '1', '--check', 'off', '--', CORPUS, name,
                            'wrong'], capture_output=True, text=True, timeout=60, check=False)
        rows = re.search(r'^  host .*?(?=^$)', r.stdout, re.M | re.S)
        if r.returncode != 1 or not rows:
            sys.exit(f'{name}: no picture: {r}')
        pictures[name] = re.sub(r'^  | +$', '', rows[0], flags=re.M)
    return pictures[name]


count = 0
for folder, _, files in os.walk(os.path.join(ROOT, 'docs')):
    for page in (os.path.join(folder, f) for f in sorted(files) if f.endswith('.md')):
        with open(page, encoding='utf-8') as f:
            text = f.read()
        new = BLOCK.sub(lambda m: m[1] + picture(m[2]) + m[4], text)
        count += len(BLOCK.findall(text))
        if new == text:
            continue
        if WRITE:
            with open(page, 'w', encoding='utf-8') as f:
                f.write(new)
        else:
            stale.append(os.path.relpath(page, ROOT))
            print(f'{stale[-1]} should have:\n' + '\n'.join(m[2] + '\n' + picture(m[2])
                                                          for m in BLOCK.finditer(text)))
print(f'{count} pictures; pages with other ones: {", ".join(stale) or "no"}')
sys.exit(bool(stale) or not count)
