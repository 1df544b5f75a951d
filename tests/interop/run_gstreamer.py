#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unmodified GStreamer: frames from its CUDA elements must equal those from its CPU elements.

    run_gstreamer.py CARDLESS FOLDER

cudaconvertscale compiles its kernels with NVRTC, which comes from PyPI and is installed into
FOLDER. Exit status 77: GStreamer's CUDA plugin is not installed. Without NVRTC or Xvfb, the cases
that need them are skipped with a message."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# The last version that compiles for the architectures that GStreamer asks for (sm_52).
NVRTC = 'nvidia-cuda-nvrtc-cu12==12.9.86'
SKIPPED, FRAMES, SECONDS = 77, 3, 60
CUDA = 'video/x-raw(memory:CUDAMemory)'

# Source format and size, result format and size, test pattern, and the largest and the mean
# difference of a byte that is allowed. Colours differ a little, and more at the edges of bars,
# because the kernels use floats and sample chroma in the middle of four pixels, and the CPU uses
# integers and samples at the left edge. Conversions within a family of formats are exact.
CONVERSIONS = [
    ('BGRA', '320x240', 'RGBA', '320x240', 'smpte', 0, 0),
    ('RGBA', '320x240', 'RGBP', '320x240', 'smpte', 0, 0),
    ('I420', '322x242', 'NV12', '322x242', 'smpte', 0, 0),
    ('NV12', '320x240', 'I420', '320x240', 'snow', 0, 0),
    ('Y444', '320x240', 'RGBA', '320x240', 'smpte', 6, 1.5),
    ('NV12', '320x240', 'RGBA', '320x240', 'gradient', 6, 2),
    ('RGBA', '320x240', 'NV12', '320x240', 'gradient', 6, 2),
    ('P010_10LE', '320x240', 'NV12', '320x240', 'gradient', 2, 1),
    ('NV12', '320x240', 'RGBA', '320x240', 'smpte', 255, 4),
    ('RGBA', '320x240', 'RGBA', '160x120', 'gradient', 2, 1),
    ('RGBA', '160x120', 'RGBA', '320x240', 'gradient', 2, 1),
    ('NV12', '320x240', 'I420', '160x120', 'gradient', 3, 1),
    ('RGBA', '320x240', 'RGBA', '200x100', 'smpte', 255, 4),
]
UPLOADS = ['I420', 'NV12', 'P010_10LE', 'Y444', 'BGRA', 'RGBA', 'RGBx', 'I420_10LE']
GL_WAYS = {
    'from GL': f'glupload ! cudaupload ! {CUDA},format=RGBA ! cudadownload',
    'to GL': 'cudaupload ! cudadownload ! video/x-raw(memory:GLMemory) ! gldownload',
    'from GL to GL':
        'glupload ! cudaupload ! cudadownload ! video/x-raw(memory:GLMemory) ! gldownload',
}


class Runner:
    def __init__(self, cardless, folder):
        self.cardless, self.folder, self.failed, self.count = cardless, Path(folder), 0, 0
        # The list of plugins depends on the libraries that load, so each side has its own.
        self.environment = {**os.environ, 'XDG_RUNTIME_DIR': folder, 'LIBGL_ALWAYS_SOFTWARE': '1'}

    def pipeline(self, elements, before, registry):
        """The bytes of the frames that a pipeline makes."""
        out = self.folder / 'frames'
        out.unlink(missing_ok=True)
        command = [*before, 'gst-launch-1.0', '-q', *elements.split(), '!', 'filesink',
                   f'location={out}']
        environment = {**self.environment, 'GST_REGISTRY': str(self.folder / registry)}
        r = subprocess.run(command, capture_output=True, text=True, env=environment,
                           timeout=SECONDS)
        if r.returncode or not out.exists():
            return None, r.stderr + r.stdout
        return out.read_bytes(), r.stderr

    def compare(self, name, source, gpu, cpu, most=0, mean=0, before=()):
        self.count += 1
        want, error = self.pipeline(f'{source} ! {cpu}', [], 'cpu')
        if want is None:
            sys.exit(f'the reference of {name}: {error}')
        got, error = self.pipeline(f'{source} ! {gpu}', [*before, self.cardless, 'run', '--'],
                                   'cuda')
        if got is None or len(got) != len(want):
            self.report(False, name, f'{got and len(got)} bytes, not {len(want)}: {error}')
            return
        off = [abs(a - b) for a, b in zip(got, want)]
        average = sum(off) / len(off)
        self.report(max(off) <= most and average <= mean, name,
                    f'off by at most {max(off)}, {average:.2f} on average')

    def report(self, good, name, text):
        self.failed += not good
        print('ok' if good else 'not ok', name, '#', text.strip())


def source(pixels, size, pattern):
    width, height = size.split('x')
    return (f'videotestsrc num-buffers={FRAMES} pattern={pattern} ! '
            f'video/x-raw,format={pixels},width={width},height={height},framerate=30/1')


def caps(kind, pixels, size):
    width, height = size.split('x')
    return f'{kind},format={pixels},width={width},height={height}'


def packed(pixels):
    """Elements that write frames without padding, on both sides: another format of the same
    family, which the CPU makes."""
    other = {'RGBA': 'BGRA', 'BGRA': 'RGBA', 'RGBx': 'BGRx', 'RGBP': 'GBR'}
    return f'videoconvert ! video/x-raw,format={other.get(pixels, "AYUV")}'


def install_nvrtc(folder):
    found = sorted(Path(folder).glob('**/libnvrtc.so.12'))
    if found:
        return found[0]
    pip = subprocess.run([sys.executable, '-m', 'pip', 'install', '--quiet', '--retries', '1',
                          '--timeout', '15', '--no-deps', '--target', folder, NVRTC],
                         capture_output=True, text=True)
    found = sorted(Path(folder).glob('**/libnvrtc.so.12'))
    if not found:
        print(f'SKIPPED: cudaconvertscale, because pip cannot install {NVRTC}: '
              f'{pip.stderr.strip()[-200:]}')
    return found[0] if found else None


def main():
    cardless, folder = sys.argv[1:]
    plugin = shutil.which('gst-inspect-1.0') and subprocess.run(
        ['gst-inspect-1.0', 'nvcodec'], capture_output=True).returncode == 0
    if not plugin:
        print('SKIPPED: GStreamer or its CUDA plugin is not installed: gstreamer1.0-tools, '
              'gstreamer1.0-plugins-base, gstreamer1.0-plugins-bad')
        sys.exit(SKIPPED)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(cardless, scratch)
        for pixels in UPLOADS:
            runner.compare(f'upload {pixels}', source(pixels, '322x242', 'smpte'),
                           f'cudaupload ! cudadownload ! {packed(pixels)}', packed(pixels))
        nvrtc = install_nvrtc(folder)
        if nvrtc:
            runner.environment |= {
                'GST_CUDA_NVRTC_LIBNAME': str(nvrtc), 'LD_LIBRARY_PATH': ':'.join(
                    [str(nvrtc.parent), *filter(None, [os.environ.get('LD_LIBRARY_PATH')])])}
            (Path(scratch) / 'cuda').unlink(missing_ok=True)  # there are more elements now
        for pixels, size, result, to, pattern, most, mean in CONVERSIONS if nvrtc else []:
            method = 'bilinear' if size != to else 'nearest-neighbour'
            runner.compare(
                f'{pixels} {size} to {result} {to}, {pattern}', source(pixels, size, pattern),
                f'cudaupload ! cudaconvertscale ! {caps(CUDA, result, to)} ! cudadownload ! ' +
                packed(result),
                f'videoconvertscale method={method} ! {caps("video/x-raw", result, to)} ! ' +
                packed(result), most, mean)
        xvfb = shutil.which('xvfb-run')
        if not xvfb:
            print('SKIPPED: the GL path, because xvfb-run is not installed')
        for name, way in GL_WAYS.items() if xvfb else []:
            runner.compare(name, source('RGBA', '320x240', 'smpte'), f'{way} ! {packed("RGBA")}',
                           packed('RGBA'), before=[xvfb, '-a'])
    print(f'{runner.count - runner.failed} of {runner.count} pipelines agree')
    sys.exit(bool(runner.failed))


main()
