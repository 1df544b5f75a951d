#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the drawings of warps in the manual are what `cardless step` prints.

  steps.py CARDLESS FOLDER ROOT [--write]

A comment before a block has the command: <!-- step: warps --kernel odd --lines 17-24 -->. The
program is one of FOLDER. A line with an ellipsis alone stands for any number of lines. With
--write, blocks without such a line are filled in."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

TOOL, FOLDER, ROOT = sys.argv[1:4]
WRITE = '--write' in sys.argv[4:]
BLOCK = re.compile(r'(<!-- step: (\w+) ([^\n]*) -->\n```text\n)(.*?)(^```$)', re.M | re.S)
ANY = '…\n'


def drawing(program, arguments):
    with tempfile.NamedTemporaryFile('r', encoding='utf-8') as out:
        r = subprocess.run([TOOL, 'step', *shlex.split(arguments), '--output', out.name, '--',
                            os.path.join(FOLDER, program)], capture_output=True, text=True,
                           timeout=60, check=False)
        if r.returncode:
            sys.exit(f'{program} {arguments}: {r}')
        return re.sub(r' +$', '', out.read(), flags=re.M)


def agrees(block, drawn):
    parts = (re.escape(part) for part in re.split('^' + ANY, block, flags=re.M))
    return re.fullmatch('(.*\n)*?'.join(parts), drawn) is not None


count = 0
stale = []
for folder, _, files in os.walk(os.path.join(ROOT, 'docs')):
    for page in (os.path.join(folder, f) for f in sorted(files) if f.endswith('.md')):
        with open(page, encoding='utf-8') as f:
            text = f.read()
        new = text
        for head, program, arguments, block, tail in BLOCK.findall(text):
            drawn = drawing(program, arguments)
            count += 1
            if agrees(block, drawn):
                continue
            if WRITE and ANY not in block:
                new = new.replace(head + block + tail, head + drawn + tail)
                continue
            stale.append(os.path.relpath(page, ROOT))
            print(f'{stale[-1]}: {program} {arguments} should be\n{drawn}')
        if new != text:
            with open(page, 'w', encoding='utf-8') as f:
                f.write(new)
print(f'{count} drawings; pages with other ones: {", ".join(stale) or "no"}')
sys.exit(bool(stale) or not count)
