#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls every entry point with CARDLESS_TRACE and compares the lines with tables and headers.

    trace.py GENERATORS TABLE BESIDE LIBRARY MODE

    fields             pointers lead to zeroed memory: every field that a header declares occurs in
                       the line by its name
    wild               pointers lead nowhere: no call crashes the process
    recorded CARDLESS  the calls of `fields` are recorded, too, and `cardless trace` prints them as
                       the trace does

The calls are made before cuInit, so that no body runs: only entry points whose first check can fail
are called. The names come from the table and the headers; none is written here.
"""
import ctypes
import mmap
import os
import re
import subprocess
import sys
import tempfile

PAGE = mmap.PAGESIZE


def called(generator):
    """Rows whose body cannot be reached before cuInit."""
    return [r for _, r in generator.rows() if 'init' in r.checks and not r.unknown]


def values(row, declarations, pointer):
    """The arguments of a call, as ctypes values: `pointer` for pointers, else 1, so that a list has
    one element. None for a struct that is passed in memory."""
    out = []
    for a in row.arguments:
        if a.by_value(declarations):
            # A struct of two integers travels in one register, as a word does.
            out.append(ctypes.c_ulonglong(1) if a.type == 'CUmemLocation' else None)
        elif a.type == 'float':
            out.append(ctypes.c_float(0.5))
        elif a.type.endswith('*'):
            out.append(ctypes.c_void_p(pointer))
        else:
            out.append(ctypes.c_ulonglong(1))
    return out


def call_all(rows, declarations, library, pointers):
    for row in rows:
        for pointer in pointers:
            given = values(row, declarations, pointer)
            if None not in given:
                library[row.name](*given)


def run_child(arguments, mode, tool=None):
    """The lines of the trace that a child process leaves; with a tool, also what it prints of the
    recorded run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace')
        env = dict(os.environ, CARDLESS_TRACE=path, CARDLESS_DIAGNOSTICS='off')
        if tool:
            env['CARDLESS_RECORD'] = path + '.cardless'
        child = subprocess.run([sys.executable, __file__, *arguments, mode + '-child'], env=env)
        if child.returncode:
            sys.exit(f'the calling process ended with {child.returncode}')
        lines = open(path, encoding='utf-8').read().splitlines()
        if not tool:
            return lines
        shown = subprocess.run([tool, 'trace', path + '.cardless'], check=True, capture_output=True,
                               encoding='utf-8')
        return lines, shown.stdout.splitlines()


def check_recorded(lines, shown):
    """Both have the same calls, word by word."""
    lines = [re.sub(r'^call \d+: ', '', line) for line in lines]
    found = [re.match(r' *[\d.]+ #\d+ (.*) \[[\d.]+ us\] at ', line) for line in shown]
    found = [m[1] for m in found if m]
    for line, other in zip(lines, found):
        if line != other:
            sys.exit(f'trace:    {line}\nrecorded: {other}')
    print(f'{len(lines)} calls in the trace, {len(found)} in the recorded run')
    sys.exit(len(lines) != len(found) or len(lines) < 300)


def names_of(declarations, shapes, type_name, seen=()):
    """Every field that a print of this zeroed type has to mention."""
    record = declarations.records.get(declarations.resolve(type_name))
    if not record or record.name in seen or type_name in shapes.rules.kinds:
        return []
    out = []
    for m in record.members:
        quiet = (m.name, True) in shapes.fields.get(record.name, [])
        if record.kind == 'union' or quiet or not m.name:
            continue
        out.append(m.name)
        if isinstance(m.type, str) and not m.stars:
            out += names_of(declarations, shapes, m.type, seen + (record.name,))
        elif not isinstance(m.type, str) and m.type.kind == 'struct' and not m.array:
            out += [n.name for n in m.type.members if n.name and not n.name.startswith('reserved')]
    return out


def check_fields(generator, lines):
    checks = failures = 0
    found = {re.search(r': (\w+)\(', line).group(1): line for line in lines}
    for row in called(generator):
        if row.name not in found:
            continue
        line = found[row.name]
        for a in row.arguments:
            wanted = [a.name]
            type_name = a.type.replace('const ', '').rstrip(' *')
            if a.type.count('*') == 1 and a.output not in ('>', '>>'):
                wanted += names_of(generator.declarations, generator.shapes, type_name)
            # An output is printed by calls that succeed; here it must have a description.
            name = generator.declarations.resolve(type_name)
            described = name in generator.shapes.fields or type_name in generator.shapes.rules.kinds
            checks += 1
            if name in generator.declarations.records and not described:
                failures += 1
                print(f'{row.name}: {a.name}: {name} has no description')
            for name in wanted:
                checks += 1
                if not re.search(rf'\b{name}=', line):
                    failures += 1
                    print(f'{row.name}: {a.name}: no {name} in: {line}')
    print(f'{checks} checks, {failures} failures, {len(found)} entry points')
    return failures == 0 and len(found) > 300 and checks > 1500


def main():
    generators, path, beside, library, mode, *tool = sys.argv[1:]
    sys.path.insert(0, generators)
    from apigen.entries import Generator
    from apigen.table import ROOT, Table
    generator = Generator(Table(path), [Table(beside)])
    with tempfile.TemporaryDirectory() as folder:
        generator.write_entries(folder, ROOT)
    rows = called(generator)
    if mode.endswith('-child'):
        loaded = ctypes.CDLL(library)
        zeroes = mmap.mmap(-1, 4 * PAGE)
        at = ctypes.addressof(ctypes.c_char.from_buffer(zeroes))
        hole = mmap.mmap(-1, PAGE)
        end = ctypes.addressof(ctypes.c_char.from_buffer(hole)) + PAGE
        pointers = [at]
        if mode == 'wild-child':
            # Page zero, no canonical address, the kernel's, the end of a page, misaligned, and a
            # list that contains its own address.
            ctypes.c_void_p.from_address(at).value = at
            pointers = [8, 0xdead000000000000, 2 ** 64 - 16, end - 1, end - 12, at + 3, at]
        call_all(rows, generator.declarations, loaded, pointers)
        return
    if tool:
        check_recorded(*run_child([generators, path, beside, library], mode, *tool))
    lines = run_child([generators, path, beside, library], mode)
    if mode == 'wild':
        print(f'{len(lines)} calls')
        sys.exit(len(lines) < 2000)
    sys.exit(not check_fields(generator, lines))


if __name__ == '__main__':
    main()
