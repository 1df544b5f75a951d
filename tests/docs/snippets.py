#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles and runs the C programs of the manual.

A comment before each C block says what the program does when it runs, and this test checks it:

    <!-- first.c: exits 0, prints "0x5a" and reports "cuMemFree_v2" -->

`prints` is a text on standard output, `reports` one on standard error; without `reports` the
program must leave standard error empty. A C block without such a comment is a failure.

Comments before blocks of text say that they show a program of the same page: its standard output,
its standard error (with other line breaks), or the drawing of `cardless step`:

    <!-- output of first -->    <!-- report of first -->    <!-- step of first: --lines 9-12 -->

It also runs the commands that preload a table of kernels, as the page prints them.

  snippets.py ROOT CARDLESS BUILD COMPILER…
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT, CARDLESS, BUILD, COMPILER = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
MARKER = r'<!-- (\w+\.c): exits (\d+)(?:, prints "([^"]*)")?(?: and reports "([^"]*)")? -->\n'
BLOCK = re.compile(rf'(?:{MARKER})?```c\n(.*?)^```', re.M | re.S)


SHOWN = re.compile(
    r'<!-- (output|report|step) of (\w+)(?:: (.*))? -->\n```text\n(.*?)^```$', re.M | re.S
)


def pages():
    yield os.path.join(ROOT, 'README.md')
    for folder, _, files in os.walk(os.path.join(ROOT, 'docs')):
        if os.path.basename(folder) not in ('generated', 'learn'):  # the test 'docs learn' has them
            yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith('.md'))


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def failures(name, status, out, err, code, folder):
    source, program = os.path.join(folder, name), os.path.join(folder, name[:-2])
    with open(source, 'w', encoding='utf-8') as f:
        f.write(code)
    built = run(
        *COMPILER,
        '-Wall',
        '-Wextra',
        '-Werror',
        source,
        '-o',
        program,
        '-I' + os.path.join(BUILD, 'include'),
        '-L' + os.path.join(BUILD, 'lib'),
        '-lcuda',
    )
    if built.returncode:
        yield f'does not compile:\n{built.stderr}'
        return
    ran = run(CARDLESS, 'run', '--', program)
    if ran.returncode != int(status):
        yield f'exits {ran.returncode}, not {status}\n{ran.stdout}{ran.stderr}'
    if out and out not in ran.stdout:
        yield f'does not print "{out}":\n{ran.stdout}'
    if err and err not in ran.stderr:
        yield f'does not report "{err}":\n{ran.stderr}'
    if not err and ran.stderr:
        yield f'reports:\n{ran.stderr}'


def drawing(program, options):
    with tempfile.NamedTemporaryFile('r', encoding='utf-8') as out:
        r = run(CARDLESS, 'step', *shlex.split(options), '--output', out.name, '--', program)
        return re.sub(r' +$', '', out.read(), flags=re.M) or str(r)


def shown_failures(text, folder):
    """The blocks of text on a page that do not show its programs as they are."""
    for kind, name, options, block in SHOWN.findall(text):
        program = os.path.join(folder, name)
        if kind == 'step':
            is_same = block == (got := drawing(program, options))
        else:
            r = run(CARDLESS, 'run', '--', program)
            got = r.stdout if kind == 'output' else r.stderr
            is_same = block == got if kind == 'output' else block.split() == got.split()
        if not is_same:
            yield f'the {kind} of {name} is:\n{got}'


KERNELS = 'docs/how-to/test-code-that-launches-kernels.md'
# A kernel that changes nothing: the sum is right only if the table is loaded in its place.
TEXT = (
    '".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry scale('
    '.param .u64 a, .param .u32 b, .param .u32 c) { ret; }\\n"'
)


def preload_failures(folder):
    """The page's commands, with its kernels and a program that loads PTX text."""
    with open(os.path.join(ROOT, KERNELS), encoding='utf-8') as f:
        page = f.read()
    code = next(code for name, *_, code in BLOCK.findall(page) if name == 'scale_on_host.c')
    constructor = re.search(r'^    __attribute__\(\(constructor.*?^    }$', page, re.M | re.S)
    commands = re.search(r'^    cc (-shared.*)\n    (.*\./program)$', page, re.M)
    if not constructor or not commands or '&module, &table' not in code:
        yield 'the page has no constructor, commands or table'
        return
    table = code.split('// The code under test.')[0]
    for name, text in (
        ('kernels.c', table + constructor[0]),
        ('program.c', code.replace('&module, &table', '&module, ' + TEXT)),
    ):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text + '\n')
    os.symlink(BUILD, os.path.join(folder, 'build'))
    cc = shlex.join(COMPILER)
    program = f'{cc} program.c -Ibuild/include -Lbuild/lib -lcuda -o program'
    plain = 'build/tools/cardless/cardless run -- ./program'
    for command, expected in (
        (program, ''),
        (plain, 'sum 4950'),
        (f'{cc} {commands[1]}', ''),
        (commands[2], 'sum 9900'),
    ):
        r = run('sh', '-c', f'cd {shlex.quote(folder)} && {command}')
        if r.returncode or r.stdout.strip() != expected:
            yield f'{command}: exits {r.returncode}, prints "{r.stdout}"\n{r.stderr}'


count = bad = 0
with tempfile.TemporaryDirectory() as scratch:
    for page in pages():
        with open(page, encoding='utf-8') as f:
            text = f.read()
        blocks = BLOCK.findall(text)
        for name, status, out, err, code in blocks:
            count += 1
            found = (
                list(failures(name, status, out, err, code, scratch))
                if name
                else ['a C block has no comment that says what it does']
            )
            for failure in found:
                print(f'{os.path.relpath(page, ROOT)}: {name}: {failure}')
                bad += 1
        for failure in shown_failures(text, scratch):
            print(f'{os.path.relpath(page, ROOT)}: {failure}')
            bad += 1
with tempfile.TemporaryDirectory() as scratch:
    for failure in preload_failures(scratch):
        print(f'{KERNELS}: {failure}')
        bad += 1
print(f'{count} programs, {bad} failures')
sys.exit(bool(bad) or not count)
