#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a table of Vulkan's formats (number, name, bytes of an element, texels of its side) from
the installed header. Sizes are read from the names in VkFormat: R5G6B5_UNORM_PACK16,
BC1_RGB_UNORM_BLOCK, ASTC_8x5_SRGB_BLOCK …

  formats.py OUT compiler…
"""
import re
import subprocess
import sys

SMALL_BLOCKS = ('BC1_', 'BC4_', 'ETC2_R8G8B8_', 'ETC2_R8G8B8A1_', 'EAC_R11_')


def element(name):
    """Bytes of a texel or block, and texels of its side. 0 bytes if CUDA's arrays have no such
    format: depth, several planes, sides that differ."""
    if name.startswith(('BC', 'ETC2', 'EAC')):
        return (8 if name.startswith(SMALL_BLOCKS) else 16), 4
    first = name.split('_')[0]
    if (name.startswith(('D', 'S', 'X8_D', 'ASTC', 'PVRTC')) or re.search('PLANE|42[02]|444', name)
            or not re.fullmatch(r'([A-Z]\d+)+', first)):
        return 0, 1
    return sum(int(bits) for bits in re.findall(r'\d+', first)) // 8, 1


def main():
    out, compiler = sys.argv[1], sys.argv[2:]
    text = subprocess.run(compiler + ['-E', '-P', '-x', 'c', '-'],
                          input='#include <vulkan/vulkan_core.h>\n', check=True,
                          capture_output=True, text=True).stdout
    found = re.findall(r'\bVK_FORMAT_(\w+)\s*=\s*(\d+)\s*,', text)
    rows = {int(number): name for name, number in reversed(found) if name != 'UNDEFINED'}
    if len(rows) < 180:
        sys.exit('only %d formats in vulkan_core.h' % len(rows))
    with open(out, 'w', encoding='utf-8') as f:
        for number, name in sorted(rows.items()):
            f.write('{%d, "%s", %d, %d},\n' % (number, name, *element(name)))


main()
