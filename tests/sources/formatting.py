#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All C files and headers are formatted as .clang-format says.

usage: formatting.py CLANG_FORMAT ROOT          fails if clang-format would change a file
       formatting.py CLANG_FORMAT --self-test   finds the file that is planted in a folder

Other versions of clang-format make other choices, so the test is skipped unless it is version
14."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tree

VERSION = 14
SKIPPED = 77
FILES_PER_RUN = 40
# Programs that ran on a card, which stay as they were.
LEFT_OUT = 'tests/silicon/probes/'


def version_of(program):
    said = subprocess.run([program, '--version'], stdout=subprocess.PIPE, check=True).stdout
    return int(re.search(r'version (\d+)', said.decode())[1])


def differences(program, root, names):
    """clang-format's errors for these files."""
    command = [program, '--style=file', '--dry-run', '-Werror', *names]
    result = subprocess.run(command, cwd=root, stderr=subprocess.PIPE)
    said = result.stderr.decode(errors='replace')
    return said if said or not result.returncode else f'clang-format ended with {result.returncode}'


def check(program, root):
    """(number of files, what clang-format says of them)"""
    names = [n for n in tree.files(root)
             if n.endswith(('.c', '.h')) and not n.startswith(LEFT_OUT)]
    runs = [names[i:i + FILES_PER_RUN] for i in range(0, len(names), FILES_PER_RUN)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return len(names), ''.join(pool.map(lambda run: differences(program, root, run), runs))


def self_test(program):
    style = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '.clang-format')
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(style, folder)
        for name, text in (('good.c', 'int f(void)\n{\n    return 1;\n}\n'),
                           ('bad.h', 'int f(void){return 1;}\n')):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        count, said = check(program, folder)
    if count != 2 or 'bad.h:1:' not in said or 'good.c' in said:
        sys.exit(f'read {count} files; clang-format said: {said}')


def main(program, root):
    version = version_of(program)
    if version != VERSION:
        print(f'SKIPPED: {program} is version {version}; the project is formatted by {VERSION}')
        sys.exit(SKIPPED)
    if root == '--self-test':
        self_test(program)
        return
    count, said = check(program, root)
    print(said[-8000:], end='')
    if said:
        sys.exit(f'not formatted: run clang-format-{VERSION} -i on these files')
    print(f'{count} files are formatted')
    sys.exit(count < 500)


main(*sys.argv[1:])
