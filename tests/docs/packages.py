#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If a page installs packages to build Cardless, it installs all that tools/setup.sh does.

packages.py ROOT | --self-test
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'sources'))
import tree

INSTALL = re.compile(r'apt-get install((?: +[a-z0-9.+-]+)+)')


def needed(setup):
    """The packages of `build_packages=(…)`."""
    return re.search(r'^build_packages=\(([^)]*)\)', setup, re.M)[1].split()


def problems_of(page, packages):
    """A sentence for each command that installs meson, but not all of `packages`."""
    found = []
    for command in INSTALL.findall(page):
        names = command.split()
        if 'meson' in names:
            found += [f'no {p} in: apt-get install{command}' for p in packages if p not in names]
    return found


def self_test():
    packages = needed('a=(x)\nbuild_packages=(gcc meson\n    libx-dev)\n')
    planted = {
        'sudo apt-get install libx-dev gcc meson more\n': [],
        'sudo apt-get install gcc\n': [],
        '    - run: apt-get update && apt-get install -y gcc meson\n': [
            'no libx-dev in: apt-get install -y gcc meson'
        ],
    }
    for page, expected in planted.items():
        found = problems_of(page, packages)
        if found != expected:
            sys.exit(f'{page}: found {found} instead of {expected}')


def main(argument):
    if argument == '--self-test':
        self_test()
        return
    with open(os.path.join(argument, 'tools/setup.sh'), encoding='utf-8') as f:
        packages = needed(f.read())
    pages, problems = 0, []
    for name in tree.files(argument):
        if name.endswith('.md'):
            with open(os.path.join(argument, name), encoding='utf-8') as f:
                page = f.read()
            pages += bool(INSTALL.search(page))
            problems += [f'{name}: {problem}' for problem in problems_of(page, packages)]
    print('\n'.join(problems) or f'{pages} pages install {" ".join(packages)}')
    sys.exit(bool(problems) or not pages)


main(sys.argv[1])
