# SPDX-License-Identifier: MIT
"""Compares what libcudart.so.12 exports with NVIDIA's headers of CUDA 12.9.

    abi_12.py SOURCE BUILD WHEELS [--clang CLANG]

Compared are the prototype of every exported function that the headers declare, and the sizes,
offsets and values of all their structures and constants. WHEELS is a folder that the headers are
installed into, from PyPI. Exit status 77: they cannot be installed, or there is no clang."""
import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from abi import RUNTIME, VDPAU, is_installed, skip
from collect import Headers
from wheels import cuda_12

# Constants that CUDA 13 has dropped or changed, and those of the header for OpenGL, whose
# prototypes here are the table's. No body uses them. What CUDA 13 has added may be there, too.
EXEMPT = {'cudaCGScopeMultiGrid', 'cudaDevAttrCooperativeMultiDeviceLaunch', 'cudaDevAttrMax',
          'cudaDevAttrMaxTimelineSemaphoreInteropSupported', 'cudaGLMapFlagsNone',
          'cudaGLMapFlagsReadOnly', 'cudaGLMapFlagsWriteDiscard'}


def functions(theirs, ours):
    for name, spelling in sorted(theirs.functions.items()):
        if name not in ours.functions:
            yield f'function {name}: lacking ({spelling})'
        elif theirs.canonical(spelling) != ours.canonical(ours.functions[name]):
            yield f'function {name}: toolkit {spelling}, ours {ours.functions[name]}'


def facts(theirs, ours):
    for name, value in sorted(theirs.facts.items()):
        if name.split()[-1] not in EXEMPT and ours.facts.get(name) != value:
            yield f'{name}: toolkit {value}, ours {ours.facts.get(name)}'


def main():
    p = argparse.ArgumentParser()
    p.add_argument('source', type=Path)
    p.add_argument('build', type=Path)
    p.add_argument('wheels')
    p.add_argument('--clang', default=shutil.which('clang'))
    a = p.parse_args()
    if not a.clang:
        skip('clang, which reads the headers, is not installed')
    folders = cuda_12(a.wheels)
    if not folders:
        skip('the headers of CUDA 12 cannot be installed from PyPI')
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'vdpau').mkdir()
        (Path(folder) / 'vdpau' / 'vdpau.h').write_text(VDPAU)
        foreign = f'-idirafter{folder}'
        # The runtime's wheel has no profiler header.
        names = [n for n, needs in RUNTIME.items() if n not in ('cuda_profiler_api.h',
                                                                'library_types.h')
                 and (not needs or is_installed(a.clang, foreign, needs))]
        theirs = Headers(a.clang, ['-D__CUDA_API_VERSION_INTERNAL', foreign,
                                   *(f'-I{f / "include"}' for f in folders)], names)
        runtime = Path('runtime') / 'version_12'
        ours = Headers(a.clang, ['-DCUDA_ENABLE_DEPRECATED', '-DRT_MAJOR=12', foreign,
                                 f'-I{a.build / runtime}', f'-I{a.source / "runtime"}',
                                 f'-I{a.build / "include"}'],
                       ['rt_exports.h', 'device_types.h', 'library_types.h'])
    found = [*functions(theirs, ours), *facts(theirs, ours)]
    print(f'{", ".join(names)}: {len(theirs.functions)} functions, {len(theirs.records)} records, '
          f'{len(theirs.facts)} sizes, offsets and values: {len(found)} differences')
    print('\n'.join(found))
    sys.exit(bool(found))


if __name__ == '__main__':
    main()
