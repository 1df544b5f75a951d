#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every header compiles by itself, and twice, without warnings, from the include path of its room.

usage: headers.py COMPILER ROOT BUILD [--together]   fails if a header does not compile
       headers.py COMPILER --self-test               finds what is planted in this file

--together saves time: it compiles the headers of a folder together, and each by itself only if that
fails. It finds the warnings of a second compiler, but may miss an include that is missing.

The include path and the instruction sets of a header are those of the C files in its folder, which
compile_commands.json of the build folder holds. Public headers are those that the build folder
shows to programs. Template headers (*.inc.h) are left out, because C files define macros before
they include them."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = ['kernels', 'device-model', 'ptx', 'emulator', 'api', 'runtime', 'vulkan-layer', 'tools',
           'tests']
PUBLIC = 'include'
# Left out: programs that ran on the card, which stay as they were.
EXCEPT = 'tests/silicon/probes/'
WARNINGS = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter']
OF_GCC = ('-MF', '-mmemset-strategy', '-mmemcpy-strategy')  # not of each compiler, and of no header
KEPT = ('-D', '-m', '-pthread')


def flags_of(command, folder):
    """The flags of a compilation that matter to headers; paths become absolute."""
    for flag in shlex.split(command):
        if flag.startswith('-I') and flag.endswith('.p'):
            continue  # the folder of one target, in which no header is
        if flag.startswith('-I'):
            yield '-I' + os.path.normpath(os.path.join(folder, flag[2:]))
        elif flag.startswith('-isystem'):
            yield flag
        elif flag.startswith(KEPT) and not flag.startswith(OF_GCC):
            yield flag


def flags_by_folder(root, build):
    """{source folder: the different flags of the compilations there}"""
    found = {}
    for entry in json.loads(Path(build, 'compile_commands.json').read_text(encoding='utf-8')):
        source = os.path.normpath(os.path.join(entry['directory'], entry['file']))
        folder = os.path.relpath(os.path.dirname(source), root)
        # Tests compile some sources of rooms again, with longer include paths.
        if entry['output'].split('/')[0] != folder.split('/')[0]:
            continue
        flags = list(flags_of(entry['command'], entry['directory']))
        if flags not in found.setdefault(folder, []):
            found[folder].append(flags)
    return found


def compile_alone(compiler, headers, choices):
    """The compiler's messages, or nothing if it accepts the headers with one of the choices."""
    source = ''.join(f'#include "{h}"\n' for h in headers * 2)
    for flags in choices:
        r = subprocess.run([*compiler, *flags, *WARNINGS, '-fsyntax-only', '-x', 'c', '-'],
                           input=source, capture_output=True, text=True,
                           env={**os.environ, 'CCACHE_DISABLE': '1'})
        if not r.returncode:
            return ''
    return r.stderr


def headers_of(root, build):
    """Yields (path, name, choices of flags)."""
    by_folder = flags_by_folder(root, build)
    for folder in FOLDERS:
        for path in sorted(Path(root, folder).rglob('*.h')):
            name = str(path.relative_to(root))
            if name.endswith('.inc.h') or name.startswith(EXCEPT):
                continue
            folder = os.path.dirname(name)
            while folder and folder not in by_folder:
                folder = os.path.dirname(folder)
            yield path, name, by_folder.get(folder, [['-I' + os.path.join(build, PUBLIC)]])
    public = Path(build, PUBLIC)
    for path in sorted(public.rglob('*.h')):
        if not path.name.endswith('_functions.h'):  # the end of the header that includes it
            yield path, str(path.relative_to(build)), [['-I' + str(public)]]


def lacks_library(path, said):
    """Whether the reason is a header of another project that is not installed (VDPAU's)."""
    return 'vdpau/vdpau.h' in said and path.name.startswith(('cudaVDPAU', 'cuda_vdpau'))


def check(compiler, root, build, together=False):
    """(all headers, the messages about those that do not compile)"""
    headers = list(headers_of(root, build))
    groups = {}
    for header in headers:
        groups.setdefault(header[0].parent if together else header[1], []).append(header)

    def check_group(group):
        if len(group) > 1 and not compile_alone(compiler, [h[0] for h in group], group[0][2]):
            return []
        said = [(name, path, compile_alone(compiler, [path], choices))
                for path, name, choices in group]
        return [f'{name}:\n{text[:1000]}' for name, path, text in said
                if text and not lacks_library(path, text)]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return headers, sum(pool.map(check_group, groups.values()), [])


PLANTED = {
    'low/good.h': '#pragma once\nstruct good { int a; };\n',
    'low/user.h': '#pragma once\n#include "good.h"\nint use(struct good *g);\n',
    'low/upper.h': '#pragma once\n#include "high.h"\n',
    'low/needs.h': '#pragma once\nint count(size_t n);\n',
    'low/unguarded.h': 'struct again { int a; };\n',
    'low/template.inc.h': 'T f(T);\n',
    'high/high.h': '#pragma once\n#include "good.h"\n',
}


def self_test(compiler):
    global FOLDERS
    FOLDERS = ['low', 'high']
    with tempfile.TemporaryDirectory() as root:
        for name, text in PLANTED.items():
            path = Path(root, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding='utf-8')
        build = Path(root, 'build')
        build.mkdir()
        commands = [{'directory': str(build), 'file': f'../{room}/x.c', 'output': f'{room}/x.o',
                     'command': f'cc {flags} -MF x.d -c ../{room}/x.c'}
                    for room, flags in (('low', '-I../low'), ('high', '-I../high -I../low'))]
        Path(build, 'compile_commands.json').write_text(json.dumps(commands), encoding='utf-8')
        for together in (False, True):
            headers, bad = check(compiler, root, str(build), together)
            names = sorted(b.split(':')[0] for b in bad)
            expected = ['low/needs.h', 'low/unguarded.h', 'low/upper.h']
            if len(headers) != len(PLANTED) - 1 or names != expected:
                print(f'{len(headers)} headers, rejected {names}, expected {expected}')
                sys.exit(1)


compiler_command = sys.argv[1].split()
if sys.argv[2] == '--self-test':
    self_test(compiler_command)
    sys.exit()
seen, rejected = check(compiler_command, os.path.abspath(sys.argv[2]),
                       os.path.abspath(sys.argv[3]), sys.argv[4:] == ['--together'])
print(f'{len(seen)} headers', *rejected, sep='\n')
sys.exit(bool(rejected) or len(seen) < 100)
