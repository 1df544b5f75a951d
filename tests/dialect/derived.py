#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A table that states differences from another one: which functions it exports, and whose bodies
they call. derived.py API_TABLE FOLDER"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

script, folder = sys.argv[1], Path(sys.argv[2])
failed = 0


def check(name, good, got=''):
    global failed
    failed += not good
    print('ok' if good else f'not ok: {got}', name)


def generate(table, *options):
    return subprocess.run([sys.executable, script, '--table', table, '--root', folder, *options],
                          capture_output=True, text=True)


with tempfile.TemporaryDirectory() as place:
    out = Path(place)
    r = generate(folder / 'toy_old.def', '--names', out / 'names', '--bodies', out / 'bodies.h',
                 '--version-script', out / 'map', '--entries', out)
    check('generates', not r.returncode, r.stderr)
    names = (out / 'names').read_text().split()
    check('names', names == ['toyOpen', 'toyPack', 'toyPackOld', 'toyPack_ptsz', 'toyPack_v2',
                             'toyPack_v2_ptsz', 'toyPutIn'], names)
    check('version', (out / 'map').read_text().startswith('TOY_0.9 {'))
    bodies = (out / 'bodies.h').read_text()
    entries = ''.join((out / f'entry_{i}.c').read_text() for i in range(4))
    # The bodies of the base table stay, also those of rows that are not exported.
    check('bodies', re.findall(r'toyError (toy_\w+)\(', bodies) == [
        'toy_body_toyOpen', 'toy_body_toyPack', 'toy_old_toyPack'], bodies)
    calls = dict(re.findall(r'TOY_EXPORT toyError (\w+)\(.*?r = (toy_(?:body|old)_toy\w+)\(',
                            entries, re.S))
    check('calls', calls == {
        'toyOpen': 'toy_body_toyOpen', 'toyPack_v2': 'toy_body_toyPack',
        'toyPack_v2_ptsz': 'toy_body_toyPack', 'toyPackOld': 'toy_body_toyPack',
        'toyPutIn': 'toy_body_toyPack', 'toyPack': 'toy_old_toyPack',
        'toyPack_ptsz': 'toy_old_toyPack'}, calls)

    for lines, message in {
        'without toyNothing': 'toyNothing is no row of the base table',
        'renamed toyNothing toyOther': 'toyNothing is no row of the base table',
        'renamed toyFly toyPack': 'or toyPack is one already',
        'impl | toyFly | 1000 | awake | - | - | int height': 'toyFly has two rows',
        'without toyFly\nwithout toyFly': 'toyFly is no row of the base table',
    }.items():
        wrong = out / 'wrong.def'
        wrong.write_text(f'dialect base {folder / "toy.def"}\ndialect body toy_old_\n'
                         f'chapter Boxes | toy.h\n{lines}\n', encoding='utf-8')
        r = generate(wrong, '--names', out / 'names')
        check(repr(lines), r.returncode and message in r.stderr, r.stderr)
sys.exit(failed)
