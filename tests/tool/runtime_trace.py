#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks recordings of programs of the CUDA runtime: its calls, and below them the driver's.

  runtime_trace.py CARDLESS PROGRAM PROGRAM_12"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
TOOL = os.path.abspath(sys.argv[1])
PROGRAMS = [os.path.abspath(p) for p in sys.argv[2:]]
A = r'0x[0-9a-f]+'  # an address
CALLS = (
    rf'cudaMalloc\(devPtr={A}, size=4096\) = cudaSuccess; \*devPtr={A} \[[\d.]+ us\] at '
    r'runtime_\w*traced\S*( \(main\))?\n',
    rf'cudaStreamCreateWithFlags\(pStream={A}, flags=cudaStreamNonBlocking\) = cudaSuccess; '
    r'\*pStream=CUstream #1 ',
    rf'cudaEventCreateWithFlags\(event={A}, flags=cudaEventDisableTiming\) = cudaSuccess; '
    r'\*event=CUevent #1 ',
    rf'cudaMemcpyAsync\(dst={A}, src={A}, count=4, kind=cudaMemcpyHostToDevice, '
    r'stream=CUstream #1\) = cudaSuccess ',
    r'cudaStreamWaitEvent\(stream=CU_STREAM_LEGACY, event=CUevent #1, '
    r'flags=cudaEventWaitDefault\) ',
    r'cudaFree\(devPtr=0x1234\) = cudaErrorInvalidValue ',
    r'cudaPeekAtLastError\(\) = cudaErrorInvalidValue ',
    rf'cudaMalloc3DArray\(array={A}, desc=\{{x=32, y=0, z=0, w=0, f=cudaChannelFormatKindFloat\}}, '
    r'extent=\{width=8, height=4, depth=2\}, flags=cudaArraySurfaceLoadStore\) = cudaSuccess; '
    r'\*array=CUarray #1 ',
    r'cudaMemcpy3D\(p=\{srcArray=NULL, srcPos=\{x=0, y=0, z=0\}, '
    rf'srcPtr=\{{ptr={A}, pitch=32, xsize=8, ysize=4\}}, dstArray=CUarray #1, '
    r'dstPos=\{x=0, y=0, z=0\}, dstPtr=\{ptr=NULL, pitch=0, xsize=0, ysize=0\}, '
    r'extent=\{width=8, height=4, depth=2\}, kind=cudaMemcpyHostToDevice\}\) = cudaSuccess ',
    rf'cudaMalloc3D\(pitchedDevPtr={A}, extent=\{{width=32, height=4, depth=2\}}\) = cudaSuccess; '
    rf'\*pitchedDevPtr=\{{ptr={A}, pitch=\d+, xsize=32, ysize=4\}} ',
    rf'cudaMemset3D\(pitchedDevPtr=\{{ptr={A}, pitch=\d+, xsize=32, ysize=4\}}, value=7, '
    r'extent=\{width=32, height=4, depth=2\}\) ',
    rf'cudaCreateSurfaceObject\(pSurfObject={A}, pResDesc=\{{resType=cudaResourceTypeArray, '
    r'res=\{array=\{array=CUarray #1\}\}.*\*pSurfObject=CUsurfObject #1 ',
    rf'cudaGraphAddEmptyNode\(pGraphNode={A}, graph=CUgraph #1, pDependencies=\[CUgraphNode #1\], '
    r'numDependencies=1\) = cudaSuccess; \*pGraphNode=CUgraphNode #2 ',
    rf'cudaGraphGetNodes\(graph=CUgraph #1, nodes={A}, numNodes=2\) = cudaSuccess; '
    r'\*nodes=\[CUgraphNode #1, CUgraphNode #2\], \*numNodes=2 ',
    rf'cudaGraphInstantiate(WithFlags)?\(pGraphExec={A}, graph=CUgraph #1, '
    r'flags=cudaGraphInstantiateFlagAutoFreeOnLaunch\) ',
)


def run(*arguments, status=0, **environment):
    r = subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=60,
                       env={**os.environ, **environment})
    assert r.returncode == status, (arguments, r)
    return r.stdout


def record(folder, name, program, *arguments, status=0, options=()):
    path = os.path.join(folder, name + '.cardless')
    run('run', '--diagnostics', 'off', '--trace', path, *options, '--', program, *arguments,
        status=status)
    return path


def check_lines(text):
    for expected in CALLS:
        assert re.search(rf'^ *[\d.]+ {expected}', text, re.M), (expected, text)
    # Calls of the driver have a number, and those of the runtime make them.
    lines = re.findall(r'^ *[\d.]+( +)((?:#\d+ )?)(\w+)\(', text, re.M)
    below, own = {}, False
    for indent, number, name in lines:
        if name == 'cuCtxGetCurrent':  # the program's own; those of the runtime are not recorded
            assert len(indent) == 1, (indent, name)
            own = True
        elif number:
            assert len(indent) == 3, (indent, name)
        else:
            assert len(indent) == 1 and name.startswith('cuda'), (indent, name)
            below[name] = 0
            last = name
            continue
        if number and len(indent) == 3:
            below[last] += 1
    assert own and not below['cudaGetDevice'], below
    assert below['cudaMalloc'] and below['cudaMemcpy3D'] and below['cudaGraphLaunch'], below
    assert not below['cudaGetLastError'] and not below['cudaPeekAtLastError'], below
    assert 'cudaMalloc: ' not in text and 'never returned' not in text


def check_perfetto(folder, path):
    out = os.path.join(folder, 'out.json')
    run('trace', '--perfetto', out, path)
    with open(out, encoding='utf-8') as f:
        events = json.load(f)['traceEvents']
    slices = [e for e in events if e.get('cat') == 'call']
    copy = next(e for e in slices if e['name'] == 'cudaMemcpy3D')
    inner = next(e for e in slices if e['args'].get('runtime') == 'cudaMemcpy3D')
    assert 'number' not in copy['args'] and inner['args']['number'] > 1, (copy, inner)
    assert copy['ts'] <= inner['ts'] and \
        inner['ts'] + inner['dur'] <= copy['ts'] + copy['dur'] + 0.002, (copy, inner)
    # Of the last command before it only: into the blocking stream, out of it, and into it again.
    arrows = [e for e in events if e['ph'] == 's' and e['name'] == 'legacy']
    assert len(arrows) == 3, arrows


def check(folder, program):
    path = record(folder, 'whole', program)
    text = run('trace', path)
    check_lines(text)
    assert 'The runs do not differ' in run('trace', '--compare', path,
                                           record(folder, 'again', program))
    some = run('trace', '--filter', 'name=cudaMemcpy3D', path)
    assert re.search(r'\n +[\d.]+ cudaMemcpy3D\(', some) and \
        re.search(r'\n +[\d.]+   #\d+ cuMemcpy3D_v2', some) and 'cudaMalloc(' not in some, some
    assert re.search(r'\b3 +1 +[\d.]+  cudaFree\b', run('trace', '--summary', path))
    outer = run('trace', '--filter', 'depth=0', path)
    assert 'cudaMemcpy3D(' in outer and ': memcpy: ' in outer, outer
    assert 'cuMemcpy3D_v2' not in outer, outer
    run('trace', '--filter', 'depth=x', path, status=2)
    check_perfetto(folder, path)
    # Nothing is lost if the process ends without the driver.
    ended = run('trace', record(folder, 'ended', program, 'exit', status=3))
    assert 'cudaGraphDestroy(' in ended and 'never returned' not in ended, ended
    # The replay makes the calls of the driver.
    kept = record(folder, 'kept', program, options=('--trace-contents',))
    replayed = run('replay', kept)
    made, same = map(int, re.search(r'calls made again: (\d+), .*: (\d+)\n', replayed).groups())
    assert made == same > 20 and 'not made' not in replayed, replayed
    # A program may be stepped by calls of the runtime.
    stepped = run('step', '--do', 'until cudaMemcpy3D; until cuMemcpy3D; c', '--', program)
    assert re.search(r'\ncudaMemcpy3D\(p=\{srcArray=NULL, .*\n(.*\n)*\(step\) until '
                     r'cuMemcpy3D\n(.*\n)*#\d+ cuMemcpy3D_v2\(', stepped), stepped


def main():
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            check(folder, program)


main()
