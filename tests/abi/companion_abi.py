# SPDX-License-Identifier: MIT
"""Compares a header of Cardless, nvml.h or nvJitLink.h, and the table of the functions that its
library exports, with the header of an installed CUDA toolkit.

    companion_abi.py HEADER INCLUDE NAMES WHEELS [--toolkit INCLUDE]

Ours declares a part of the functions; every name, size, offset, value and prototype that it
declares must be the toolkit's. NAMES lists the functions that the library exports: the toolkit's.
Toolkits from PyPI do not have nvml.h, which is a package of its own: it is installed into the
folder WHEELS if necessary. Exit status 77: there is no toolkit with the header and it cannot be
installed, or no clang is installed.
"""
import argparse
import shutil
import sys
from pathlib import Path

import abi
from collect import Headers
from wheels import nvml

# With these, a header declares exactly the functions that its library exports.
INTERNAL = {'nvml.h': ['-D__NVML_API_VERSION_INTERNAL', '-DNVML_NO_UNVERSIONED_FUNC_DEFS'],
            'nvJitLink.h': []}


def differences(theirs, ours):
    for kind in ('typedefs', 'functions', 'facts', 'records'):
        a, b = getattr(theirs, kind), getattr(ours, kind)
        for name in sorted(b):
            x, y = a.get(name), b[name]
            if kind in ('functions', 'typedefs') and x:
                x, y = theirs.canonical(x), ours.canonical(y)
            if x != y:
                yield f'{kind}: {name}: toolkit {x}, ours {y}'


def find_header(header, wheels):
    """The folder of NVIDIA's header."""
    toolkit = abi.find_toolkit()
    if toolkit and (Path(toolkit) / header).exists():
        return toolkit
    if header != 'nvml.h':
        abi.skip(f'no CUDA toolkit of version {abi.VERSION} with {header} is installed')
    folder = nvml(wheels)
    if not folder:
        abi.skip('no CUDA toolkit with nvml.h is installed, and pip cannot install the header')
    return folder


def main():
    p = argparse.ArgumentParser()
    p.add_argument('header', choices=INTERNAL)
    p.add_argument('include')
    p.add_argument('names', type=Path)
    p.add_argument('wheels')
    p.add_argument('--toolkit')
    a = p.parse_args()
    clang = shutil.which('clang')
    if not clang:
        abi.skip('clang, which reads the headers, is not installed')
    toolkit = a.toolkit or find_header(a.header, a.wheels)
    theirs = Headers(clang, [f'-I{toolkit}'], [a.header])
    ours = Headers(clang, [f'-I{a.include}'], [a.header])
    found = list(differences(theirs, ours))
    want = set(Headers(clang, [f'-I{toolkit}', *INTERNAL[a.header]], [a.header]).functions)
    have = set(a.names.read_text(encoding='utf-8').split())
    found += [f'the library does not export {name}' for name in sorted(want - have)]
    found += [f"the library exports {name}, which the toolkit lacks"
              for name in sorted(have - want)]
    print('\n'.join(found))
    print(f'# compared {len(ours.functions)} functions, {len(ours.records)} structs and '
          f'{len(ours.facts)} sizes and values; {len(have)} exported names', file=sys.stderr)
    sys.exit(bool(found))


main()
