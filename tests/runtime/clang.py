#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles CUDA C++ with clang and Cardless's headers alone, and runs it. No tool and no header of
NVIDIA's takes part: the PTX text itself becomes the program's device code.

    clang.py SOURCE PRINTED INCLUDE LIBRARIES

Exit status 77: clang is not installed, or was built without NVPTX."""
import shutil
import subprocess
import sys
import tempfile

# Without a toolkit, clang assumes the oldest version of CUDA: its launches, and its version of PTX.
CUDA = ['-x', 'cuda', '--cuda-gpu-arch=sm_75', '--cuda-path=/nonexistent', '-nocudainc',
        '-nocudalib', '-include', 'cuda_runtime.h', '-Xclang', '-target-sdk-version=11.5']
DEVICE = ['--cuda-device-only', '-S', '-Xclang', '-target-feature', '-Xclang', '+ptx64']


def skip(reason):
    print(f'CLANG NOT TESTED: {reason}', file=sys.stderr)
    sys.exit(77)


def end_text(path):
    """Ends PTX text by a zero. Newer clangs embed the bytes of the file alone."""
    with open(path, 'ab') as f:
        f.write(b'\0')


def main():
    source, printed, include, libraries = sys.argv[1:]
    clang = shutil.which('clang++')
    if not clang:
        skip('clang++ is not installed')
    targets = subprocess.run([clang, '--print-targets'], capture_output=True, text=True).stdout
    if 'nvptx64' not in targets:
        skip('this clang cannot make PTX')
    flags = [clang, *CUDA, '-Wall', '-Wextra', '-Werror', '-Wno-unknown-cuda-version', '-O1',
             f'-I{include}']
    with tempfile.TemporaryDirectory() as folder:
        ptx, program = f'{folder}/device.ptx', f'{folder}/program'
        host = ['-Xclang', '-fcuda-include-gpubinary', '-Xclang', ptx]
        subprocess.run([*flags, *DEVICE, source, '-o', ptx], check=True)
        end_text(ptx)
        subprocess.run([*flags, '--cuda-host-only', *host, '-c', source, '-o', program + '.o'],
                       check=True)
        subprocess.run([clang, program + '.o', '-o', program, f'-L{libraries}', '-lcudart'],
                       check=True)
        run = subprocess.run([program], env={'LD_LIBRARY_PATH': libraries}, capture_output=True,
                             text=True, timeout=60)
    print(run.stdout + run.stderr)
    sys.exit(run.returncode or run.stdout != printed + '\n')


if __name__ == '__main__':
    main()
