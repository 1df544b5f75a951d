#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `cardless replay`.

  replay.py CARDLESS PROGRAM TRACED MEMORY GRAPHICS THREADS"""
import os
import random
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time

WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
TOOL, PROGRAM, TRACED, MEMORY, GRAPHICS, THREADS = map(os.path.abspath, sys.argv[1:7])
BLOCK_B, WINDOW, CHUNK, CALL, RETURN, OF_LIBRARY = 64 << 10, 1, 2, 6, 7, 8


def run(*arguments, status=0):
    r = subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=100)
    assert r.returncode == status, (arguments, r.returncode, r.stdout, r.stderr)
    return r.stdout


def record(folder, name, *program, options=('--trace-contents',)):
    path = os.path.join(folder, name + '.cardless')
    run('run', '--diagnostics', 'off', '--trace', path, *options, '--', *program)
    return path


def all_same(text):
    made, same = map(int, re.search(r'^calls made again: (\d+), with .*: (\d+)$', text,
                                    re.M).groups())
    compared, differ = map(int, re.search(r'^copies .* compared: (\d+), calls .*: (\d+)$', text,
                                          re.M).groups())
    assert made == same and not differ, text
    return made, compared


def read_field(data, at):
    """A field with a sign, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value >> 1 ^ -(value & 1), at


def results(data):
    """The places of results that have a record, by the number of their call. They are fields of one
    byte if the call succeeded."""
    places = {}
    for block in range(BLOCK_B, len(data), BLOCK_B):
        if len(data) < block + 32:
            break
        magic, kind, _, _, _, used, _ = struct.unpack_from('<4IQ2I', data, block)
        at, end, number = block + 32, block + 32 + used, 0
        while magic == 0x424c4b43 and kind in (WINDOW, CHUNK) and at < end:
            if data[at + 2] in (CALL, RETURN) and not data[at + 3] & OF_LIBRARY:
                past, place = read_field(data, read_field(data, at + 4)[1])
                number += past if data[at + 2] == CALL else 0
                if data[at + 2] == RETURN:
                    places[number + past] = place
            at += struct.unpack_from('<H', data, at)[0]
    return places


def check_same(folder):
    path = record(folder, 'same', PROGRAM, '7')
    text = run('replay', path)
    made, compared = all_same(text)
    assert made > 240 and compared == 3 + 1 + 1 + 3 + 3 * 20 - 1, text
    assert 'not made' not in text and 'replaced by empty ones: 1\n' in text, text
    for policy in ('lazy', 'seed:3', 'parallel'):
        assert all_same(run('replay', '--policy', policy, path)) == (made, compared), policy
    # Only the file is needed, and not the program's data.
    other = record(folder, 'other', PROGRAM, '8')
    assert all_same(run('replay', other)) == (made, compared)
    all_same(run('replay', record(folder, 'threads', TRACED, 'threads')))


def check_lives(folder):
    """Memory of one thread has often the address that memory of another one had before."""
    for i in range(4):
        all_same(run('replay', record(folder, f'lives {i}', THREADS, 'lives')))


def check_changed(folder):
    path = record(folder, 'changed', TRACED, 'return')
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    places = results(data)
    assert len(places) > 10 and data[places[5]] == 0, {n: data[p] for n, p in places.items()}
    data[places[5]] = 1
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
    assert 'note: calls that read bytes that were not kept: 1\n' in text, text


def check_descriptors(folder):
    path = record(folder, 'share', PROGRAM, '7', 'share')
    limit = (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    r = subprocess.run([*WRAPPER, TOOL, 'replay', path], capture_output=True, text=True, timeout=60,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    assert r.returncode == 0, r
    all_same(r.stdout)
    assert 'note: exports of memory, to which other programs may have written: 50\n' in r.stdout, r


def check_functions(folder):
    path = record(folder, 'stream', PROGRAM, '7', 'stream')
    for policy in ('eager', 'lazy', 'seed:3', 'parallel'):
        text = run('replay', '--policy', policy, path)
        assert all_same(text)[1] == 4 and 'replaced by empty ones: 6\n' in text, (policy, text)


def check_full_disk(folder):
    path = record(folder, 'full', PROGRAM, '7', 'query')
    with open('/dev/full', 'w', encoding='ascii') as full:
        r = subprocess.run([*WRAPPER, TOOL, 'replay', path], stdout=full, stderr=subprocess.PIPE,
                           timeout=60, check=False)
    assert r.returncode == 3 and b'could not be written' in r.stderr, r


def check_query(folder):
    all_same(run('replay', record(folder, 'query', PROGRAM, '7', 'query')))


def check_reuse(folder):
    for i in range(3):
        path = record(folder, f'reuse-{i}', PROGRAM, '7', 'reuse')
        made, compared = all_same(run('replay', path))
        assert made == 3 + 300 * 5 and compared == 300, (made, compared)


def check_memory(folder):
    """Threads take and free memory of several sizes at the same time."""
    for ways in ('ad', 'apqmhvxr'):
        path = record(folder, 'memory-' + ways, MEMORY, ways)
        assert all_same(run('replay', path))[1] >= 8 * 16, ways
    all_same(run('replay', '--policy', 'lazy', path))


def check_settings(folder):
    for name, value in (('CUDA_VISIBLE_DEVICES', ''), ('CARDLESS_CHECK', 'order,abort')):
        os.environ[name] = value
        path = record(folder, name, PROGRAM, '7')
        del os.environ[name]
        all_same(run('replay', path))


def check_ended(folder):
    """Nothing stays in the folder for temporary files if the tool is ended."""
    path = record(folder, 'ended', PROGRAM, '7')
    temporary = os.path.join(folder, 'temporary')
    os.mkdir(temporary)
    report = '--report=sarif:' + os.path.join(folder, 'ended.sarif')
    for command in (('replay', path), ('step', PROGRAM), ('explore', '--', PROGRAM, '7'),
                    ('run', report, '--', TRACED, 'wait')):
        for number in (signal.SIGTERM, signal.SIGKILL):
            p = subprocess.Popen([*WRAPPER, TOOL, *command], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, env={**os.environ, 'TMPDIR': temporary})
            end = time.monotonic() + 20
            while not os.listdir(temporary) and p.poll() is None:
                time.sleep(0.001)
            p.send_signal(number)
            p.wait()
            p.stdin.close()  # which ends the program that waits
            while os.listdir(temporary) and time.monotonic() < end:
                time.sleep(0.01)
            assert not os.listdir(temporary), (command, number)


def check_graphics(folder):
    """Calls of cardless.h, and calls of the driver that use their objects."""
    path = record(folder, 'graphics', GRAPHICS)
    for policy in ('eager', 'lazy', 'seed:3', 'parallel'):
        text = run('replay', '--policy', policy, path)
        made, compared = all_same(text)
        assert 'not made' not in text, (policy, text)
        # Graphics may be asked again if it is not done.
        assert 107 <= made <= 110 and compared == 7, (policy, text)
    text = run('replay', record(folder, 'graph', TRACED, 'graph'))
    all_same(text)
    assert 'not made' not in text, text


def check_changed_graphics(folder):
    """The bytes that graphics writes are the recorded ones."""
    path = record(folder, 'pixels', GRAPHICS)
    with open(path, 'rb') as f:
        data = f.read()
    texels = bytes(i * 5 & 255 for i in range(64 * 32 * 4))
    assert texels in data
    with open(path, 'wb') as f:
        f.write(data.replace(texels, texels[:-1] + b'?'))
    text = run('replay', path, status=1)
    assert 'note: calls that read bytes that were not kept: 1\n' in text, text
    assert 'compared: 7, calls whose bytes differ: 2\n' in text, text


def not_made(text):
    """The number of calls that were not made, by the first words of the reason."""
    return {reason: int(n) for reason, n in re.findall(r'^not made: (.*?): (\d+) \(', text, re.M)}


USED = 'calls that use a result of one of these'


def check_lost(folder):
    """No call uses a result of a call that was not made."""
    path = record(folder, 'lost', GRAPHICS, 'lost')
    text = run('replay', path)
    made, compared = all_same(text)
    reasons = not_made(text)
    assert (made, compared) == (9, 0) and reasons.pop(USED) == 17, text
    assert sorted(reasons.values()) == [1, 5], text
    # The arguments of a call are unknown: its objects are lost all the same.
    path = record(folder, 'unknown', GRAPHICS)
    with open(path, 'rb') as f:
        data = f.read()
    for name, count in ((b'cardlessSemaphoreCreate', 2), (b'cardlessStreamCreate', 1),
                        (b'cardlessRegisterBuffer', 2)):
        with open(path, 'wb') as f:
            f.write(data.replace(name, name[:-1] + b'?'))
        r = subprocess.run([*WRAPPER, TOOL, 'replay', path], capture_output=True, text=True,
                           timeout=60)
        made, same = map(int, re.search(r'^calls made again: (\d+), .*: (\d+)$', r.stdout,
                                        re.M).groups())
        reasons = not_made(r.stdout)
        assert r.returncode in (0, 1) and made == same, (name, r)
        assert reasons['entry points that this driver does not have'] == count, (name, r)
        assert reasons[USED] > count and 107 <= made + sum(reasons.values()) <= 110, (name, r)


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
    for option, value in (('timeout', 'x'), ('timeout', '-1'), ('timeout', '0'), ('timeout', ''),
                          ('timeout', str(1 << 64)), ('policy', 'nonsense'), ('policy', 'seed:')):
        r = subprocess.run([*WRAPPER, TOOL, 'replay', '--' + option, value, path], timeout=60,
                           capture_output=True, text=True)
        assert r.returncode == 2 and not r.stdout, (option, value, r)
        assert f'--{option} takes ' in r.stderr and r.stderr.endswith(f'not {value}\n'), r
    run('replay', status=2)


with tempfile.TemporaryDirectory() as temporary:
    for name, check in list(globals().items()):
        if name.startswith('check_'):
            check(temporary)
