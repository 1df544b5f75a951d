#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles and runs the C programs of the manual.

A comment before each C block says what the program does when it runs, and this test checks it:

    <!-- first.c: exits 0, prints "0x5a" and reports "cuMemFree_v2" -->

`prints` is a text on standard output, `reports` one on standard error; without `reports` the
program must leave standard error empty. A C block without such a comment is a failure.

  snippets.py ROOT CARDLESS BUILD COMPILER…
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT, CARDLESS, BUILD, COMPILER = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
MARKER = r'<!-- (\w+\.c): exits (\d+)(?:, prints "([^"]*)")?(?: and reports "([^"]*)")? -->\n'
BLOCK = re.compile(rf'(?:{MARKER})?```c\n(.*?)^```', re.M | re.S)


def pages():
    yield os.path.join(ROOT, 'README.md')
    for folder, _, files in os.walk(os.path.join(ROOT, 'docs')):
        if os.path.basename(folder) != 'generated':
            yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith('.md'))


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def failures(name, status, out, err, code, folder):
    source, program = os.path.join(folder, name), os.path.join(folder, name[:-2])
    with open(source, 'w', encoding='utf-8') as f:
        f.write(code)
    built = run(
        *COMPILER,
        '-Wall',
        '-Wextra',
        '-Werror',
        source,
        '-o',
        program,
        '-I' + os.path.join(BUILD, 'include'),
        '-L' + os.path.join(BUILD, 'lib'),
        '-lcuda',
    )
    if built.returncode:
        yield f'does not compile:\n{built.stderr}'
        return
    ran = run(CARDLESS, 'run', '--', program)
    if ran.returncode != int(status):
        yield f'exits {ran.returncode}, not {status}\n{ran.stdout}{ran.stderr}'
    if out and out not in ran.stdout:
        yield f'does not print "{out}":\n{ran.stdout}'
    if err and err not in ran.stderr:
        yield f'does not report "{err}":\n{ran.stderr}'
    if not err and ran.stderr:
        yield f'reports:\n{ran.stderr}'


count = bad = 0
with tempfile.TemporaryDirectory() as scratch:
    for page in pages():
        with open(page, encoding='utf-8') as f:
            blocks = BLOCK.findall(f.read())
        for name, status, out, err, code in blocks:
            count += 1
            found = (
                list(failures(name, status, out, err, code, scratch))
                if name
                else ['a C block has no comment that says what it does']
            )
            for failure in found:
                print(f'{os.path.relpath(page, ROOT)}: {name}: {failure}')
                bad += 1
print(f'{count} programs, {bad} failures')
sys.exit(bool(bad) or not count)
