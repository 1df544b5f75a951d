#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An unmodified ffmpeg runs its CUDA filters, whose kernels it brings as PTX. Each frame must be
the one that a card made.

  run_filters.py RECORDING CARDLESS     compares with the lines of this ffmpeg's version
  run_filters.py --record [COMMAND …]   prints such lines; COMMAND: how ffmpeg is started

A line is `version filter | check sums of the frames`. Frames are raw, because ffmpeg's own test
pictures are not the same in every version."""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

WIDTH, HEIGHT, FRAMES, SKIPPED = 178, 146, 4, 77
FORMATS = ('yuv420p', 'nv12', 'yuv444p', 'p010le', 'p016le', 'yuv444p16le', 'bgr0', 'rgb0')


def noise(count, seed):
    """Bytes that look random, with steps and slopes: a linear congruential generator."""
    out, x = bytearray(count), seed * 2654435761 % 2**32
    for i in range(count):
        x = (x * 1664525 + 1013904223) % 2**32
        out[i] = x >> 24 if i & 512 else (i // 3 + (x >> 29)) & 255
    return bytes(out)


def sources():
    """Files of raw frames, by name."""
    plane, quarter = WIDTH * HEIGHT, (WIDTH // 2) * (HEIGHT // 2)
    big = plane + 2 * quarter
    small = 64 * 48
    return {'main': noise(big * FRAMES, 1), 'logo': noise((small * 2 + small // 2) * FRAMES, 2)}


def raw(name, pixels, size):
    return ['-f', 'rawvideo', '-pix_fmt', pixels, '-s', size, '-r', '25', '-i', name]


def cases():
    """Name, input options, and the graph of each case."""
    main = raw('main', 'yuv420p', f'{WIDTH}x{HEIGHT}')
    logo = raw('logo', 'yuva420p', '64x48')
    up = 'hwupload_cuda'

    def chain(filters, pixels='yuv420p', out=None):
        return f'[0:v]format={pixels},{up},{filters},hwdownload,format={out or pixels}'

    for size in ('89x73', '400x300', '178x146'):
        for way in ('nearest', 'bilinear', 'bicubic', 'lanczos'):
            w, h = size.split('x')
            yield f'scale_cuda-{way}-{size}', main, chain(f'scale_cuda={w}:{h}:interp_algo={way}')
    for pixels in FORMATS:
        yield f'scale_cuda-{pixels}', main, chain('scale_cuda=120:100', pixels)
        for out in ('nv12', 'yuv444p16le', 'p010le'):
            yield (f'scale_cuda-{pixels}-to-{out}', main,
                   chain(f'scale_cuda=120:100:format={out}:interp_algo=bilinear', pixels, out))
    for mode in ('send_frame', 'send_field', 'send_frame_nospatial', 'send_field_nospatial'):
        for pixels in ('yuv420p', 'nv12', 'yuv444p', 'p010le'):
            for name in ('yadif_cuda', 'bwdif_cuda'):
                if name == 'yadif_cuda' or 'nospatial' not in mode:
                    yield f'{name}-{mode}-{pixels}', main, chain(f'{name}={mode}', pixels)
    yield 'thumbnail_cuda', main, chain('thumbnail_cuda=3')
    for colour in ('0x70de77', '0x8040ff', 'black'):
        yield (f'chromakey_cuda-{colour}', main,
               chain(f'chromakey_cuda={colour}:0.2:0.1', 'yuv420p', 'yuva420p'))
    for at in ('0:0', '20:30', '150:120', '-10:-8'):
        for pixels in ('yuv420p', 'nv12'):
            for over in ('yuva420p', pixels):
                yield (f'overlay_cuda-{at.replace(":", ",")}-{pixels}-{over}', main + logo,
                       f'[0:v]format={pixels},{up}[a];[1:v]format={over},{up}[b];'
                       f'[a][b]overlay_cuda={at},hwdownload,format={pixels}')
    for space in ('tv', 'pc'):
        yield f'colorspace_cuda-{space}', main, chain(f'colorspace_cuda=range={space}')
    yield 'bilateral_cuda', main, chain('bilateral_cuda=window_size=9:sigmaS=3.0:sigmaR=50.0')


def run(command, folder, inputs, graph):
    done = subprocess.run(
        [*command, '-y', '-hide_banner', '-loglevel', 'error', '-init_hw_device', 'cuda=cu:0',
         '-filter_hw_device', 'cu', *inputs, '-filter_complex', graph, '-f', 'framehash', '-hash',
         'md5', '-'],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)
    sums = [line.split(',')[-1].strip() for line in done.stdout.splitlines()
            if line and not line.startswith('#')]
    return done.returncode, sums, done.stderr


def version_of(command):
    text = subprocess.run([*command, '-version'], capture_output=True, text=True).stdout
    found = re.search(r'^libavfilter\s+(\d+)\.\s*(\d+)\.\s*(\d+)', text, re.MULTILINE)
    return '.'.join(found.groups()) if found else None


def filters_of(command):
    text = subprocess.run([*command, '-hide_banner', '-filters'], capture_output=True,
                          text=True).stdout
    return set(re.findall(r'\b(\w+_cuda)\b', text))


def skip(why):
    print(f'SKIPPED: {why}')
    sys.exit(SKIPPED)


def main():
    record = sys.argv[1] == '--record'
    start = sys.argv[2:] if record else [os.path.abspath(sys.argv[2]), 'run', '--', 'ffmpeg']
    command = start or ['ffmpeg']
    plain = command if record else ['ffmpeg']
    try:
        version, filters = version_of(plain), filters_of(plain)
    except FileNotFoundError:
        skip('ffmpeg is not installed')
    if 'scale_cuda' not in filters:
        skip('this ffmpeg was built without CUDA filters')
    known = {}
    if not record:
        with open(sys.argv[1], encoding='utf-8') as f:
            for line in f:
                case, bar, sums = line.partition(' | ')
                if bar:
                    known[case] = sums.split()
        if not any(case.startswith(version + ' ') for case in known):
            skip(f'the filters of libavfilter {version} are not recorded')
    good = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, data in sources().items():
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(data)
        for name, inputs, graph in cases():
            case = f'{version} {name}'
            if name.split('-')[0] not in filters or not (record or case in known):
                continue
            code, sums, said = run(command, folder, inputs, graph)
            if record:
                print(case, '|', *(sums if not code and sums else ['fails']), flush=True)
                continue
            want = known[case]
            same = bool(code) if want == ['fails'] else not code and sums == want
            good += same
            bad += not same
            if not same:
                print(f'{name}: exit status {code}\n  card {want}\n  ours {sums}\n{said[:2000]}')
    if not record:
        print(f'libavfilter {version}: {good} cases as on the card, {bad} differ')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
