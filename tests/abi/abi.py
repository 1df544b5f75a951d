# SPDX-License-Identifier: MIT
"""Compares Cardless's headers with those of an installed CUDA toolkit.

    abi.py INCLUDE [--toolkit INCLUDE] [--clang CLANG]

Compared are every name, size, offset, value, prototype and macro. Exit status 77: no toolkit or no
clang is installed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from collect import Headers

# Each header with the header of another project that it needs. cuda.h is first, because the
# toolkit's cudaVDPAU.h does not include it.
HEADERS = {
    'cuda.h': None, 'cudaGL.h': 'GL/gl.h', 'cudaEGL.h': 'EGL/eglext.h',
    'cudaVDPAU.h': 'vdpau/vdpau.h', 'cudaProfiler.h': None,
    'cudaTypedefs.h': None, 'cudaGLTypedefs.h': 'GL/gl.h', 'cudaEGLTypedefs.h': 'EGL/eglext.h',
    'cudaVDPAUTypedefs.h': 'vdpau/vdpau.h', 'cudaProfilerTypedefs.h': None,
}
VARIANTS = {
    'plain': [],
    'per-thread': ['-DCUDA_API_PER_THREAD_DEFAULT_STREAM'],
    'internal': ['-D__CUDA_API_VERSION_INTERNAL'],
}
VERSION = '13000'
# The part of VDPAU that the header needs, for machines without it.
VDPAU = '''#include <stdint.h>
typedef uint32_t VdpDevice, VdpVideoSurface, VdpOutputSurface, VdpFuncId;
typedef int VdpStatus;
typedef VdpStatus VdpGetProcAddress(VdpDevice device, VdpFuncId id, void **function_pointer);
'''


def skip(reason):
    print(f'ABI NOT COMPARED: {reason}', file=sys.stderr)
    sys.exit(77)


def find_toolkit():
    nvcc = shutil.which('nvcc')
    homes = [os.environ.get('CUDA_HOME'), os.environ.get('CUDA_PATH'),
             nvcc and Path(nvcc).resolve().parents[1], '/usr/local/cuda-13.0', '/usr/local/cuda']
    version = re.compile(rf'define\s+CUDA_VERSION\s+{VERSION}\b')
    for home in filter(None, homes):
        header = Path(home) / 'include' / 'cuda.h'
        if header.exists() and version.search(header.read_text(errors='replace')):
            return header.parent
    return None


def is_installed(clang, flag, header):
    run = subprocess.run([clang, '-E', flag, '-'], input=f'#include <{header}>\n',
                         capture_output=True, text=True)
    return run.returncode == 0


def differences(theirs, ours):
    for what in ('typedefs', 'functions', 'enumerators', 'macros', 'facts'):
        a, b = getattr(theirs, what), getattr(ours, what)
        for name in sorted(a.keys() | b.keys()):
            x, y = a.get(name), b.get(name)
            if what == 'macros':
                if x and y and x[0] == y[0] and same_macro(x[1], y[1]):
                    continue
            elif what in ('functions', 'typedefs') and x and y:
                x, y = theirs.canonical(x), ours.canonical(y)
            elif what == 'enumerators' and (x is None or y is None):
                continue  # the values are compared
            if x is None and re.search(r'(^|\s)PFN_', name):
                continue  # ours names forms that the toolkit has no type for
            if x is None:
                yield f'{what}: {name}: only ours ({y})'
            elif y is None:
                yield f'{what}: {name}: lacking ({x})'
            elif x != y:
                yield f'{what}: {name}: toolkit {x}, ours {y}'
    for record in sorted(theirs.records.keys() & ours.records.keys()):
        x, y = theirs.records[record], ours.records[record]
        if x != y:
            only_theirs, only_ours = [f for f in x if f not in y], [f for f in y if f not in x]
            yield f'record: {record}: toolkit {only_theirs}, ours {only_ours}'
    for record in sorted(theirs.records.keys() ^ ours.records.keys()):
        yield f'record: {record}: only in {"the toolkit" if record in theirs.records else "ours"}'


def same_macro(x, y):
    def number(text):
        text = text.strip('() ').rstrip('uUlL')
        return int(text, 0) if re.fullmatch(r'-?(0[xX][0-9a-fA-F]+|\d+)', text) else None
    if number(x) is not None:
        return number(x) == number(y)
    return re.sub(r'[\s()]', '', x) == re.sub(r'[\s()]', '', y)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('include')
    p.add_argument('--toolkit')
    p.add_argument('--clang', default=shutil.which('clang'))
    a = p.parse_args()
    toolkit = a.toolkit or find_toolkit()
    if not toolkit:
        skip(f'no CUDA toolkit of version {VERSION} is installed')
    if not a.clang:
        skip('clang, which reads the headers, is not installed')
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'vdpau').mkdir()
        (Path(folder) / 'vdpau' / 'vdpau.h').write_text(VDPAU)
        foreign = f'-idirafter{folder}'
        names = [n for n, needs in HEADERS.items()
                 if not needs or is_installed(a.clang, foreign, needs)]
        for name in HEADERS.keys() - set(names):
            print(f'{name}: not compared, {HEADERS[name]} is not installed')
        for variant, flags in VARIANTS.items():
            try:
                theirs = Headers(a.clang, [*flags, f'-I{toolkit}', foreign], names)
                ours = Headers(a.clang, [*flags, f'-I{a.include}', foreign], names)
            except RuntimeError as e:
                found = [str(e)]
            else:
                found = list(differences(theirs, ours))
                print(f'{variant}: {len(theirs.functions)} functions, '
                      f'{len(theirs.typedefs)} types, {len(theirs.records)} records, '
                      f'{len(theirs.facts)} sizes, offsets and values, '
                      f'{len(theirs.macros)} macros: {len(found)} differences')
            for line in found:
                print(f'  {variant}: {line}')
            count += len(found)
    sys.exit(1 if count else 0)


if __name__ == '__main__':
    main()
