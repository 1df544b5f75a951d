#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates everything that a table of entry points determines.

The table of the driver is api/table/driver.def, and its head describes the columns. Its `dialect`
lines state the facts in which one API differs from another, so other tables can be generated too.

    api_table.py --entries DIR           entry_0.c … entry_N.c: the exported functions;
                                         description.c: the types of their arguments. With
                                         --beside TABLE, those of another table, too
    api_table.py --calls DIR             calls.c: the same functions called with words, for
                                         `cardless replay`; and its own description.c
    api_table.py --exports FILE          prototypes of the exported functions
    api_table.py --bodies FILE           prototypes of the bodies
    api_table.py --procs FILE            the table that cuGetProcAddress searches
    api_table.py --version-script FILE   the linker's version script
    api_table.py --public HEADER FILE    the function half of a public header
    api_table.py --typedefs HEADER FILE  types of pointers to its functions
    api_table.py --names FILE            every exported name, one a line
    api_table.py --coverage PAGE         the page that lists every entry point (see tools/docs)
    api_table.py --implement NAME…       turn rows to `impl`
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from apigen import coverage, entries, headers  # noqa: E402
from apigen.table import ROOT, Table, write  # noqa: E402


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--table', default=os.path.join(ROOT, 'api', 'table', 'driver.def'))
    p.add_argument('--beside', action='append', default=[], metavar='TABLE',
                   help='whose entry points --entries and --calls generate as well')
    p.add_argument('--root', default=ROOT, help='folder of the headers that the dialect names')
    for name in ('exports', 'bodies', 'procs', 'version-script', 'names', 'coverage'):
        p.add_argument(f'--{name}', metavar='FILE')
    p.add_argument('--entries', metavar='DIR')
    p.add_argument('--calls', metavar='DIR')
    p.add_argument('--public', nargs=2, metavar=('HEADER', 'FILE'))
    p.add_argument('--typedefs', nargs=2, metavar=('HEADER', 'FILE'))
    p.add_argument('--implement', nargs='+', metavar='NAME')
    return p.parse_args()


def main():
    a = arguments()
    if a.implement:
        coverage.implement(a.table, a.implement)
    table = Table(a.table)
    generator = entries.Generator(table, [Table(path) for path in a.beside])
    if a.entries or a.calls:
        try:
            if a.entries:
                generator.write_entries(a.entries, a.root)
            else:
                generator.write_calls(a.calls, a.root)
        except ValueError as e:
            sys.exit(f'{" ".join(generator.facts())}: {e}')
    if a.exports:
        write(a.exports, generator.exports())
    if a.bodies:
        write(a.bodies, generator.bodies())
    if a.procs:
        write(a.procs, generator.procs())
    if a.version_script:
        write(a.version_script, generator.version_script())
    if a.public:
        write(a.public[1], headers.public(table, a.public[0]))
    if a.typedefs:
        write(a.typedefs[1], headers.typedefs(table, a.typedefs[0]))
    if a.names:
        write(a.names, '\n'.join(table.names()) + '\n')
    if a.coverage:
        write(a.coverage, coverage.coverage(table))


if __name__ == '__main__':
    main()
