#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the data in pages of `cardless trace --html`, without a browser.

  html.py CARDLESS TRACED"""
import base64
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
TOOL, PROGRAM = sys.argv[1:3]


def run(*arguments, status=0):
    r = subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=60)
    assert r.returncode == status, (arguments, r.returncode, r.stderr)
    return r.stdout + r.stderr


def rows(data, name):
    """The rows of a table as dictionaries."""
    table = data[name]
    return [dict(zip(table['fields'], row)) for row in table['rows']]


def text(data, value):
    return data['strings'][value] if isinstance(value, int) else value


def check(folder):
    recorded, page = (os.path.join(folder, name) for name in ('run.cardless', 'run.html'))
    hostile = '</script><!--\x01"\\'  # becomes part of the program's name
    run('run', '--diagnostics', 'off', '--trace', recorded, '--', PROGRAM, 'return', hostile)
    printed = run('trace', recorded)
    assert run('trace', '--html', page, recorded) == ''
    with open(page, encoding='utf-8') as f:
        html = f.read()
    assert html.startswith('<!doctype html>') and html.rstrip().endswith('</html>')
    assert html.count('</script>') == 2, html.count('</script>')
    source = re.search(r'<script type="application/json" id="trace">(.*?)</script>', html, re.S)[1]
    data = json.loads(source)
    assert data['program'].endswith(hostile), data['program']
    calls, commands, memory = (rows(data, name) for name in ('calls', 'commands', 'memory'))
    names = [text(data, call['name']) for call in calls]
    assert names == re.findall(r'#\d+ (\w+)\(', printed), names
    assert [call['n'] for call in calls] == list(range(1, len(calls) + 1))
    fill = next(c for c in commands if text(data, c['kind']) == 'memset')
    held = next(m for m in memory if m['address'] == fill['writes'][0][0])
    assert fill['writes'] == [[held['address'], 4096]] and held['size'] == 4096
    assert names[held['born_call'] - 1] == 'cuMemAlloc_v2' and held['born'] < held['died']
    assert names[fill['call'] - 1] == 'cuMemsetD32Async'
    assert fill['queued'] <= fill['start'] <= fill['end'] <= data['duration_ns']
    why = {text(data, edge['why']) for edge in rows(data, 'edges')}
    assert {'stream', 'event', 'synchronise'} <= why, why
    check_array(data['arrays'])
    failed = [call for call in calls if text(data, call['result']) == 'CUDA_ERROR_INVALID_VALUE']
    assert [names[call['n'] - 1] for call in failed] == ['cuMemFree_v2']
    assert [d['call'] for d in data['diagnostics']] == [failed[0]['n']]
    assert '0x1234' in data['diagnostics'][0]['text']


def check_virtual_memory(folder):
    """A reservation, a handle, and two mappings of the handle's bytes, each with its life."""
    recorded, page = (os.path.join(folder, name) for name in ('vmm.cardless', 'vmm.html'))
    run('run', '--diagnostics', 'off', '--trace', recorded, '--', PROGRAM, 'vmm')
    run('trace', '--html', page, recorded)
    with open(page, encoding='utf-8') as f:
        source = re.search(r'<script type="application/json" id="trace">(.*?)</script>', f.read(),
                           re.S)[1]
    data = json.loads(source)
    names = [text(data, call['name']) for call in rows(data, 'calls')]
    memory = [m for m in rows(data, 'memory') if names[m['born_call'] - 1] != 'cuMemAlloc_v2']
    by_call = {}
    for m in memory:
        by_call.setdefault(names[m['born_call'] - 1], []).append(m)
    reserved, = by_call['cuMemAddressReserve']
    physical, = by_call['cuMemCreate']
    first, second = by_call['cuMemMap']
    assert text(data, reserved['kind']) == 'reservation' and reserved['size'] == 8 << 20
    assert reserved['address'] == first['address'] == second['address'] - (4 << 20)
    assert first['of'] == second['of'] == physical['id'] and not physical['address']
    assert reserved['born'] < first['born'] < first['died'] < second['died'] < reserved['died']
    perfetto = os.path.join(folder, 'vmm.json')
    run('trace', '--perfetto', perfetto, recorded)
    with open(perfetto, encoding='utf-8') as f:
        counts = [e['args']['bytes'] for e in json.load(f)['traceEvents'] if e['ph'] == 'C']
    assert max(counts) < 8 << 20 and counts[-1] == 0, counts


def check_array(arrays):
    """64x32 texels of 4 bytes: four columns of four GOBs, in blocks of four."""
    assert len(arrays) == 1, arrays
    array = arrays[0]
    assert (array['width'], array['height'], array['depth']) == (64, 32, 0), array
    level = array['layout']['levels'][0]
    assert array['layout']['kind'] == 'block-linear' and array['layout']['element_B'] == 4
    assert (level['width_gob'], level['height_gob'], level['block_height_log2_gob']) == (4, 4, 2)
    assert array['died'] > array['born']


def page_of(folder, what, *options):
    recorded, page = (os.path.join(folder, what + end) for end in ('.cardless', '.html'))
    run('run', '--diagnostics', 'off', '--trace', recorded, *options, '--', PROGRAM, what)
    run('trace', '--html', page, recorded)
    with open(page, encoding='utf-8') as f:
        source = re.search(r'<script type="application/json" id="trace">(.*?)</script>', f.read(),
                           re.S)[1]
    return json.loads(source)


def gob_offset(x_B, y):
    """The place of a byte in an array of one column of GOBs, and blocks of four."""
    gob = x_B // 64 * 4 + y // 8
    return (gob * 512 + (x_B >> 5 & 1) * 256 + (y >> 2 & 1) * 128 + (x_B >> 4 & 1) * 64 +
            (y & 3) * 16 + x_B % 16)


def check_texels(folder):
    """The texels of an array when it was destroyed, and of one at the end of the run."""
    data = page_of(folder, 'texels', '--trace-contents')
    _, destroyed, left = data['arrays']
    names = [text(data, call['name']) for call in rows(data, 'calls')]
    assert names[destroyed['ended_by'] - 1] == 'cuArrayDestroy' and left['ended_by'] is None
    assert destroyed['texel'] == {'kind': 'uint', 'channel_B': 1, 'channels': 4}
    assert left['texel'] == {'kind': 'float', 'channel_B': 4, 'channels': 1}
    for array, form, value in ((destroyed, '4B', lambda x, y: (x, y, 0, 255)),
                               (left, '<f', lambda x, y: (x - y / 4,))):
        found = base64.b64decode(array['bytes'])
        assert len(found) == 64 * 32 * 4 <= array['layout']['size_B']
        for y in range(32):
            for x in range(64):
                assert struct.unpack_from(form, found, gob_offset(4 * x, y)) == value(x, y), (x, y)
    assert all('bytes' not in array for array in page_of(folder, 'texels')['arrays'])


def check_mapped(folder):
    """The times in which a graphics resource is mapped."""
    data = page_of(folder, 'mapped')
    calls = rows(data, 'calls')
    names = [text(data, call['name']) for call in calls]
    at = {name: [c for c, n in zip(calls, names) if n.startswith(name)] for name in
          ('cuGraphicsMap', 'cuGraphicsUnmap', 'cuCtxDestroy')}
    resource, = [o for o in data['objects'] if o['kind'] == 'graphics resource']
    first, second = resource['spans']

    def inside(time, call):
        return call['t'] <= time <= call['t'] + call['d']

    assert inside(first[0], at['cuGraphicsMap'][0]) and inside(first[1], at['cuGraphicsUnmap'][0])
    assert inside(second[0], at['cuGraphicsMap'][1]) and inside(second[1], at['cuCtxDestroy'][0])


def check_errors(folder):
    recorded = os.path.join(folder, 'run.cardless')
    said = run('trace', '--html', os.path.join(folder, 'none', 'run.html'), recorded, status=3)
    assert 'No such file or directory' in said, said
    said = run('trace', '--html', '/dev/full', recorded, status=3)
    assert 'cannot write /dev/full' in said, said


with tempfile.TemporaryDirectory() as temporary:
    check(temporary)
    check_virtual_memory(temporary)
    check_texels(temporary)
    check_mapped(temporary)
    check_errors(temporary)
print('the page has the data of the run')
