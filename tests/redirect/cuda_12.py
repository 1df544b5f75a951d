#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are built with NVIDIA's headers and libraries of CUDA 12.9 must run on Cardless's
libcudart.so.12.

    cuda_12.py CARDLESS SOURCE DEVICE_HEADER LIBRARIES WHEELS

The headers and libraries come from PyPI, which has no nvcc of that version, so clang compiles: the
host's half against NVIDIA's headers, the device's half to PTX. Exit status 77: clang or the
packages are missing."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'abi'))
from wheels import cuda_12  # noqa: E402

CUDA = ['-x', 'cuda', '--cuda-gpu-arch=sm_75', '--cuda-path=/nonexistent', '-nocudainc',
        '-nocudalib', '-Xclang', '-target-sdk-version=11.5', '-Wno-unknown-cuda-version',
        '-Wno-macro-redefined', '-O1', '-std=c++17']
DEVICE = ['--cuda-device-only', '-S', '-Xclang', '-target-feature', '-Xclang', '+ptx64']
WANT = 'result 0\n'


def skip(reason):
    print(f'CUDA 12 NOT TESTED: {reason}', file=sys.stderr)
    sys.exit(77)


def build(clang, source, header, folders, out):
    """Returns the object file. Its fat binary is the PTX text."""
    flags = [clang, *CUDA, f'-DDEVICE_HEADER="{header}"',
             *(f'-isystem{f / "include"}' for f in folders)]
    ptx, program = out / 'device.ptx', out / 'program.o'
    host = ['--cuda-host-only', '-Xclang', '-fcuda-include-gpubinary', '-Xclang', ptx]
    subprocess.run([*flags, *DEVICE, source, '-o', ptx], check=True)
    with open(ptx, 'ab') as f:
        f.write(b'\0')  # newer clangs embed the bytes of the file alone
    subprocess.run([*flags, *host, '-c', source, '-o', program], check=True)
    return program


def main():
    cardless, source, header, libraries, wheels = sys.argv[1:]
    clang = shutil.which('clang++')
    if not clang:
        skip('clang++ is not installed')
    targets = subprocess.run([clang, '--print-targets'], capture_output=True, text=True).stdout
    if 'nvptx64' not in targets:
        skip('this clang cannot make PTX')
    folders = cuda_12(wheels)
    if not folders:
        skip('the packages of CUDA 12 cannot be installed from PyPI')
    theirs = folders[0] / 'lib'
    failed = 0

    def expect(name, command, good, **environment):
        nonlocal failed
        r = subprocess.run(command, capture_output=True, text=True, timeout=120,
                           env={**os.environ, **environment})
        right = (r.stdout == WANT and not r.returncode and not r.stderr) == good
        failed += not right
        print('ok' if right else 'not ok', name)
        if not right:
            print('#', r.returncode, r.stdout.strip(), r.stderr.strip()[-400:])

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        program = build(clang, source, header, folders, out)
        for name, link in {
            'shared': [theirs / 'libcudart.so.12'],
            'RPATH': [theirs / 'libcudart.so.12',
                      f'-Wl,--disable-new-dtags,-rpath,{theirs}'],
            'static': [theirs / 'libcudart_static.a', '-ldl', '-lrt', '-lpthread'],
        }.items():
            subprocess.run([clang, program, '-o', out / name, *link], check=True)
            expect(f'{name}, cardless run', [cardless, 'run', '--', out / name], True)
        expect('shared, in the path', [out / 'shared'], True, LD_LIBRARY_PATH=libraries)
        for name in ('RPATH', 'static'):
            expect(f'{name}, not redirected',
                   [cardless, 'run', '--redirect', 'off', '--', out / name], False)
    sys.exit(bool(failed))


main()
