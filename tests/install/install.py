#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs into a folder and uses the result as docs/how-to/link-a-program.md says.

The tool finds its library, nothing shadows a driver or a toolkit, and one program is built against
the installed headers and library by every way that the page names: by hand, with pkg-config
(installed and straight from the build folder), with CMake and with meson. The projects of CMake and
meson are the page's own.

  install.py BUILD_FOLDER PAGE COMPILER…
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

build, page, compiler = sys.argv[1], open(sys.argv[2], encoding='utf-8').read(), sys.argv[3:]
PROGRAM = """
#include <cuda.h>
#include <cudaGL.h>
#include <cuda_gl_interop.h>
#include <cuda_runtime.h>
#include <cardless.h>
#include <stdio.h>
int main(void)
{
    int driver, runtime;
    printf("%d %d\\n", cuInit(0) | cudaRuntimeGetVersion(&runtime), cuDriverGetVersion(&driver));
    return driver != 13000 || runtime != CUDART_VERSION;
}
"""
CLEAN = {
    k: '' for k in ('LD_LIBRARY_PATH', 'CARDLESS_LIBDIR', 'CUDA_PATH', 'CUDA_HOME', 'CUDA_ROOT')
}


def attempt(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )


def run(*command, **environment):
    r = attempt(*command, **environment)
    assert r.returncode == 0, f'{command}\n{r.stdout}{r.stderr}'
    return r.stdout


def one(pattern):
    found = glob.glob(pattern, recursive=True)
    assert len(found) == 1, (pattern, found)
    return found[0]


def block(language):
    """The only code block of that language on the page."""
    found = re.findall(rf'^```{language}\n(.*?)^```', page, re.M | re.S)
    assert len(found) == 1, (language, found)
    return found[0]


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
        f.write(text)
    return os.path.join(folder, name)


class Installed:
    def __init__(self, root):
        run('meson', 'install', '--no-rebuild', '-C', build, DESTDIR=root)
        self.tool = one(f'{root}/**/bin/cardless')
        self.library = one(f'{root}/**/libcuda.so.1')
        self.toolkit = one(f'{root}/**/toolkit')
        self.headers = [os.path.dirname(h) for h in glob.glob(f'{root}/**/cuda.h', recursive=True)]
        self.pc = one(f'{root}/**/cardless.pc')
        self.prefix = os.path.dirname(os.path.dirname(self.tool))

    def pkg_config(self, *arguments):
        return run(
            'pkg-config',
            f'--define-variable=prefix={self.prefix}',
            *arguments,
            'cardless',
            PKG_CONFIG_PATH=os.path.dirname(self.pc),
        ).split()

    def expect_works(self, program):
        assert run(self.tool, 'run', '--', program, **CLEAN) == '0 0\n'


def shadows_nothing(it):
    """No folder that a compiler or a loader searches by default has our files."""
    assert os.path.basename(os.path.dirname(it.library)) == 'cardless', it.library
    ours = {os.path.join(it.toolkit, 'include')}
    for folder in it.headers:
        assert os.path.basename(folder) == 'cardless' or folder in ours, folder
    assert not glob.glob(f'{it.toolkit}/lib64/libcuda.so.1')


def by_hand(it, folder):
    source = write(folder, 'first.c', PROGRAM)
    program = os.path.join(folder, 'first')
    includes = [h for h in it.headers if os.path.basename(h) == 'cardless']
    run(
        *compiler,
        '-Wall',
        '-Werror',
        '-I' + includes[0],
        source,
        '-o',
        program,
        '-L' + os.path.dirname(it.library),
        '-lcuda',
        '-lcudart',
    )
    it.expect_works(program)


def with_pkg_config(it, folder):
    source = write(folder, 'first.c', PROGRAM)
    program = os.path.join(folder, 'first')
    run(*compiler, '-Wall', '-Werror', source, '-o', program, *it.pkg_config('--cflags', '--libs'),
        '-lcudart')
    it.expect_works(program)
    assert os.path.samefile(it.pkg_config('--variable=toolkit')[0], it.toolkit)


def with_uninstalled_pkg_config(it, folder):
    source = write(folder, 'first.c', PROGRAM)
    program = os.path.join(folder, 'first')
    flags = run(
        'pkg-config',
        '--cflags',
        '--libs',
        'cardless',
        PKG_CONFIG_PATH=os.path.join(build, 'meson-uninstalled'),
    ).split()
    for flag in flags:
        assert not flag.startswith(('-L', '-I')) or os.path.isdir(flag[2:]), flag
    run(*compiler, '-Wall', '-Werror', source, '-o', program, *flags, '-lcudart')
    it.expect_works(program)


def with_cmake(it, folder):
    write(folder, 'first.c', PROGRAM)
    write(folder, 'CMakeLists.txt', block('cmake'))
    run(
        'cmake',
        '-S',
        folder,
        '-B',
        folder + '/b',
        f'-DCUDAToolkit_ROOT={it.toolkit}',
        '-DCMAKE_C_COMPILER=' + shutil.which(compiler[-1]),
        **CLEAN,
    )
    cache = open(folder + '/b/CMakeCache.txt', encoding='utf-8').read()
    assert f'={it.toolkit}/lib64/libcuda.so\n' in cache, 'CMake found another driver'
    run('cmake', '--build', folder + '/b')
    it.expect_works(folder + '/b/first')


def with_meson(it, folder):
    write(folder, 'first.c', PROGRAM)
    write(folder, 'meson.build', block('meson'))
    run('meson', 'setup', folder + '/b', folder, **{**CLEAN, 'CUDA_PATH': it.toolkit})
    run('ninja', '-C', folder + '/b')
    it.expect_works(folder + '/b/first')


def with_static_runtime(it, folder):
    """A build that asks for the static runtime gets the shared one."""
    lines = 'int cudaFree(void *);\nint main(void) { return cudaFree(0); }\n'
    source = write(folder, 'second.c', lines)
    static = f'{it.toolkit}/lib64/libcudart_static.a'
    program = os.path.join(folder, 'second')
    run(*compiler, source, '-o', program, static, f'-L{it.toolkit}/lib64')
    assert 'libcudart.so.13' in run('readelf', '-d', program)


def with_runtime_12(it, folder):
    """A program that was linked with the runtime of CUDA 12 finds ours under the tool."""
    lines = ('int cudaRuntimeGetVersion(int *);\n#include <stdio.h>\nint main(void)\n{\n'
             '    int version = 0;\n    printf("%d ", cudaRuntimeGetVersion(&version));\n'
             '    printf("%d\\n", version / 1000 - 12);\n    return 0;\n}\n')
    source = write(folder, 'third.c', lines)
    program = os.path.join(folder, 'third')
    run(*compiler, source, '-o', program,
        os.path.join(os.path.dirname(it.library), 'libcudart.so.12'))
    assert '[libcudart.so.12]' in run('readelf', '-d', program)
    it.expect_works(program)


ways = [by_hand, with_static_runtime, with_runtime_12]
for tool, tests in (
    ('pkg-config', [with_pkg_config, with_uninstalled_pkg_config]),
    ('cmake', [with_cmake]),
    ('meson', [with_meson]),
):
    if shutil.which(tool):
        ways += tests
    else:
        print(f'NOT TESTED, {tool} is missing: {", ".join(t.__name__ for t in tests)}')
with tempfile.TemporaryDirectory() as root:
    it = Installed(root)
    shadows_nothing(it)
    assert 'Cardless' in run(it.tool, 'info', **CLEAN)
    for way in ways:
        way(it, os.path.join(root, way.__name__))
        print(f'{way.__name__}: works')
