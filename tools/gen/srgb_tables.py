#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of sRGB conversion: srgb_tables.py OUT.c

Decoding: the nearest float of each code's colour, and of each code's alpha.

Encoding: an entry for every 2^16 floats from 2^-13 to 1, whose upper 16 bits are the index. Such a
piece holds at most one border between two codes, so that (entry + lower 16 bits of the float) >> 16
is the code: the entry is the first float's code << 16, plus the number that makes the sum carry
from the border on.

Everything is computed in decimal numbers of 60 digits."""
import struct
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 60
FIRST, END = 0x39000000, 0x3f800000  # 2^-13, 1.0


def bits_of(value):
    return struct.unpack('<I', struct.pack('<f', value))[0]


def float_of(bits):
    return D(struct.unpack('<f', struct.pack('<I', bits))[0])


def linear(s):
    return s / D('12.92') if s <= D('0.04045') else ((s + D('0.055')) / D('1.055')) ** D('2.4')


def nearest(value):
    near = bits_of(float(value))
    return min((max(near - 1, 0), near, near + 1), key=lambda b: (abs(float_of(b) - value), b & 1))


def first_at_least(value):
    bits = max(bits_of(float(value)) - 2, 0)
    while float_of(bits) < value:
        bits += 1
    return bits


def main():
    decode = ([nearest(linear(D(code) / 255)) for code in range(256)] +
              [nearest(D(code) / 255) for code in range(256)])
    # The border below code n + 1: halfway between the codes, by the formula for encoding (linear up
    # to 0.0031308).
    borders = []
    for code in range(255):
        s = (D(code) + D('0.5')) / 255
        straight = s / D('12.92')
        borders.append(first_at_least(straight if straight <= D('0.0031308') else linear(s)))
    assert borders == sorted(set(borders)) and borders[0] > FIRST and borders[-1] < END
    encode = []
    for piece in range(FIRST >> 16, END >> 16):
        here = [b for b in borders if b >> 16 == piece]
        assert len(here) <= 1
        code = sum(b < piece << 16 for b in borders)
        encode.append((code << 16) + (0x10000 - (here[0] & 0xffff) if here else 0))

    def rows(values, each):
        return ''.join('    ' + ' '.join(f'0x{v:08x},' for v in values[i:i + each]) + '\n'
                       for i in range(0, len(values), each))
    with open(sys.argv[1], 'w', encoding='utf-8') as f:
        f.write('// SPDX-License-Identifier: MIT\n// Made by tools/gen/srgb_tables.py.\n'
                '#include "srgb.h"\n\n'
                f'const uint32_t kn_srgb_decode_bits[512] = {{\n{rows(decode, 8)}}};\n\n'
                'const uint32_t kn_srgb_encode_entries[KN_SRGB_ENTRIES] = '
                f'{{\n{rows(encode, 8)}}};\n')


main()
