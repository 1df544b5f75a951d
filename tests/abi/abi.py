# SPDX-License-Identifier: MIT
"""Compares Cardless's headers with those of an installed CUDA toolkit.

    abi.py INCLUDE [--api driver|runtime] [--toolkit INCLUDE] [--clang CLANG]

Compared are every name, size, offset, value, prototype and macro, and for the runtime API the
overloads for C++. Exit status 77: no toolkit or no clang is installed.
"""
import argparse
import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from collect import Headers, Overloads

# For each API, each header with the header of another project that it needs. cuda.h is first,
# because the toolkit's cudaVDPAU.h does not include it.
DRIVER = {
    'cuda.h': None, 'cudaGL.h': 'GL/gl.h', 'cudaEGL.h': 'EGL/eglext.h',
    'cudaVDPAU.h': 'vdpau/vdpau.h', 'cudaProfiler.h': None,
    'cudaTypedefs.h': None, 'cudaGLTypedefs.h': 'GL/gl.h', 'cudaEGLTypedefs.h': 'EGL/eglext.h',
    'cudaVDPAUTypedefs.h': 'vdpau/vdpau.h', 'cudaProfilerTypedefs.h': None,
}
RUNTIME = {
    'cuda_runtime.h': None, 'cuda_gl_interop.h': 'GL/gl.h', 'cuda_egl_interop.h': 'EGL/eglext.h',
    'cuda_vdpau_interop.h': 'vdpau/vdpau.h', 'cuda_profiler_api.h': None, 'library_types.h': None,
}
APIS = {'driver': DRIVER, 'runtime': RUNTIME}
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


def overload_differences(clang, flags, toolkit, include, names):
    """In C++, once as a compiler of the host sees the headers and once as one of CUDA C++ does."""
    # The toolkit's headers with the functions of device code are left out.
    cuda = ['-D__CUDACC__', '-D__COMMON_FUNCTIONS_H__', '-D__DEVICE_FUNCTIONS_H__',
            '-D__DEVICE_LAUNCH_PARAMETERS_H__']
    for language, define in (('C++', []), ('CUDA C++', cuda)):
        theirs = Overloads(clang, [*flags, *define, f'-I{toolkit}'], names).found
        ours = Overloads(clang, [*flags, *define, f'-I{include}'], names).found
        print(f'{language}: {len(theirs)} functions, templates and specialisations')
        yield from (f'{language}: lacking {x}' for x in sorted(theirs - ours))
        yield from (f'{language}: only ours {x}' for x in sorted(ours - theirs))


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
    p.add_argument('--api', choices=APIS, default='driver')
    p.add_argument('--toolkit')
    p.add_argument('--clang', default=shutil.which('clang'))
    a = p.parse_args()
    toolkit = a.toolkit or find_toolkit()
    if not toolkit:
        skip(f'no CUDA toolkit of version {VERSION} is installed')
    if not a.clang:
        skip('clang, which reads the headers, is not installed')
    gc.disable()  # the syntax trees are large and have no cycles
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'vdpau').mkdir()
        (Path(folder) / 'vdpau' / 'vdpau.h').write_text(VDPAU)
        foreign = f'-idirafter{folder}'
        headers = APIS[a.api]
        names = [n for n, needs in headers.items()
                 if not needs or is_installed(a.clang, foreign, needs)]
        for name in headers.keys() - set(names):
            print(f'{name}: not compared, {headers[name]} is not installed')
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
                # The variants change only which function of C a name means.
                if a.api == 'runtime' and variant == 'plain':
                    found += overload_differences(a.clang, [*flags, foreign], toolkit, a.include,
                                                  names)
            for line in found:
                print(f'  {variant}: {line}')
            count += len(found)
    sys.exit(1 if count else 0)


if __name__ == '__main__':
    main()
