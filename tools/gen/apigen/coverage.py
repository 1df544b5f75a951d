# SPDX-License-Identifier: MIT
"""The page that lists the entry points, and the switch that turns rows to `impl`."""
import os
import re
import sys

from .table import ROOT

HEAD = '''# What is implemented

Every entry point of the {name} is exported.
One that is not implemented returns `{code}`, and the first call prints a message; no entry point
returns success without doing its work. Generated from `{path}`.

{done} of {all} entry points are implemented.
The `_ptsz` and `_ptds` twins, {twins} of them, share the body of their row.

| chapter of the manual | implemented | not supported |
|---|---:|---:|'''


def coverage(table):
    chapters = {}
    for r in table.rows:
        chapters.setdefault(r.chapter, []).append(r)
    done = sum(table.implemented(r) for r in table.rows)
    name, code = table.dialect.values['coverage']
    out = [HEAD.format(name=name, code=code, path=os.path.relpath(table.path, ROOT), done=done,
                       all=len(table.rows), twins=len(table.names()) - len(table.rows))]
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
    """Turns the rows of these entry points to `impl`."""
    text = open(path, encoding='utf-8').read()
    for name in names:
        text, n = re.subn(rf'^\w+ *( \| {re.escape(name)} )', r'impl       \1', text, flags=re.M)
        if n != 1:
            sys.exit(f'{path}: no row {name}')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
