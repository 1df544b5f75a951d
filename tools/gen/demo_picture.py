#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the picture of README.md from the demo's own PNG file and report: the image that Vulkan
drew, the memory that both share, and the image that CUDA made of it.

  demo_picture.py PICTURE.png REPORT.txt OUT.svg      (tools/demo --picture)
"""

import base64
import re
import struct
import sys

from drawing import Drawing

GAP = 12  # texels between the two halves of the demo's PNG (examples/vulkan_cuda/picture.c)


def main():
    with open(sys.argv[1], 'rb') as f:
        png = f.read()
    with open(sys.argv[2], encoding='utf-8') as f:
        report = f.read()
    width, height = struct.unpack('>II', png[16:24])
    half = (width - GAP) // 2
    size = int(re.search(r'#1: [^\n]*?, (\d+) bytes', report)[1])
    shape = re.search(r'(\d+)x(\d+)x(\d+), (\d+) levels', report)
    d = Drawing(
        860,
        168,
        'Vulkan draws, CUDA reads and writes the same memory',
        'The mip chain that Vulkan drew, the shared memory, and the one that CUDA made.',
    )
    data = base64.b64encode(png).decode()
    d.parts.append(
        f'<defs><image id="demo" width="{width}" height="{height}" '
        f'href="data:image/png;base64,{data}"/></defs>'
    )
    d.text(150, 20, 'Vulkan (lavapipe) draws', 'head middle')
    d.text(710, 20, 'CUDA (Cardless) works on it', 'head middle')
    for x, left in ((5, 0), (565, width - half)):
        d.parts.append(
            f'<svg x="{x}" y="38" width="290" height="{290 * height / half:.1f}" '
            f'viewBox="{left} 0 {half} {height}"><use href="#demo"/></svg>'
        )
    d.rect(335, 38, 190, 100, 'c')
    d.text(430, 62, 'shared memory', 'head middle')
    d.text(
        430, 84, f'{shape[1]} x {shape[2]}, {shape[4]} levels, {shape[3]} layers', 'small middle'
    )
    d.text(430, 104, f'{size} bytes, one descriptor', 'small middle')
    d.text(430, 124, 'nothing is copied', 'small middle')
    d.path([(300, 88), (330, 88)], 'wait', arrow=True)
    d.path([(530, 88), (560, 88)], 'wait', arrow=True)
    d.text(430, 158, 'made by tools/demo on a machine without a graphics card', 'pale small middle')
    with open(sys.argv[3], 'w', encoding='utf-8') as f:
        f.write(d.svg())


main()
