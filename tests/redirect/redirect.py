#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with a static CUDA runtime must run on Cardless's own.

    redirect.py CARDLESS standin COMPILER…   a stand-in runtime, linked in many ways
    redirect.py CARDLESS nvcc                what nvcc makes by default; 77 without nvcc

Each program runs with and without the redirection, so that a test cannot pass by itself."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SKIPPED, SECONDS = 77, 60
STRIPPED, TOO_SHORT, OLDER = 'without its symbols', 'too short', 'older than CUDA 12'


class Test:
    def __init__(self, cardless, folder):
        self.cardless, self.folder, self.failed, self.count = cardless, Path(folder), 0, 0

    def build(self, name, *command):
        """Returns the path of what the compiler makes, or None if it cannot link so."""
        out = self.folder / name
        r = subprocess.run([*command, '-o', out], capture_output=True, text=True)
        if r.returncode:
            print(f'SKIPPED: {name}: {(r.stderr or r.stdout).strip()[-200:]}')
        return None if r.returncode else out

    def run(self, command, on):
        return subprocess.run([self.cardless, 'run', '--redirect', 'on' if on else 'off', '--',
                               *command], capture_output=True, text=True, timeout=SECONDS)

    def report(self, good, name, r):
        self.count += 1
        self.failed += not good
        print('ok' if good else 'not ok', name)
        if not good:
            print('#', r.returncode, r.stdout.strip(), r.stderr.strip()[-300:])

    def redirected(self, name, *command):
        on, off = self.run(command, True), self.run(command, False)
        # The program makes a wrong call on purpose, which has a message of its own.
        good = on.returncode == 0 and 'result 0' in on.stdout and 'redirect' not in on.stderr
        self.report(good, name, on)
        self.report(off.returncode != 0, f'{name}, not redirected', off)

    def refused(self, name, text, *command):
        r = self.run(command, True)
        lines = [line for line in r.stderr.splitlines() if text in line]
        self.report(r.returncode != 0 and len(lines) == 1, name, r)


def stripped(path, *options):
    out = path.with_name(path.name + '-' + '-'.join(options).replace('--', '') + '-stripped')
    subprocess.run(['strip', *options, '-o', out, path], check=True)
    return out


def standin(t, compiler):
    cc = [*compiler, '-O2', '-falign-functions=16', '-fPIE', '-pthread', '-D_GNU_SOURCE', '-w']
    runtime, program = HERE / 'standin.c', HERE / 'program.c'
    ways = {
        'PIE': ['-pie'], 'no PIE': ['-no-pie', '-fno-pie'], 'at once': ['-pie', '-Wl,-z,now'],
        'gc-sections': ['-pie', '-ffunction-sections', '-Wl,--gc-sections'],
        'CET': ['-pie', '-fcf-protection=full'], 'gold': ['-pie', '-fuse-ld=gold'],
        'lld': ['-pie', '-fuse-ld=lld'], 'exported symbols': ['-pie', '-rdynamic'],
    }
    for name, options in ways.items():
        built = t.build(name.replace(' ', '-'), *cc, *options, program, runtime)
        if built:
            t.redirected(name, built)
    pie = t.build('program', *cc, '-pie', '-g', program, runtime)
    t.redirected('strip -g', stripped(pie, '-g'))
    t.refused('strip', STRIPPED, stripped(pie))
    functions = ('cudaProfilerStart', 'cudaProfilerStop')
    tiny = t.folder / 'tiny.c' # the second one begins a byte after the first
    tiny.write_text('__asm__(".text\\n"\n' + ''.join(
        f'".globl {f}\\n.hidden {f}\\n.type {f}, @function\\n{f}: ret\\n.size {f}, 1\\n"\n'
        for f in functions) + ');\n', encoding='utf-8')
    t.refused('short functions', TOO_SHORT, t.build('short', *cc, '-pie', program, runtime, tiny))

    t.redirected('version 12', t.build('twelve', *cc, '-pie', '-DVERSION_12', '-DRUNTIME_MAJOR=12',
                                       program, runtime))
    t.refused('version 11', OLDER, t.build('eleven', *cc, '-pie', '-DVERSION_12', '-DVERSION_11',
                                           program, runtime))

    library = t.build('libchecked.so', *cc, '-fPIC', '-shared', '-DLIBRARY', program, runtime)
    loader = t.build('loader', *cc, '-pie', '-DLOADER', program, '-ldl')
    main = t.folder / 'main.c'
    main.write_text('#include <stdio.h>\nint check(void);\n'
                    'int main(void)\n{\n int r = check();\n printf("result %d\\n", r);\n'
                    ' return r;\n}\n', encoding='utf-8')
    linked = t.build('linked', *cc, '-pie', main, library, f'-Wl,-rpath,{t.folder}')
    t.redirected('a linked library', linked)
    t.redirected('a library opened later', loader, library)

    ending = t.build('libending.so', *cc, '-fPIC', '-shared', '-DENDING', program)
    t.redirected('a call when the process ends', t.build(
        'at-end', *cc, '-pie', '-DAT_END', program, runtime, ending, f'-Wl,-rpath,{t.folder}'))

    # A shared runtime that the program finds before ours.
    other = t.folder / 'other'
    other.mkdir()
    for major in (13, 12):
        soname = f'libcudart.so.{major}'
        shared = t.build(f'other/{soname}', *cc, '-fPIC', '-shared', '-DSHARED', runtime,
                         f'-Wl,-soname,{soname}')
        t.redirected(f'{soname} behind an RPATH', t.build(
            f'rpath-{major}', *cc, '-pie', program, shared, f'-DRUNTIME_MAJOR={major}',
            '-Wl,--disable-new-dtags', f'-Wl,-rpath,{other}'))
    absolute = t.build('other/libcudart.so.13.0.1', *cc, '-fPIC', '-shared', '-DSHARED', runtime)
    t.redirected('a shared runtime with an absolute path',
                 t.build('absolute', *cc, '-pie', program, absolute))


def nvcc(t, compiler):
    if not shutil.which('nvcc'):
        print('SKIPPED: nvcc, NVIDIA\'s compiler, is not installed')
        sys.exit(SKIPPED)
    cc = ['nvcc', '-gencode', 'arch=compute_90,code=compute_90', '-Wno-deprecated-gpu-targets']
    kernel = HERE / 'kernel.cu'
    ways = {
        'nvcc -rdc': ['-rdc=true'],
        'nvcc, no PIE, gold': ['-Xcompiler', '-fno-pie,-no-pie,-fuse-ld=gold'],
        'nvcc, CET, gc-sections, lld': ['-Xcompiler', '-fcf-protection=full,-fuse-ld=lld',
                                        '-Xlinker', '--gc-sections'],
    }
    for name, options in ways.items():
        built = t.build(name.replace(' ', '-'), *cc, *options, kernel)
        if built:
            t.redirected(name, built)
    default = t.build('default', *cc, kernel)
    t.redirected('nvcc', default)
    t.redirected('nvcc, strip -g', stripped(default, '-g'))
    t.refused('nvcc, strip', STRIPPED, stripped(default))
    library = t.build('libkernel.so', *cc, '-shared', '-DLIBRARY', '-Xcompiler', '-fPIC', kernel)
    loader = t.build('loader', 'cc', '-D_GNU_SOURCE', '-w', '-DLOADER', HERE / 'program.c', '-ldl')
    t.redirected('nvcc, a library opened later', loader, library)


def main():
    cardless, kind, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        t = Test(cardless, folder)
        {'standin': standin, 'nvcc': nvcc}[kind](t, compiler)
        print(f'{t.count - t.failed} of {t.count} are as they should be')
    sys.exit(bool(t.failed))


main()
