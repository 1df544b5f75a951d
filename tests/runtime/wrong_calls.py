#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes, for each call of the runtime, a function that makes it with arguments by number, and the
names that its messages may and must not contain; and which of its arguments lead to structures that
it reads. wrong_calls.py RUNTIME.def DRIVER.def INCLUDE OUT

The names that must not appear are those of the arguments of all driver calls, and of the members of
the driver's structs, except those that the call itself or a struct of the runtime also has."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/gen'))
from apigen.declarations import Declarations  # noqa: E402
from apigen.entries import Generator  # noqa: E402
from apigen.table import ROOT, Table, write  # noqa: E402

# Calls that end what the other calls need, that wait for more than an error, or whose purpose is
# another library.
LEFT_OUT = {'cudaDeviceReset', 'cudaThreadExit'}
HANDLES = {'cudaStream_t': 'STREAM', 'cudaEvent_t': 'EVENT', 'cudaGraph_t': 'GRAPH',
           'cudaGraphExec_t': 'EXEC', 'cudaGraphNode_t': 'NODE', 'cudaArray_t': 'ARRAY',
           'cudaArray_const_t': 'ARRAY', 'cudaMipmappedArray_t': 'MIPMAPPED',
           'cudaMipmappedArray_const_t': 'MIPMAPPED', 'cudaMemPool_t': 'POOL',
           'cudaKernel_t': 'KERNEL', 'cudaLibrary_t': 'LIBRARY', 'cudaFunction_t': 'KERNEL',
           'cudaTextureObject_t': 'TEXTURE', 'cudaSurfaceObject_t': 'SURFACE',
           'cudaUserObject_t': 'OBJECT'}
CALLBACKS = ('cudaHostFn_t', 'cudaStreamCallback_t', 'cudaAsyncCallback', 'cudaLogsCallback_t')


def kind(argument):
    t = argument.type
    if t in HANDLES:
        return HANDLES[t]
    if t in CALLBACKS or t == 'VdpGetProcAddress *':
        return 'CALLBACK'
    if t in ('void *', 'const void *'):
        return 'ADDRESS'
    if t.endswith('*'):
        return 'POINTER'
    return 'VALUE'


def all_members(declarations, type_, out):
    """The names of the members of a struct, and of the structs in it."""
    if isinstance(type_, str):
        name = re.sub(r'^(const|struct|union|enum)\s+|\bconst\b|[\s*]+$', '', type_).strip()
        name = re.sub(r'^(struct|union|enum)\s+', '', name)
        for one in (name, declarations.resolve(name), name + '_st'):
            type_ = declarations.records.get(one, type_)
    if isinstance(type_, str) or id(type_) in out['seen']:
        return
    out['seen'].add(id(type_))
    for m in type_.members:
        out['names'].add(m.name)
        all_members(declarations, m.type, out)


class Tags(Declarations):
    """Declarations that know structs by their tags, too."""

    def record(self, kind, tag):
        found = super().record(kind, tag)
        if tag:
            self.records.setdefault(tag, found)
        return found


def main():
    runtime, driver, include, out = sys.argv[1:]
    table, below = Table(runtime), Table(driver)
    theirs = {a.name for r in below.rows + below.declared for a in r.arguments}
    driver_types = Tags(glob.glob(os.path.join(include, 'cardless/abi/*.h')))
    types = Tags(sorted(glob.glob(os.path.join(include, 'cardless/runtime/*.h'))) +
                 [os.path.join(include, 'vector_types.h')])
    theirs |= {m.name for r in driver_types.records.values() for m in r.members}
    text = table.notice()
    rows = [r for r in table.rows if r.answer == 'impl' and r.gives_error and r.is_public and
            r.name not in LEFT_OUT and 'direct' not in r.flags]
    for r in rows:
        text += f'\nstatic cudaError_t call_{r.name}(const unsigned char *choice)\n{{\n'
        for i, a in enumerate(r.arguments):
            text += f'    {a.type} {"" if a.type.endswith("*") else ""}a{i};\n' \
                f'    pick(&a{i}, sizeof a{i}, {kind(a)}, choice[{i}]);\n'
        names = ', '.join(f'a{i}' for i in range(len(r.arguments)))
        text += '' if r.arguments else '    (void)choice;\n'
        text += f'    return {r.name}({names});\n}}\n'
    generator = Generator(table)
    generator.describe(ROOT)
    text += '\nstatic const struct call calls[] = {\n'
    for r in rows:
        mine = {'names': {a.name for a in r.arguments}, 'seen': set()}
        for a in r.arguments:
            all_members(types, a.type, mine)
        kinds = ', '.join(kind(a) for a in r.arguments) or '0'
        read = re.findall(r'_readable\w*\("(\w+)"', '\n'.join(generator.pointer_lines(r)))
        wild = sum(1 << i for i, a in enumerate(r.arguments) if a.name in read or
                   generator.output_of(r, a) and not a.points_to_const and kind(a) != 'CALLBACK')
        in_order = ', '.join(f'"{a.name}"' for a in r.arguments) or '0'
        text += f'    {{"{r.name}", call_{r.name}, {len(r.arguments)}, {wild:#x}, {{{kinds}}}, ' \
            f'{{{in_order}}}, " {" ".join(sorted(mine["names"]))} "}},\n'
    text += '};\n\nstatic const char *const foreign[] = {\n'
    text += ''.join(f'    "{n}",\n' for n in sorted(theirs) if n) + '};\n'
    write(out, text)


main()
