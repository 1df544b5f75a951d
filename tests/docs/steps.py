#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the drawings of warps in the manual with the output of `cardless step`.

  steps.py CARDLESS ROOT PROGRAM… [--write]

A comment before a block has the name of a program and the options: <!-- step: warps --kernel loop
-->. With --write, the blocks are filled in."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

# Addresses of mappings are others if the processor has protection keys.
os.environ['CARDLESS_PKEYS'] = '0'
TOOL, ROOT = sys.argv[1:3]
WRITE = '--write' in sys.argv[3:]
PROGRAMS = {os.path.basename(path): path for path in sys.argv[3:]}
BLOCK = re.compile(r'(<!-- step: (\w+) ([^\n]*) -->\n```text\n)(.*?)(^```$)', re.M | re.S)


def drawing(program, arguments):
    with tempfile.NamedTemporaryFile('r', encoding='utf-8') as out:
        r = subprocess.run([TOOL, 'step', *shlex.split(arguments), '--output', out.name, '--',
                            PROGRAMS[program]], capture_output=True, text=True, timeout=60,
                           check=False)
        if r.returncode:
            sys.exit(f'{program} {arguments}: {r}')
        return re.sub(r' +$', '', out.read(), flags=re.M)


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
            if block == drawn:
                continue
            if WRITE:
                new = new.replace(head + block + tail, head + drawn + tail)
                continue
            stale.append(os.path.relpath(page, ROOT))
            print(f'{stale[-1]}: {program} {arguments} should be\n{drawn}')
        if new != text:
            with open(page, 'w', encoding='utf-8') as f:
                f.write(new)
print(f'{count} drawings; pages with other ones: {", ".join(stale) or "no"}')
sys.exit(bool(stale) or not count)
