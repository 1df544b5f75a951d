#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks recorded runs: `cardless run --trace FILE.cardless` and `cardless trace`.

  trace.py CARDLESS PROGRAM GRAPHICS SITES THREADS"""
import glob
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
TOOL, PROGRAM, GRAPHICS, SITES, THREADS = map(os.path.abspath, sys.argv[1:6])


def run(*arguments, status=0):
    # AddressSanitizer would end the program in its own way.
    options = os.environ.get('ASAN_OPTIONS', '') + ':handle_segv=0:handle_abort=0'
    r = subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=60,
                       env={**os.environ, 'ASAN_OPTIONS': options})
    assert r.returncode == status, (arguments, r.returncode, r.stderr)
    return r.stdout


def record(folder, *arguments, status=0):
    path = os.path.join(folder, '-'.join(arguments) + '.cardless')
    out = run('run', '--diagnostics', 'off', '--trace', path, '--', PROGRAM, *arguments,
              status=status)
    return path, out


def check_lines(folder):
    path, _ = record(folder, 'return')
    text = run('trace', path)
    for expected in (r'#1 cuInit\(Flags=0x0\) = CUDA_SUCCESS \[[\d.]+ us\] at '
                     r'(traced\.c:\d+( \(\w+\))?|traced \(main\)|traced\+0x[0-9a-f]+)\n',
                     r'cuMemAlloc_v2\(dptr=0x[0-9a-f]+, bytesize=4096\) = CUDA_SUCCESS; '
                     r'\*dptr=0x[0-9a-f]+ ',
                     r'cuMemsetD32Async\(dstDevice=0x[0-9a-f]+, ui=7, N=1024, '
                     r'hStream=CUstream #1\)',
                     r'     CUstream #1: memset: writes 0x[0-9a-f]+\+4096 \[',
                     r'     CUstream #2: memcpy: reads 0x[0-9a-f]+\+4096, writes 0x',
                     r'cuArray3DCreate_v2\(pHandle=0x[0-9a-f]+, pAllocateArray=\{Width=64, '
                     r'Height=32, Depth=0, Format=CU_AD_FORMAT_UNSIGNED_INT8, NumChannels=4, '
                     r'Flags=CUDA_ARRAY3D_SURFACE_LDST\}\) = CUDA_SUCCESS; \*pHandle=CUarray #1 ',
                     r'cuArray3DGetDescriptor_v2\(.*\) = CUDA_SUCCESS; '
                     r'\*pArrayDescriptor=\{Width=64, Height=32,',
                     r'cuMemFree_v2\(dptr=0x1234\) = CUDA_ERROR_INVALID_VALUE ',
                     r'! \[\w+\] .*0x1234',
                     ):
        assert re.search(expected, text), (expected, text)
    assert 'had not ended' not in text
    names = re.findall(r'#\d+ (\w+)\(', text)
    numbers = [int(n) for n in re.findall(r'#(\d+) \w+\(', text)]
    assert numbers == list(range(1, len(names) + 1)), numbers
    times = [float(t) for t in re.findall(r'^ *([\d.]+) #', text, re.M)]
    assert times == sorted(times)
    summary = run('trace', '--summary', path)
    assert re.search(r'\b2 +0 +[\d.]+  cuMemAlloc_v2', summary), summary
    assert re.search(r'\b3 +1 +[\d.]+  cuMemFree_v2', summary), summary


def check_contents(folder):
    """Data of the program is kept only if it is asked for, and within the limit."""
    kept = {}
    for name, options in (('none', ()), ('all', ('--trace-contents',)),
                          ('cut', ('--trace-contents=1000',))):
        path = os.path.join(folder, f'contents-{name}.cardless')
        run('run', '--diagnostics', 'off', '--trace', path, *options, '--', PROGRAM, 'contents')
        with open(path, 'rb') as f:
            data = f.read()
        kept[name] = tuple(piece in data for piece in (b'small piece of data',
                                                       b'large piece of data' * 1000))
        run('trace', path)
    assert kept == {'none': (False, False), 'all': (True, True), 'cut': (True, False)}, kept
    run('run', '--trace-contents=much', '--', PROGRAM, 'contents', status=2)
    for trace in ((), ('--trace', 'run.txt')):
        run('run', '--trace-contents', *trace, '--', PROGRAM, 'contents', status=2)


def check_graphics(folder):
    """Calls of cardless.h have their arguments, too."""
    path, out, plain = (os.path.join(folder, 'graphics.' + end)
                        for end in ('cardless', 'html', 'txt'))
    run('run', '--diagnostics', 'off', '--trace', path, '--', GRAPHICS)
    run('run', '--diagnostics', 'off', '--trace', plain, '--', GRAPHICS)
    run('trace', '--html', out, path)
    with open(out, encoding='utf-8') as f:
        page = f.read()
    with open(plain, encoding='utf-8') as f:
        lines = re.sub(r'^call (\d+): ', r'#\1 ', f.read(), flags=re.M)
    text = run('trace', path)
    for expected in ('cardlessBufferCreate(buffer=P, size=100) = CUDA_SUCCESS; '
                     '*buffer=cardlessBuffer #1',
                     'cardlessWriteBuffer(buffer=cardlessBuffer #1, offset=0, size=16384, bytes=P) '
                     '= CUDA_SUCCESS',
                     'cardlessTextureResize(texture=cardlessTexture #1, desc={kind='
                     'CARDLESS_TEXTURE_2D, width=64, height=32, depth=0, layers=0, levels=2, '
                     'format=CU_AD_FORMAT_UNSIGNED_INT8, channels=4})',
                     'cardlessFillTexture(texture=cardlessTexture #1, level=0, box={x=8, y=4, z=0, '
                     'width=16, height=8, depth=1}, texel=P)',
                     'cardlessRegisterTexture(resource=P, texture=cardlessTexture #2, '
                     'flags=CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) = CUDA_SUCCESS; '
                     '*resource=CUgraphicsResource #2',
                     'cardlessGetClock(issued=NULL, done=P) = CUDA_SUCCESS; *done=',
                     'cardlessSemaphoreCreate(semaphore=P, kind=CARDLESS_SEMAPHORE_TIMELINE, '
                     'value=1) = CUDA_SUCCESS; *semaphore=cardlessSemaphore #1',
                     'cardlessSemaphoreWait(semaphore=cardlessSemaphore #2, value=0, '
                     'timeout_ns=1000) = CUDA_ERROR_TIMEOUT',
                     'cardlessStreamCreate(stream=P, fifo=0) = CUDA_SUCCESS; '
                     '*stream=EGLStreamKHR #1',
                     'cardlessCardGetAttribute(value=P, attribute=CU_DEVICE_ATTRIBUTE_WARP_SIZE, '
                     'ordinal=0) = CUDA_SUCCESS; *value=32'):
        pattern = re.escape(expected).replace('=P', '=0x[0-9a-f]+')
        for shown in (text, lines):
            assert re.search(r'#\d+ ' + pattern, shown), (expected, shown)
    assert 'desc={kind=CARDLESS_TEXTURE_2D, width=64, height=32, ' in page


def check_filter(folder):
    path, _ = record(folder, 'return')

    def names(what):
        return re.findall(r'#\d+ (\w+)\(', run('trace', '--filter', what, path))
    assert set(names('name=cuMemset*')) == {'cuMemsetD32Async'}
    assert names('result=CUDA_ERROR_*') == ['cuMemFree_v2']
    assert names('name=cuMemFree*,address=0x1000-0x2000') == ['cuMemFree_v2']
    assert names('thread=2') == [] and len(names('thread=1')) > 20
    streams = run('trace', '--filter', 'stream=CUstream #2', path)
    assert 'memcpy' in streams and 'memset' not in streams and not re.search(r'#\d+ cu', streams)
    assert names('time=0-1') == []
    run('trace', '--filter', 'colour=red', path, status=2)


def check_ends(folder):
    """Whatever ends the process, the file has all calls."""
    for how, status in (('segv', -signal.SIGSEGV), ('abort', -signal.SIGABRT), ('exit', 0),
                        ('kill', -signal.SIGKILL)):
        path, _ = record(folder, how, status=status)
        text = run('trace', path)
        assert len(re.findall(r'cuMemAlloc_v2', text)) == 2, (how, text)
        assert re.findall(r'#\d+ (\w+)\(', text)[-1] == 'cuMemFree_v2', (how, text)
        assert 'had not ended by itself' in text


def check_threads(folder):
    path, _ = record(folder, 'threads')
    text = run('trace', '--filter', 'name=cuMemsetD8Async', path)
    calls = re.findall(r't(\d+) #(\d+) cuMemsetD8Async', text)
    assert len(calls) == 12000 and len({t for t, _ in calls}) == 4, len(calls)
    commands = re.findall(r': memset: writes .* \[[\d.]+ us\]', text)
    assert len(commands) == 12000, len(commands)


def check_fork(folder):
    path, _ = record(folder, 'fork')
    child, = glob.glob(path + '.*')
    text = run('trace', child)
    assert '# forked from process' in text
    assert re.findall(r'#\d+ (\w+)\(.*= (\w+)', text) == \
        [('cuDeviceGet', 'CUDA_ERROR_NOT_INITIALIZED')], text
    assert run('trace', path).count('cuMemAlloc_v2') == 2


def check_fork_without_handlers(folder):
    path, _ = record(folder, '_Fork')
    assert not glob.glob(path + '.*')
    assert run('trace', path).count('cuMemAlloc_v2') == 2


def check_wrong_path(folder):
    """The program does not run if the file cannot be made."""
    file = os.path.join(folder, 'file')
    open(file, 'wb').close()
    for option, path, why in (('trace', '/nowhere/run.cardless', 'No such file or directory'),
                              ('trace', '/nowhere/run.txt', 'No such file or directory'),
                              ('trace', file + '/run.cardless', 'Not a directory'),
                              ('trace', folder, 'Is a directory'),
                              ('diagnostics', 'json:' + folder, 'Is a directory')):
        r = subprocess.run([*WRAPPER, TOOL, 'run', '--' + option, path, '--', 'echo', 'it ran'],
                           capture_output=True, text=True, timeout=60)
        path = path.removeprefix('json:')
        assert r.returncode == 126 and r.stdout == '', r
        assert r.stderr == f'cardless: --{option}: cannot write {path}: {why}\n', r
    subprocess.run([*WRAPPER, TOOL, 'run', '--trace', folder + '/none-%p.txt', '--', 'true'],
                   timeout=60, check=True)


def check_relative_path(folder):
    """The file is in the folder of `cardless run`, wherever the program goes."""
    subprocess.run([*WRAPPER, TOOL, 'run', '--diagnostics', 'off', '--trace', 'relative.cardless',
                    '--', 'sh', '-c', f'cd / && exec {shlex.quote(PROGRAM)}'], cwd=folder,
                   check=True, timeout=60)
    assert run('trace', folder + '/relative.cardless').count('cuMemAlloc_v2') == 2


def check_many(folder):
    path, out = record(folder, 'many', '100000')
    assert int(out) < 1024, f'{out} KiB more for 100000 calls'
    text = run('trace', '--summary', path)
    assert re.search(r'\b101000 +0 +[\d.]+  cuMemsetD8Async', text), text


def check_handles(folder):
    """Names are kept however many handles there have been."""
    path, _ = record(folder, 'handles')
    text = run('trace', '--filter', 'name=cuLaunchKernel', path)
    assert 'cuLaunchKernel(f=CUfunction #1 (named_late), ' in text, text
    assert run('trace', path).count('cuEventDestroy_v2(hEvent=CUevent #') == 12002


def check_file_in_use(folder):
    """A recording is not replaced while a process writes it, and afterwards it is."""
    path = os.path.join(folder, 'wait.cardless')
    command = [*WRAPPER, TOOL, 'run', '--diagnostics', 'off', '--trace', path, '--', PROGRAM]
    with subprocess.Popen([*command, 'wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        assert p.stdout.readline() == b'recording\n'
        r = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert r.returncode == 126 and 'a process is recording to it' in r.stderr, r
        p.stdin.close()
        assert p.wait(60) == 0
    assert len(re.findall('cuMemAlloc_v2', run('trace', path))) == 2
    subprocess.run([*command, 'threads'], timeout=60, check=True)
    assert run('trace', path).count('cuMemAlloc_v2') == 6


def check_second_process(folder):
    """CARDLESS_RECORD alone keeps a file that is there, and adds the process to the name."""
    path, _ = record(folder, 'return')
    before = open(path, 'rb').read()
    run('run', '--diagnostics', 'off', '--', 'env', 'CARDLESS_RECORD=' + path, PROGRAM)
    assert open(path, 'rb').read() == before
    other, = glob.glob(path + '.*')
    assert run('trace', other).count('cuMemAlloc_v2') == 2


def check_closed_descriptors(folder):
    """Without standard descriptors, no message goes to the recording or to a report."""
    path, report = folder + '/closed.cardless', folder + '/closed.xml'
    for more in ([], ['--report=junit:' + report]):
        command = [*WRAPPER, TOOL, 'run', *more, '--trace', path, '--', PROGRAM]
        r = subprocess.run(['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh', *command], timeout=60)
        assert r.returncode == 0, r
        text = run('trace', path)
        assert text.count('cuMemAlloc_v2') == 2 and 'had not ended' not in text, text
    assert open(report).read().startswith('<?xml') and open(report).read().endswith('>\n')
    r = subprocess.run(['sh', '-c', 'exec "$@" >&-', 'sh', *WRAPPER, TOOL, 'trace', path],
                       stderr=subprocess.PIPE, timeout=60)
    assert r.returncode == 3 and b'could not be written' in r.stderr, r


def check_full_disk(folder):
    path, _ = record(folder, 'return')
    for options in ([], ['--summary'], ['--compare', path]):
        with open('/dev/full', 'w', encoding='ascii') as full:
            r = subprocess.run([*WRAPPER, TOOL, 'trace', *options, path], stdout=full,
                               stderr=subprocess.PIPE, timeout=60)
        assert r.returncode == 3 and b'could not be written' in r.stderr, r
    text = run('trace', '--summary', path)
    assert re.search(r'\d+ calls of 1 thread, \d+ commands in \d+ streams, \d+ pieces of memory, '
                     r'\d+ objects, 1 diagnostic in ', text), text


def check_outputs(folder):
    """A page is not written over the recording, and options that exclude each other are refused."""
    path, _ = record(folder, 'return')
    before = open(path, 'rb').read()
    for option in ('--html', '--perfetto'):
        run('trace', option, path, path, status=2)
    assert open(path, 'rb').read() == before
    run('trace', '--filter', 'name=cuMemset*', '--summary', path, status=2)
    run('trace', '--summary', '--html', folder + '/page.html', path, status=2)
    run('trace', '--filter', 'time=5', path, status=2)
    r = subprocess.run([*WRAPPER, TOOL, 'trace', '--html', '/dev/full', path], capture_output=True,
                       text=True, timeout=60)
    assert r.returncode == 3 and \
        r.stderr == 'cardless trace: cannot write /dev/full: No space left on device\n', r
    program = os.path.join(folder, 'program')
    with open(program, 'w', encoding='ascii') as f:
        f.write('#!/bin/sh\n')
    os.chmod(program, 0o755)
    for options in (['--report=junit:' + program], ['--trace', program],
                    ['--diagnostics', 'json:' + program]):
        r = subprocess.run([*WRAPPER, TOOL, 'run', *options, '--', program], capture_output=True,
                           text=True, timeout=60)
        assert r.returncode == 126 and f'would overwrite {program}\n' in r.stderr, r
    assert os.path.getsize(program) == 10


def check_compare(folder):
    first, _ = record(folder, 'return')
    second = os.path.join(folder, 'second.cardless')
    os.rename(record(folder, 'return')[0], second)
    first, _ = record(folder, 'return')
    assert run('trace', '--compare', first, second).startswith(
        f'first:  {first}\nsecond: {second}\nThe runs do not differ: 34 calls, ')
    run('trace', '--compare', first, status=2)
    other, _ = record(folder, 'diverge')
    text = run('trace', '--compare', first, other, status=1)
    assert run('trace', first, other, '--compare', status=1) == text
    assert 'thread 1: the runs differ first at call 26\n' in text, text
    assert re.search(r'first  #26 cuMemsetD32Async\(dstDevice=memory \d, ui=9,', text), text
    assert re.search(r'second #26 cuMemsetD32Async\(dstDevice=memory \d, ui=8,', text), text
    assert 'They differ in ui=9 and ui=8.' in text
    crashed, _ = record(folder, 'skip')
    text = run('trace', '--compare', crashed, first, status=1)
    assert 'first  #18 cuMemFree_v2(dptr=0x1234)' in text, text
    assert 'The second run makes 3 more calls here, and then goes on as the first.' in text, text


def check_cut(folder):
    """A recording whose end is missing is not taken for a whole one."""
    path, _ = record(folder, 'return')
    whole = open(path, 'rb').read()
    cut = os.path.join(folder, 'cut.cardless')
    for size in (66000, len(whole) - 1):
        with open(cut, 'wb') as f:
            f.write(whole[:size])
        assert '# parts are missing: ' in run('trace', cut), size
        r = subprocess.run([*WRAPPER, TOOL, 'trace', '--compare', cut, path], capture_output=True,
                           check=False)
        assert r.returncode and b'Parts of the recordings are missing: ' in r.stdout, r
    assert '# parts are missing' not in run('trace', path)


def check_sites(folder):
    """What a program prints of itself is what the recording has, also if its call sites are more
    than a recording remembers."""
    path = os.path.join(folder, 'sites.cardless')
    printed = run('run', '--diagnostics', 'off', '--trace', path, '--', SITES)
    call = re.compile(r' *[\d.]+ t(\d) #\d+ ((?:cuMemset|cuMemcpy|cuMemGetAddress).*?) '
                      r'\[[\d.]+ us\](?: at .*)?')
    command = re.compile(r' *[\d.]+ +(CUstream #\d+: .*?) \[[\d.]+ us.*\]')
    shown, thread = [[], []], None
    for line in run('trace', path).splitlines():
        if match := call.fullmatch(line):
            thread = int(match[1]) - 1
            shown[thread].append(match[2])
        elif match := command.fullmatch(line):
            shown[thread].append(match[1])
    for number in (1, 2):
        expected = [line[2:] for line in printed.splitlines() if line[0] == str(number)]
        for i, line in enumerate(expected):
            assert shown[number - 1][i] == line, (i, shown[number - 1][i], line)
        assert len(shown[number - 1]) == len(expected) > 6000, len(expected)


def check_order(folder):
    """The last command that has written a word is the one whose value is there."""
    path = os.path.join(folder, 'order.cardless')
    printed = run('run', '--diagnostics', 'off', '--trace', path, '--', THREADS, 'order')
    last, value = {}, None
    for line in run('trace', path).splitlines():
        if match := re.search(r' cuMemsetD32Async\(dstDevice=\w+, ui=(\d+)', line):
            value = match[1]
        elif match := re.match(r' *([\d.]+) .*: memset: writes (0x\w+)\+4 ', line):
            time, word = float(match[1]), match[2]
            last[word] = max(last.get(word, (0, '')), (time, value))
    words = dict(line.split() for line in printed.splitlines())
    assert len(words) == 2000 and {w: v for w, (_, v) in last.items()} == words


def check_perfetto(folder):
    path, _ = record(folder, 'graph')
    out = os.path.join(folder, 'events.json')
    run('trace', '--perfetto', out, path)
    events = json.load(open(out))['traceEvents']
    slices = {}
    for e in events:
        assert e['ph'] in 'XsfiMC' and e['pid'] in (1, 2) and e['ts'] >= 0, e
        if e['ph'] == 'X':
            slices.setdefault((e['pid'], e['tid']), []).append((e['ts'], e['ts'] + e['dur'], e))
    # Slices of a track lie beside or inside each other.
    for track in slices.values():
        track.sort(key=lambda s: (s[0], -s[1]))
        stack = []
        for start, end, e in track:
            while stack and stack[-1] <= start + 0.0005:  # one may begin when another ends
                stack.pop()
            assert not stack or end <= stack[-1] + 0.0015, e
            stack.append(end)
    # Each arrow has one start, one end that is not earlier, and both are in slices.
    ends = {e['id']: e for e in events if e['ph'] == 'f'}
    starts = [e for e in events if e['ph'] == 's']
    assert len(starts) == len(ends) and {e['id'] for e in starts} == set(ends)
    for e in starts:
        assert ends[e['id']]['ts'] >= e['ts'] and e['name'] == ends[e['id']]['name']
        for place in (e, ends[e['id']]):
            track = slices[place['pid'], place['tid']]
            assert any(a <= place['ts'] + 0.0015 and place['ts'] <= b + 0.0015
                       for a, b, _ in track), (place, track)
    reasons = [e['name'] for e in starts]
    for reason in ('submit', 'event', 'semaphore', 'word', 'synchronise'):
        assert reason in reasons, (reason, reasons)
    steps = [e for t in slices.values() for *_, e in t if e['name'] == 'memset' and e['pid'] == 2]
    assert len(steps) >= 5, steps
    assert [e for e in events if e['ph'] == 'C'][-1]['args']['bytes'] == 0
    assert any(e['ph'] == 'i' and '0x1234' in e['args']['text'] for e in events)


def check_bad_files(folder):
    path, _ = record(folder, 'return')
    data = open(path, 'rb').read()
    cut = os.path.join(folder, 'cut')
    for size in (0, 10, 600, 70000, len(data) - 100):
        with open(cut, 'wb') as f:
            f.write(data[:size])
        r = subprocess.run([*WRAPPER, TOOL, 'trace', cut], capture_output=True, timeout=60)
        assert r.returncode == (0 if size >= 600 else 3), (size, r)
    # Texts of a file that act on a terminal, or that are no UTF-8.
    with open(cut, 'wb') as f:
        f.write(data.replace(b'cuMemAlloc_v2', b'cu\x1b[2JAlloc\xff2'))
    r = subprocess.run([*WRAPPER, TOOL, 'trace', cut], capture_output=True, timeout=60)
    assert b'cu?[2JAlloc' in r.stdout and b'\x1b' not in r.stdout
    run('trace', '--perfetto', cut + '.json', cut)
    assert 'cu?[2JAlloc\ufffd2' in open(cut + '.json', encoding='utf-8').read()
    # Versions of the format that this program does not read.
    for version in (3, 5):
        with open(cut, 'wb') as f:
            f.write(data[:16] + bytes([version]) + data[17:])
        r = subprocess.run([*WRAPPER, TOOL, 'trace', cut], capture_output=True, timeout=60)
        assert r.returncode == 3 and not r.stdout, r
        assert f'has version {version} of the format'.encode() in r.stderr, r
    run('trace', '/dev/zero', status=3)
    run('trace', folder + '/none', status=3)
    run('trace', status=2)


with tempfile.TemporaryDirectory() as temporary:
    for name, check in list(globals().items()):
        if name.startswith('check_'):
            check(temporary)
