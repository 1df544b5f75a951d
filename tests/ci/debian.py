#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lists in debian/ name every file that the build installs, each for one package, and the
control file names the packages that the build needs.

  debian.py ROOT BUILD
"""
import fnmatch
import glob
import json
import os
import re
import sys

ROOT, BUILD = sys.argv[1:3]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


def patterns():
    """The pairs of a package and a pattern."""
    for path in glob.glob(os.path.join(ROOT, 'debian', '*.install')):
        package = os.path.basename(path)[:-len('.install')]
        for line in read(path).split('\n'):
            if line:
                yield package, line


def owners(name, lists):
    return {package for package, pattern in lists
            if fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, pattern + '/*')}


with open(os.path.join(BUILD, 'meson-info', 'intro-installed.json'), encoding='utf-8') as file:
    INSTALLED = sorted(json.load(file).values())
with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
    PREFIX = next(o['value'] for o in json.load(file) if o['name'] == 'prefix')
lists = list(patterns())
problems = []
used = set()
for path in INSTALLED:
    # debhelper sets these folders.
    name = re.sub(r'^lib(64)?/(?!\w+-)', 'lib/any-linux/', os.path.relpath(path, PREFIX))
    found = owners('usr/' + name, lists)
    used |= {(p, pattern) for p, pattern in lists if owners('usr/' + name, [(p, pattern)])}
    if len(found) != 1:
        problems.append(f'{path} is in {sorted(found) or "no package"}')
links = {('libcardless-dev', f'usr/lib/*/cardless/lib{n}*.so') for n in ('cu', 'nv')}  # not listed
problems += [f'{package}: nothing is {pattern}' for package, pattern in set(lists) - used - links]
control = read('debian', 'control')
needed = re.search(r'^build_packages=\(([^)]*)\)', read('tools', 'setup.sh'), re.M)[1].split()
build = re.search(r'^Build-Depends:(.*?)^\S', control, re.M | re.S)[1]
implied = {'gcc', 'libc6-dev', 'ninja-build'}  # build-essential, and meson's
problems += [f'Build-Depends lacks {package}' for package in needed
             if package not in implied and not re.search(rf'\b{re.escape(package)}\b', build)]
version = re.search(r"version: '([^']+)'", read('meson.build'))[1]
if not read('debian', 'changelog').startswith(f'cardless ({version}) '):
    problems.append(f'debian/changelog is not of version {version}')
print(f'{len(INSTALLED)} files in {len({p for p, _ in lists})} packages', *problems, sep='\n')
sys.exit(bool(problems) or not INSTALLED)
