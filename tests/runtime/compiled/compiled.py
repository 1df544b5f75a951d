#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles CUDA programs with nvcc, and runs them. Skips without nvcc."""
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile

HERE = Path(__file__).parent
SKIPPED = 77
TARGET = ['-gencode', 'arch=compute_75,code=compute_75', '-O1', '-std=c++17', '-cudart', 'shared']


def run(*command, **options):
    shown = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, **options)
    if shown.returncode:
        sys.exit(f'{" ".join(map(str, command))}\n{shown.stdout}\nends with {shown.returncode}')
    return shown.stdout


def start(nvcc, *arguments):
    return subprocess.Popen([nvcc, *TARGET, *map(str, arguments)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(*compilers):
    for c in compilers:
        output = c.communicate()[0]
        if c.returncode:
            sys.exit(f'{" ".join(c.args)}\n{output}')


def expect(program, output, libraries, *arguments):
    env = dict(os.environ, LD_LIBRARY_PATH=str(libraries), CARDLESS_DIAGNOSTICS='off')
    shown = run(program, *arguments, env=env, timeout=300)
    if shown != output:
        sys.exit(f'{program} printed\n{shown}\nexpected\n{output}')


def main():
    libraries = Path(sys.argv[1])
    nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
    if not nvcc:
        print('NVCC NOT TESTED: nvcc is not installed', file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        finish(start(nvcc, '-c', HERE / 'program.cu', '-o', out / 'program.o'),
               start(nvcc, '--default-stream', 'per-thread', '-c', HERE / 'per_thread.cu', '-o',
                     out / 'per_thread.o'),
               start(nvcc, '-shared', '-Xcompiler', '-fPIC', HERE / 'library.cu', '-o',
                     out / 'library.so'),
               start(nvcc, '-rdc=true', '-c', HERE / 'relocatable.cu', '-o', out / 'one.o'),
               start(nvcc, '-rdc=true', '-DOTHER_UNIT', '-c', HERE / 'relocatable.cu', '-o',
                     out / 'other.o'))
        finish(start(nvcc, out / 'program.o', out / 'per_thread.o', '-o', out / 'program'),
               start(nvcc, '-rdc=true', out / 'one.o', out / 'other.o', '-o', out / 'relocatable'))
        expect(out / 'program', 'all checks hold\n', libraries, out / 'library.so')
        expect(out / 'relocatable', 'all checks hold\n', libraries)
    return 0


sys.exit(main())
