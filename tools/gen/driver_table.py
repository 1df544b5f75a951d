#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes what the driver's table of entry points (api/table/driver.def, whose head describes the columns) says.

    driver_table.py --entries DIR        entry_0.c … entry_N.c: the exported functions
    driver_table.py --exports FILE       prototypes of the exported functions
    driver_table.py --bodies FILE        prototypes of the bodies api_NAME, and API_HAS_NAME for each that exists
    driver_table.py --procs FILE         the table behind cuGetProcAddress
    driver_table.py --public HEADER FILE the function half of a public header
    driver_table.py --names FILE         every exported name, one a line
    driver_table.py --coverage PAGE      the page of the manual that lists every entry point (tools/docs)
    driver_table.py --implement NAME…    turn rows to `impl`
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, 'api', 'table', 'driver.def')
PARTS = 4  # how many entry_N.c: each compiles for itself, so a build can use several cores
GENERATED = '// SPDX-License-Identifier: MIT\n// Made by tools/gen/driver_table.py from api/table/driver.def; change those.\n'

ANSWERS = ('unsupported', 'impl', 'same', 'narrow', 'declared')
CHECKS = ('init', 'ctx', 'ctx?', 'cur', 'null', 'own', 'stream')
CAPTURE = ('node', 'legacy', 'never', 'unsafe')
FLAGS = ('ptsz', 'ptds', 'default', 'old', 'deprecated', 'is', 'as')
# The oldest per-thread twins came with CUDA 7.0; cuGetProcAddress knows none from before.
FIRST_TWIN = 7000


class Argument:
    def __init__(self, text):
        marks = re.search('[!@#]*$', text).group()
        self.mark = marks.strip('#')
        # A stream that the wrapper resolves; '##': the body gets the handle too.
        self.stream, self.handle_too = '#' in marks, '##' in marks
        text = text.rstrip('!@#').strip()
        array = re.fullmatch(r'(.*)\[(\w+)\]', text)
        self.count = array.group(2) if array else None
        text = array.group(1) if array else text
        found = re.fullmatch(r'(.*?)(\w+)', text)
        if not found:
            raise ValueError(f'cannot read argument "{text}"')
        self.type, self.name = found.group(1).strip(), found.group(2)
        self.text = text
        if self.stream and self.type not in ('CUstream', 'CUstream *'):
            raise ValueError(f'{self.name}: only a stream can be marked with #')

    def body_text(self):
        """The parameter of the body."""
        if not self.stream:
            return self.text
        handle = f', CUstream {self.name}_handle' if self.handle_too else ''
        return f'struct em_stream *{self.name}{handle}'

    def kind(self):
        """How the trace prints it: one letter, read by emulator/core/trace.c."""
        t = self.type.replace('const ', '').replace(' ', '')
        if t == 'char*' and self.type.startswith('const'):
            return 's'
        if t.endswith('*') or t.endswith('_st*'):
            return 'p'
        if t in BY_VALUE:
            return 'v'
        if t == 'float':
            return 'f'
        if t in HANDLES:
            return 'h'
        if t.startswith('CUdeviceptr'):
            return 'a'
        if t in ('unsignedlonglong', 'unsignedint', 'unsigned', 'cuuint64_t', 'cuuint32_t') and re.search('flags?$', self.name, re.I):
            return 'x'
        if t in ('size_t', 'unsignedint', 'unsigned', 'unsignedlonglong', 'cuuint32_t', 'cuuint64_t', 'unsignedchar', 'unsignedshort',
                 'GLuint', 'VdpDevice', 'VdpVideoSurface', 'VdpOutputSurface', 'CUlogIterator'):
            return 'u'
        if t == 'GLenum':
            return 'x'
        if t in CALLBACKS:
            return 'p'
        return 'i'  # int, CUdevice, enumerations


BY_VALUE = {'CUmemLocation', 'CUipcMemHandle', 'CUipcEventHandle', 'CUeglFrame', 'CUdevResource'}
CALLBACKS = {'CUstreamCallback', 'CUhostFn', 'CUasyncCallback', 'CUlogsCallback', 'CUoccupancyB2DSize', 'EGLImageKHR', 'EGLStreamKHR'}
HANDLES = {'CUcontext', 'CUmodule', 'CUfunction', 'CUlibrary', 'CUkernel', 'CUarray', 'CUmipmappedArray', 'CUtexref', 'CUsurfref',
           'CUevent', 'CUstream', 'CUgraphicsResource', 'CUtexObject', 'CUsurfObject', 'CUexternalMemory', 'CUexternalSemaphore',
           'CUgraph', 'CUgraphNode', 'CUgraphExec', 'CUmemoryPool', 'CUuserObject', 'CUgraphConditionalHandle', 'CUgraphDeviceNode',
           'CUasyncCallbackHandle', 'CUgreenCtx', 'CUdevResourceDesc', 'CUlinkState', 'CUmemGenericAllocationHandle',
           'CUlogsCallbackHandle'}


def split_arguments(text):
    """Splits at the commas that are not inside parentheses."""
    out, depth, now = [], 0, ''
    for c in text:
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            out.append(now)
            now = ''
        else:
            now += c
    return [a.strip() for a in out + [now]]


class Row:
    def __init__(self, line, chapter, header):
        columns = [c.strip() for c in line.split('|')]
        if len(columns) != 7:
            raise ValueError('a row has 7 columns')
        self.answer, self.name, since, checks, capture, flags, arguments = columns
        self.chapter, self.header = chapter, header
        if self.answer not in ANSWERS:
            raise ValueError(f'unknown answer "{self.answer}"')
        if not re.fullmatch(r'cu[A-Z]\w*', self.name):
            raise ValueError(f'"{self.name}" is no name of an entry point')
        self.since = None if since == '-' else int(since)
        self.checks = [] if checks == '-' else checks.split()
        for c in self.checks:
            if c not in CHECKS:
                raise ValueError(f'unknown check "{c}"')
        self.capture = None if capture == '?' else [] if capture == '-' else capture.split()
        for c in self.capture or []:
            if c not in CAPTURE:
                raise ValueError(f'unknown word about capture "{c}"')
        self.flags = {}
        for f in [] if flags == '-' else flags.split():
            key, _, value = f.partition('=')
            if key not in FLAGS or (key in ('is', 'as')) != bool(value):
                raise ValueError(f'unknown flag "{f}"')
            self.flags[key] = value or True
        self.unknown = arguments == '?'
        self.arguments = [] if arguments in ('void', '?') else [Argument(a) for a in split_arguments(arguments)]
        for a in self.arguments:
            if a.count and a.count not in [b.name for b in self.arguments]:
                raise ValueError(f'{a.name}[{a.count}]: there is no such argument')
        marked = any(a.mark for a in self.arguments)
        if marked != ('null' in self.checks):
            raise ValueError('`null` is among the checks if and only if an argument is marked')
        self.streams = [a for a in self.arguments if a.stream]
        if bool(self.streams) != ('stream' in self.checks):
            raise ValueError('`stream` is among the checks if and only if an argument is marked with #')
        if (self.answer in ('same', 'narrow')) != ('as' in self.flags):
            raise ValueError('`same` and `narrow` go with as=NAME')
        if self.unknown and self.answer != 'unsupported':
            raise ValueError('a row without a prototype cannot be implemented')
        if 'ptsz' in self.flags and not self.streams and self.name not in STREAM_INSIDE:
            raise ValueError('a `_ptsz` twin needs a stream argument')
        self.base = re.sub(r'_v\d$', '', self.name)

    @property
    def twin(self):
        return 'ptsz' if 'ptsz' in self.flags else 'ptds' if 'ptds' in self.flags else None

    def c_arguments(self):
        return ', '.join(a.text for a in self.arguments) or 'void'

    def marked(self):
        return [a for a in self.arguments if a.mark == '@'] + [a for a in self.arguments if a.mark == '!']


# These carry their stream inside a structure; the body gets the default stream as its last argument, as with `_ptds`.
STREAM_INSIDE = {'cuLaunchKernelEx', 'cuGraphInstantiateWithParams'}


def logical_lines(path):
    """Lines with their numbers, without comments; indented lines continue the one before."""
    first, text = 0, ''
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if line[0].isspace() and line.strip():
            text += ' ' + line.strip()
            continue
        if text:
            yield first, text
        first, text = number, '' if line.startswith('#') else line.strip()
    if text:
        yield first, text


class Table:
    def __init__(self, path):
        self.rows, self.by_name, self.declared = [], {}, []
        chapter = header = None
        for number, line in logical_lines(path):
            try:
                if line.startswith('chapter '):
                    chapter, header = [c.strip() for c in line[len('chapter '):].split('|')]
                    continue
                row = Row(line, chapter, header)
                if row.name in self.by_name:
                    raise ValueError(f'{row.name} has two rows')
                (self.declared if row.answer == 'declared' else self.rows).append(row)
                self.by_name[row.name] = row
            except ValueError as e:
                sys.exit(f'{path}:{number}: {e}')
        for row in self.rows:
            target = row.flags.get('as')
            if target and target not in self.by_name:
                sys.exit(f'{path}: {row.name}: as={target} is no row')

    def implemented(self, row):
        """Whether a call of this row reaches a body."""
        return row.answer == 'impl' or 'as' in row.flags and self.implemented(self.by_name[row.flags['as']])

    def body(self, row):
        return self.body(self.by_name[row.flags['as']]) if row.answer == 'same' else row.name

    def names(self):
        return sorted([r.name for r in self.rows] + [f'{r.name}_{r.twin}' for r in self.rows if r.twin])


def takes_default_stream(table, row):
    if row.answer == 'narrow':
        return takes_default_stream(table, table.by_name[row.flags['as']])
    return row.twin == 'ptds' or row.name in STREAM_INSIDE or 'default' in row.flags


def body_arguments(table, row):
    extra = ['struct em_stream *default_stream'] if takes_default_stream(table, row) else []
    return ', '.join([a.body_text() for a in row.arguments] + extra) or 'void'


CHECK_CALLS = {
    'init': 'em_thread_need_init(self)',
    'ctx': 'em_thread_need_context(self)',
    'ctx?': 'em_thread_need_context_if_any(self)',
    'cur': 'em_thread_need_current(self)',
}


def trace_value(argument):
    kind = argument.kind()
    if kind == 'v':
        return '0'
    if kind == 'f':
        return f'em_trace_float({argument.name})'
    if argument.type.endswith('*') or kind in 'hp':
        return f'(uintptr_t){argument.name}'
    return f'(uint64_t){argument.name}'


def check_lines(row, check):
    """One check of the column `checks`, but for `own` and `stream`."""
    if check != 'null':
        return ['    if (!r)', f'        r = {CHECK_CALLS[check]};']
    lines = []
    for a in row.marked():
        refuse = 'em_null_handle' if a.mark == '@' else 'em_null'
        lines += [f'    if (!r && !{a.name})', f'        r = {refuse}("{a.name}");']
    return lines


def own_lines(row):
    given = ', '.join(a.name for a in row.arguments if not a.stream)
    return ['    if (!r)', f'        r = api_check_{row.name}({given});']


def readable_lines(row):
    lines = []
    for a in row.arguments:
        if a.count:
            lines += ['    if (!r)', f'        r = em_readable("{a.name}", {a.name}, {a.count}, sizeof *{a.name});']
    return lines


def stream_handle(argument, twin):
    handle = f'({argument.name} ? *{argument.name} : NULL)' if argument.type.endswith('*') else argument.name
    return f'em_per_thread({handle})' if twin == 'ptsz' else handle


def wrapper(table, row, twin):
    name = f'{row.name}_{twin}' if twin else row.name
    implemented = table.implemented(row)
    target = table.by_name[table.body(row)]
    lines = [f'EM_EXPORT CUresult {name}({row.c_arguments()})', '{']
    described = ' '.join(f'{a.name}:{a.kind()}' for a in row.arguments)
    capture = ' | '.join(f'EM_CAPTURE_{c.upper()}' for c in row.capture or []) or '0'
    lines.append(f'    static const struct em_entry entry = {{"{name}", "{described}", {capture}}};')
    streams = [(f'{a.name}_stream', stream_handle(a, twin)) for a in row.streams] if implemented else []
    if implemented and takes_default_stream(table, target):
        streams.append(('default_stream', 'CU_STREAM_PER_THREAD' if twin else 'CU_STREAM_LEGACY'))
    if not implemented:
        lines.append('    static bool said;')
    for stream, _ in streams:
        lines.append(f'    struct em_stream *{stream} = NULL;')
    lines.append('    struct em_thread *self = em_thread();')
    lines.append('    const struct em_entry *outer = em_begin(self, &entry);')
    lines.append('    CUresult r = CUDA_SUCCESS;')
    for check in row.checks:
        if check not in ('own', 'stream'):
            lines += check_lines(row, check)
    if implemented:
        lines += readable_lines(row)
        if 'own' in row.checks:
            lines += own_lines(target)
        for stream, handle in streams:
            lines += ['    if (!r)', f'        r = api_open_stream(&entry, {handle}, &{stream});']
    given = []
    for a in row.arguments:
        given.append(f'{a.name}_stream' if a.stream else a.name)
        if a.handle_too:
            given.append(stream_handle(a, twin))
    if implemented and takes_default_stream(table, target):
        given.append('default_stream')
    lines.append('    if (!r)')
    if implemented:
        lines.append(f'        r = api_{target.name}({", ".join(given)});')
    else:
        lines.append('        r = em_unsupported(&entry, &said);')
    for stream, _ in reversed(streams):
        lines += [f'    if ({stream})', f'        em_stream_put({stream});']
    if implemented and 'own' in row.checks:
        lines += ['    if (r == API_DONE)', '        r = CUDA_SUCCESS;']
    lines.append('    if (em_unlikely(em_tracing))')
    values = ', '.join(trace_value(a) for a in row.arguments) or '0'
    lines.append(f'        em_trace(&entry, r, (const uint64_t[]){{{values}}});')
    lines.append('    return em_end(self, outer, r);')
    lines.append('}')
    return '\n'.join(lines) + '\n'


def prototype(row, name, prefix=''):
    return f'{prefix}CUresult {name}({row.c_arguments()});'


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def exported(row):
    return [(row.name, None)] + ([(f'{row.name}_{row.twin}', row.twin)] if row.twin else [])


def write_entries(table, folder):
    per_part = -(-len(table.rows) // PARTS)
    for part in range(PARTS):
        rows = table.rows[part * per_part:(part + 1) * per_part]
        text = GENERATED + '#include "entry.h"\n\n'
        text += '\n'.join(wrapper(table, row, twin) for row in rows for _, twin in exported(row))
        write(os.path.join(folder, f'entry_{part}.c'), text)


def write_exports(table, path):
    text = GENERATED + '#pragma once\n#include "foreign_types.h"\n\n'
    text += ''.join(prototype(row, name) + '\n' for row in table.rows for name, _ in exported(row))
    write(path, text)


def write_bodies(table, path):
    text = GENERATED + '#pragma once\n#include "foreign_types.h"\n\nstruct em_stream;\n\n'
    text += '// What api_check_NAME returns if the call is complete without its stream.\n'
    text += '#define API_DONE ((CUresult)-1)\n\n'
    for row in table.rows:
        if row.answer in ('unsupported', 'same'):
            continue
        if table.implemented(row):
            text += f'#define API_HAS_{row.name} 1\nCUresult api_{row.name}({body_arguments(table, row)});\n'
            if 'own' in row.checks:
                own = ', '.join(a.text for a in row.arguments if not a.stream)
                text += f'CUresult api_check_{row.name}({own});\n'
        else:
            text += f'#define API_HAS_{row.name} 0\n'
    write(path, text)


def write_procs(table, path):
    """Rows sorted by base name, and of one base name from the newest to the oldest."""
    rows = sorted((r for r in table.rows if r.since is not None), key=lambda r: (r.base, -r.since))
    text = GENERATED + '#define CARDLESS_DRIVER\n#include "proc.h"\n#include "api_exports.h"\n'
    text += '\nconst struct api_proc api_procs[] = {\n'
    for r in rows:
        twin = f'(void *){r.name}_{r.twin}, {max(r.since, FIRST_TWIN)}' if r.twin else 'NULL, 0'
        text += f'    {{"{r.base}", (void *){r.name}, {r.since}, {twin}}},\n'
    text += '};\nconst size_t api_proc_count = sizeof api_procs / sizeof *api_procs;\n'
    write(path, text)


def public_rows(table, header):
    return [r for r in table.rows + table.declared if r.header == header and 'old' not in r.flags]


def write_public(table, header, path):
    rows = public_rows(table, header)
    guard = 'CARDLESS_' + re.sub(r'\W', '_', header.upper()) + '_FUNCTIONS'
    out = [GENERATED + f'#ifndef {guard}', f'#define {guard}', '#ifndef CARDLESS_DRIVER', '']
    out += ['#if defined(__CUDA_API_VERSION_INTERNAL) || defined(CUDA_ENABLE_DEPRECATED)', '#define CARDLESS_DEPRECATED',
            '#elif defined(__GNUC__)', '#define CARDLESS_DEPRECATED __attribute__((deprecated))', '#else', '#define CARDLESS_DEPRECATED',
            '#endif', '']
    # A name stands for its newest form, and with CUDA_API_PER_THREAD_DEFAULT_STREAM for that form's twin.
    out += ['#if defined(__CUDA_API_VERSION_INTERNAL)']
    out += ['/* Every form under its own name. */']
    old = [r for r in table.rows + table.declared if r.header == header and not r.unknown]
    inner = []
    for r in old:
        inner.append(prototype(r, r.name))
        if r.twin:
            inner.append(prototype(r, f'{r.name}_{r.twin}'))
    moved, plain = [], []
    for r in rows:
        name = r.flags.get('is')
        if name:
            moved.append((name, r))
        elif r.twin:
            plain.append((r.name, r))
    out += ['#else', '#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)']
    out += [f'#define {name} {r.name}_{r.twin}' if r.twin else f'#define {name} {r.name}' for name, r in moved + plain]
    out += ['#else']
    out += [f'#define {name} {r.name}' for name, r in moved]
    out += ['#endif', '#endif', '']
    out += ['#ifdef __cplusplus', 'extern "C" {', '#endif']
    out += ['#if defined(__CUDA_API_VERSION_INTERNAL)']
    if header == 'cuda.h':
        out += ['#include "cardless/abi/old_types.h"']
    out += inner + ['#else']
    for r in rows:
        out.append(prototype(r, r.flags.get('is') or r.name, 'CARDLESS_DEPRECATED ' if 'deprecated' in r.flags else ''))
    out += ['#endif', '#ifdef __cplusplus', '}', '#endif', '']
    if header == 'cuda.h':
        out += ['#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(__CUDA_API_VERSION_INTERNAL)',
                '/* A program built for per-thread default streams gets per-thread functions unless it asks for the others. */',
                'static inline CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,',
                '                                                CUdriverProcAddressQueryResult *symbolStatus)',
                '{',
                '    if (!(flags & (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))',
                '        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;',
                '    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);',
                '}',
                '#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz',
                '#endif']
    out += ['#undef CARDLESS_DEPRECATED', '#endif', '#endif', '']
    write(path, '\n'.join(out))


def coverage(table):
    chapters = {}
    for r in table.rows:
        chapters.setdefault(r.chapter, []).append(r)
    done = sum(table.implemented(r) for r in table.rows)
    out = ['# What is implemented', '',
           'Every entry point of the driver is exported. One that is not implemented returns `CUDA_ERROR_NOT_SUPPORTED` and says so',
           'once; no entry point returns success without doing its work. Made from `api/table/driver.def`.', '',
           f'{done} of {len(table.rows)} entry points are implemented (`_ptsz` and `_ptds` twins, {len(table.names()) - len(table.rows)} of them,',
           'share the body of their row).', '', '| chapter of the manual | implemented | answered not-supported |', '|---|---:|---:|']
    for chapter, rows in chapters.items():
        n = sum(table.implemented(r) for r in rows)
        out.append(f'| {chapter} | {n} | {len(rows) - n} |')
    for chapter, rows in chapters.items():
        out += ['', f'## {chapter}', '']
        for title, want in (('Implemented', True), ('Not supported', False)):
            names = [r.name for r in rows if table.implemented(r) == want]
            if names:
                out += [f'{title}:', ''] + [f'- `{n}`' for n in names] + ['']
        out.pop()
    return '\n'.join(out) + '\n'


def implement(path, names):
    text = open(path, encoding='utf-8').read()
    for name in names:
        text, n = re.subn(rf'^\w+ *( \| {re.escape(name)} )', r'impl       \1', text, flags=re.M)
        if n != 1:
            sys.exit(f'{path}: no row {name}')
    write(path, text)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--table', default=TABLE)
    p.add_argument('--entries', metavar='DIR')
    p.add_argument('--exports', metavar='FILE')
    p.add_argument('--bodies', metavar='FILE')
    p.add_argument('--procs', metavar='FILE')
    p.add_argument('--public', nargs=2, metavar=('HEADER', 'FILE'))
    p.add_argument('--names', metavar='FILE')
    p.add_argument('--coverage', metavar='PAGE')
    p.add_argument('--implement', nargs='+', metavar='NAME')
    a = p.parse_args()
    if a.implement:
        implement(a.table, a.implement)
    table = Table(a.table)
    if a.entries:
        write_entries(table, a.entries)
    if a.exports:
        write_exports(table, a.exports)
    if a.bodies:
        write_bodies(table, a.bodies)
    if a.procs:
        write_procs(table, a.procs)
    if a.public:
        write_public(table, *a.public)
    if a.names:
        write(a.names, '\n'.join(table.names()) + '\n')
    if a.coverage:
        write(a.coverage, coverage(table))


if __name__ == '__main__':
    main()
