#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the picture of README.md from the demo's own PNG file and report: the image that a kernel
drew, the memory that both share, and the floor for which Vulkan sampled all levels of the image.

  demo_picture.py PICTURE.png REPORT.txt OUT.svg      (tools/demo --readme)
"""

import base64
import re
import struct
import sys
import zlib

from drawing import Drawing


def paeth(a, b, c):
    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]


def read_rows(png):
    """The rows of a PNG file with 8-bit RGBA texels."""
    width, height = struct.unpack('>II', png[16:24])
    data, at = b'', 8
    while at < len(png):
        size, kind = struct.unpack('>I4s', png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if kind == b'IDAT' else b''
        at += size + 12
    data = zlib.decompress(data)
    above, rows = bytearray(4 * width), []
    for y in range(height):
        start = y * (4 * width + 1)
        row = bytearray(data[start + 1 : start + 1 + 4 * width])
        for i in range(4 * width):
            left, corner = (row[i - 4], above[i - 4]) if i >= 4 else (0, 0)
            guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))
            row[i] = (row[i] + guess[data[start]]) & 255
        rows.append(row)
        above = row
    return rows


def write_half(rows):
    """A PNG file of half the size, without alpha."""
    raw = b''
    for top, bottom in zip(rows[::2], rows[1::2]):
        raw += b'\0' + bytes(
            (top[i + c] + top[i + 4 + c] + bottom[i + c] + bottom[i + 4 + c] + 2) // 4
            for i in range(0, len(top), 8)
            for c in range(3)
        )

    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', crc)

    head = struct.pack('>IIBBBBB', len(rows[0]) // 8, len(rows) // 2, 8, 2, 0, 0, 0)
    return (
        b'\x89PNG\r\n\x1a\n'
        + chunk(b'IHDR', head)
        + chunk(b'IDAT', zlib.compress(raw, 9))
        + chunk(b'IEND', b'')
    )


def main():
    with open(sys.argv[1], 'rb') as f:
        rows = read_rows(f.read())
    with open(sys.argv[2], encoding='utf-8') as f:
        report = f.read()
    width, height = len(rows[0]) // 4, len(rows)
    size = int(re.search(r'#1: [^\n]*?, (\d+) bytes', report)[1])
    shape = re.search(r'(\d+)x(\d+)x0, (\d+) levels', report)
    d = Drawing(
        860,
        208,
        'A CUDA kernel draws, Vulkan samples the same memory',
        'The picture that a kernel drew, the shared memory, and the floor that Vulkan made of it.',
    )
    data = base64.b64encode(write_half(rows)).decode()
    d.parts.append(
        f'<defs><image id="demo" width="{width}" height="{height}" '
        f'href="data:image/png;base64,{data}"/></defs>'
    )
    d.text(150, 20, 'a CUDA kernel draws (Cardless)', 'head middle')
    d.text(710, 20, 'Vulkan samples (lavapipe)', 'head middle')
    for x, top in ((5, 0), (565, height // 2)):
        d.parts.append(
            f'<svg x="{x}" y="38" width="290" height="{290 * height / 2 / width:.1f}" '
            f'viewBox="0 {top} {width} {height // 2}"><use href="#demo"/></svg>'
        )
    d.rect(335, 60, 190, 100, 'c')
    d.text(430, 84, 'shared memory', 'head middle')
    d.text(430, 106, f'{shape[1]} x {shape[2]}, {shape[3]} levels', 'small middle')
    d.text(430, 126, f'{size} bytes, one descriptor', 'small middle')
    d.text(430, 146, 'nothing is copied', 'small middle')
    d.path([(300, 110), (330, 110)], 'wait', arrow=True)
    d.path([(530, 110), (560, 110)], 'wait', arrow=True)
    d.text(430, 200, 'made by tools/demo on a machine without a graphics card', 'pale small middle')
    with open(sys.argv[3], 'w', encoding='utf-8') as f:
        f.write(d.svg())


main()
