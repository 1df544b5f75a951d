#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `cardless replay`.

  replay.py CARDLESS PROGRAM TRACED"""
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
TOOL, PROGRAM, TRACED = map(os.path.abspath, sys.argv[1:4])
BLOCK_B, WINDOW, CHUNK, RETURN = 64 << 10, 1, 2, 7


def run(*arguments, status=0):
    r = subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=100)
    assert r.returncode == status, (arguments, r.returncode, r.stdout, r.stderr)
    return r.stdout


def record(folder, name, *program, options=('--trace-contents',)):
    path = os.path.join(folder, name + '.cardless')
    run('run', '--diagnostics', 'off', '--trace', path, *options, '--', *program)
    return path


def all_same(text):
    made, same = map(int, re.search(r'^(\d+) calls .*, and (\d+) of them have', text,
                                    re.M).groups())
    compared, differ = map(int, re.search(r'^(\d+) copies .* of (\d+) calls differ', text,
                                          re.M).groups())
    assert made == same and not differ, text
    return made, compared


def skip_field(data, at):
    while data[at] & 0x80:
        at += 1
    return at + 1


def results(data):
    """The places of results that have a record, fields of one byte if the call succeeded."""
    for block in range(BLOCK_B, len(data), BLOCK_B):
        if len(data) < block + 32:
            break
        magic, kind, _, _, _, used, _ = struct.unpack_from('<4IQ2I', data, block)
        at, end = block + 32, block + 32 + used
        while magic == 0x424c4b43 and kind in (WINDOW, CHUNK) and at < end:
            if data[at + 2] == RETURN:
                yield skip_field(data, skip_field(data, at + 4))
            at += struct.unpack_from('<H', data, at)[0]


def check_same(folder):
    path = record(folder, 'same', PROGRAM, '7')
    text = run('replay', path)
    made, compared = all_same(text)
    assert made > 240 and compared == 3 + 1 + 1 + 3 + 3 * 20 - 1, text
    assert 'not made' not in text and 'note: 1 functions of the program' in text, text
    for policy in ('lazy', 'seed:3', 'parallel'):
        assert all_same(run('replay', '--policy', policy, path)) == (made, compared), policy
    # Only the file is needed, and not the program's data.
    other = record(folder, 'other', PROGRAM, '8')
    assert all_same(run('replay', other)) == (made, compared)
    all_same(run('replay', record(folder, 'threads', TRACED, 'threads')))


def check_changed(folder):
    path = record(folder, 'changed', TRACED, 'return')
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    places = list(results(data))
    assert len(places) > 20 and data[places[4]] == 0, [data[p] for p in places]
    data[places[4]] = 1
    with open(path, 'wb') as f:
        f.write(data)
    text = run('replay', path, status=1)
    assert re.search(r'differ first at this call:\n +#5 cuMemAlloc_v2\(.*\n +the result was '
                     r'CUDA_ERROR_INVALID_VALUE, and is now CUDA_SUCCESS\n', text), text
    # Data that the program copied to the card are not the recorded ones.
    path = record(folder, 'data', TRACED, 'contents')
    with open(path, 'rb') as f:
        data = f.read()
    with open(path, 'wb') as f:
        f.write(data.replace(b'a small piece of data', b'a wrong piece of data'))
    text = run('replay', path)
    assert 'note: 1 calls that read bytes that were not kept' in text, text


def check_not_made(folder):
    text = run('replay', record(folder, 'graph', TRACED, 'graph'))
    all_same(text)
    assert 'not made: 3 calls of cardless.h' in text, text
    assert re.search(r'not made: 1 imports .*\(cuImportExternalSemaphore\)', text), text
    assert re.search(r'not made: 3 calls that use a result .*\(cuSignalExternal', text), text


def check_bad_files(folder):
    path = record(folder, 'bad', TRACED, 'graph')
    with open(path, 'rb') as f:
        data = f.read()
    generator = random.Random(1)
    for i in range(16):
        bad = bytearray(data[:generator.randrange(BLOCK_B, len(data))] if i < 4 else data)
        for _ in range(0 if i < 4 else 1 << i % 8):
            used = generator.choice([0, 1, 2]) * BLOCK_B + generator.randrange(6000)
            bad[min(used, len(bad) - 1)] = generator.randrange(256)
        with open(path, 'wb') as f:
            f.write(bad)
        r = subprocess.run([*WRAPPER, TOOL, 'replay', '--timeout', '1', path], timeout=60,
                           capture_output=True)
        assert r.returncode in (0, 1, 3), (i, r)
    run('replay', record(folder, 'empty', TRACED, options=()), status=3)
    run('replay', folder + '/nothing', status=3)
    run('replay', '--timeout', 'x', path, status=2)
    run('replay', status=2)


with tempfile.TemporaryDirectory() as temporary:
    for name, check in list(globals().items()):
        if name.startswith('check_'):
            check(temporary)
