#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the names that a library exports with a list.

    exports.py LIBRARY LIST [VERSION]

The library exports every name of the list (names.txt: the driver's; runtime_names.txt and
runtime_12_names.txt: those of NVIDIA's runtime, as recorded;
jitlink_12_names.txt: those of its linker of 12.9; layer_names.txt: the Vulkan layer's),
Cardless's own names, which begin with "cardless", and nothing else. No name has a version, unless
VERSION is given: all names of the list have that one.
"""
import shutil
import subprocess
import sys

library, names, *version = sys.argv[1:]
if not shutil.which('nm'):
    print('no nm on this machine')
    sys.exit(77)
command = ['nm', '-D', '--defined-only', '--with-symbol-versions', library]
out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
have = {line.split()[-1] for line in out.splitlines()}
want = set(open(names, encoding='utf-8').read().split())
if version:
    want = {f'{n}@@{version[0]}' for n in want}
    have.discard(version[0])  # some nm's list the version as a symbol
versioned = sorted(n for n in have - want if '@' in n)
missing = sorted(want - have)
extra = sorted(n for n in have - want if not n.startswith('cardless') and '@' not in n)
for problem, found in (('missing', missing), ('not in the list', extra),
                       ('with a version', versioned)):
    for name in found:
        print(f'{problem}: {name}')
print(f'{len(have)} names exported, {len(want)} wanted')
sys.exit(bool(missing or extra or versioned))
