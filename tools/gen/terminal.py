#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the terminal session of README.md: an unmodified program without a card, then on Cardless.

  terminal.py BUILD README COMPILER…            writes the session between README's markers
  terminal.py --check BUILD README COMPILER…    fails if the session differs from README's

The first half needs a machine without NVIDIA's driver; on another one README's lines are kept.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARKED = re.compile(r'(<!-- terminal:[^\n]*-->\n```console\n)(.*?)(```)', re.S)
CLEAN = ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'MALLOC_PERTURB_')


def output(command, folder, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in CLEAN and not k.startswith('CARDLESS_')}
    run = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**kept, 'LC_ALL': 'C', **environment},
        timeout=60,
    )
    lines = run.stdout.splitlines()
    return ''.join(
        textwrap.fill(line, 100, subsequent_indent='    ', break_long_words=False) + '\n'
        for line in lines
    )


def session(build, compiler, folder, before):
    source = os.path.join(ROOT, 'examples', 'external_memory', 'share.c')
    subprocess.run(
        [
            *compiler,
            source,
            '-o',
            os.path.join(folder, 'share'),
            '-I' + os.path.join(build, 'include'),
            '-L' + os.path.join(build, 'lib'),
            '-lcuda',
        ],
        check=True,
    )
    tool = os.path.join(build, 'tools', 'cardless', 'cardless')
    without = output(['./share'], folder)
    if 'cannot open shared object file' in without:
        before = without
    return (
        '$ cc examples/external_memory/share.c -Ibuild/include -Lbuild/lib -lcuda -o share\n'
        '$ ./share\n'
        + before
        + '$ build/tools/cardless/cardless run -- ./share\n'
        + output([tool, 'run', '--', './share'], folder)
    )


def main():
    check = sys.argv[1] == '--check'
    build, readme, *compiler = sys.argv[2:] if check else sys.argv[1:]
    with open(readme, encoding='utf-8') as f:
        text = f.read()
    old = MARKED.search(text)[2]
    before = old.partition('$ ./share\n')[2].split('$ build/')[0]
    with tempfile.TemporaryDirectory() as folder:
        new = session(os.path.abspath(build), compiler, folder, before)
    if check and new != old:
        sys.exit(
            f'README.md shows\n{old}\nbut the terminal says\n{new}\nTo renew it, run: python3 '
            f'tools/gen/terminal.py {os.path.relpath(build)} README.md cc'
        )
    if not check:
        with open(readme, 'w', encoding='utf-8') as f:
            f.write(MARKED.sub(lambda m: m[1] + new + m[3], text))
    print(new)


main()
