#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the exported functions of a library that ships with the driver, such as libnvidia-ml.so.1,
from its table.

    companion.py TABLE --entries OUT    the exported functions
    companion.py TABLE --bodies OUT     the prototypes of the bodies
    companion.py TABLE --map OUT        the linker's version script
    companion.py TABLE --names OUT      the names, sorted
    companion.py TABLE --version MAJOR.MINOR …    for this version of the library

A row is `answer | name | arguments`; an indented line continues the row before it.

answer     -        makes the checks, then returns the library's code for "not supported"
           impl     makes the checks, then calls PREFIX + name
           numbered the same, and it is exported as __name_MAJOR_N for each minor version N, too
           same=X   makes the checks, then calls the body of X, which has the same arguments
           own      the library defines the function by hand
arguments  as in C; `void` for an empty list. An argument with `!` after its name must not be NULL.

`dialect KEY VALUE…` states a fact of the library:

prefix       of the bodies
include      the header with the types
result       the type that all functions return
null         the code for a NULL that is not allowed
unsupported  the code for "not supported"
first        a function without arguments that is called first; it returns a code
handle       TYPE TO FUNCTION CODE: the function translates a handle of this type into TO, which
             the body gets instead; a negative result returns the code
node         the version node of all exported names; without it they have no version. {major} is
             the library's major version
code         a function that all results pass through
"""
import argparse
import re
import sys
from pathlib import Path

HEAD = '// SPDX-License-Identifier: MIT\n// Made by tools/gen/companion.py from {}. Do not edit.\n'


def numbered(rows, version):
    """The rows, and those of the functions' names with a version."""
    for answer, name, arguments in rows:
        yield ('impl' if answer == 'numbered' else answer), name, arguments
        if answer == 'numbered':
            major, minor = version.split('.')
            for n in range(int(minor) + 1):
                yield f'same={name}', f'__{name}_{major}_{n}', arguments


def read(path, version):
    """({key: words}, [(answer, name, [(type, name, checked)])])"""
    dialect, rows, text = {}, [], ''
    for line in Path(path).read_text(encoding='utf-8').splitlines():
        if line.startswith('#') or not line.strip():
            continue
        if line.startswith('dialect '):
            _, key, *words = line.split()
            dialect[key] = words
        elif line.startswith(' '):
            text += ' ' + line.strip()
            rows[-1] = text
        else:
            text = line
            rows.append(text)
    rows = list(numbered([row(path, r) for r in rows], version))
    if 'node' in dialect:
        dialect['node'] = [n.format(major=version.split('.')[0]) for n in dialect['node']]
    names = [name for _, name, _ in rows]
    for answer, name, _ in rows:
        if names.count(name) > 1:
            sys.exit(f'{path}: {name} has two rows')
        if answer.startswith('same=') and answer[5:] not in names:
            sys.exit(f'{path}: {name} names {answer[5:]}, which has no row')
    return dialect, rows


def row(path, text):
    columns = [c.strip() for c in text.split('|')]
    if len(columns) != 3 or not re.fullmatch(r'-|impl|numbered|own|same=\w+', columns[0]):
        sys.exit(f'{path}: not a row: {text}')
    arguments = []
    for argument in [] if columns[2] == 'void' else columns[2].split(','):
        m = re.fullmatch(r'\s*(.*?[ *])(\w+)(!?)\s*', argument)
        if not m:
            sys.exit(f'{path}: {columns[1]}: not an argument: {argument}')
        arguments.append((m[1].strip(), m[2], bool(m[3])))
    return columns[0], columns[1], arguments


def declared(arguments):
    return ', '.join(f'{kind} {name}'.replace('* ', '*') for kind, name, _ in arguments) or 'void'


def body_arguments(dialect, arguments):
    handle = dialect.get('handle')
    return [(handle[1], name, False) if handle and kind == handle[0] else (kind, name, check)
            for kind, name, check in arguments]


def entry(dialect, answer, name, arguments):
    result = dialect['result'][0]
    handle = dialect.get('handle')
    code = f'{dialect["code"][0]}({{}})' if 'code' in dialect else '{}'
    lines, passed = [], []
    if 'first' in dialect:
        lines += [f'    {result} r = {dialect["first"][0]}();', '    if (r)', '        return r;']
    for kind, argument, checked in arguments:
        passed.append(argument)
        if handle and kind == handle[0]:
            passed[-1] = f'{argument}_'
            lines += [f'    const {handle[1]} {argument}_ = {handle[2]}({argument});',
                      f'    if ({argument}_ < 0)', f'        return {handle[3]};']
        elif checked:
            lines += [f'    if (!{argument})', f'        return {code.format(dialect["null"][0])};']
    if answer == '-':
        lines.append(f'    return {dialect["unsupported"][0]};')
    else:
        body = dialect['prefix'][0] + (answer[5:] if answer.startswith('same=') else name)
        call = f'{body}({", ".join(passed)})'
        lines.append(f'    return {code.format(call)};')
    return [f'EXPORT {result} {name}({declared(arguments)});',
            f'EXPORT {result} {name}({declared(arguments)})', '{', *lines, '}', '']


def entries(table, dialect, rows):
    # The headers must not rename functions: here every symbol is meant by its own name.
    out = [HEAD.format(table.name), '#define NVML_NO_UNVERSIONED_FUNC_DEFS',
           '#define NVJITLINK_NO_INLINE',
           '#define CARDLESS_DRIVER',
           f'#include "{bodies_name(table)}"', '',
           '#define EXPORT __attribute__((visibility("default")))', '']
    for answer, name, arguments in rows:
        if answer != 'own':
            out += entry(dialect, answer, name, arguments)
    return out


def bodies_name(table):
    return table.stem + '_bodies.h'


def bodies(table, dialect, rows):
    out = [HEAD.format(table.name), '#pragma once', f'#include <{dialect["include"][0]}>', '']
    result = dialect['result'][0]
    if 'first' in dialect:
        out.append(f'{result} {dialect["first"][0]}(void);')
    if 'code' in dialect:
        out.append(f'{result} {dialect["code"][0]}({result} code);')
    if 'handle' in dialect:
        kind, to, function, _ = dialect['handle']
        out.append(f'{to} {function}({kind} handle);')
    for answer, name, arguments in rows:
        if answer == 'impl':
            body = declared(body_arguments(dialect, arguments))
            out.append(f'{result} {dialect["prefix"][0]}{name}({body});')
    return out + ['']


def main():
    p = argparse.ArgumentParser()
    p.add_argument('table', type=Path)
    p.add_argument('--entries', type=Path)
    p.add_argument('--bodies', type=Path)
    p.add_argument('--map', type=Path)
    p.add_argument('--names', type=Path)
    p.add_argument('--version', default='1.0')
    a = p.parse_args()
    dialect, rows = read(a.table, a.version)
    names = sorted(name for _, name, _ in rows)
    if a.entries:
        a.entries.write_text('\n'.join(entries(a.table, dialect, rows)), encoding='utf-8')
    if a.bodies:
        a.bodies.write_text('\n'.join(bodies(a.table, dialect, rows)), encoding='utf-8')
    if a.map:
        node = ''.join(f'{n} ' for n in dialect.get('node', []))
        a.map.write_text(node + '{\n  global: ' + ' '.join(n + ';' for n in names) +
                         '\n  local: *;\n};\n', encoding='utf-8')
    if a.names:
        a.names.write_text('\n'.join(names) + '\n', encoding='utf-8')


main()
