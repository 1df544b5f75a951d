# SPDX-License-Identifier: MIT
"""Pictures of a page in letters: one for each part, by its hue or by how light a grey it is."""
import zlib


def letter(red, green, blue):
    """One letter for a colour: its hue, or how light a grey it is."""
    most, least = max(red, green, blue), min(red, green, blue)
    if most - least < 30:
        return '.:-=#'[4 - min(4, most // 52)]
    hue = {red: ((green - blue) / (most - least)) % 6, green: (blue - red) / (most - least) + 2,
           blue: (red - green) / (most - least) + 4}[most]
    return 'rygcbp'[round(hue) % 6]


def decode_png(data):
    """Width, height and rows of red, green and blue of a PNG with 8 bits and no interlacing."""
    at, packed, channels = 8, b'', 3
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], 'big'), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height = (int.from_bytes(body[i:i + 4], 'big') for i in (0, 4))
            channels = {2: 3, 6: 4}[body[9]]
        elif kind == b'IDAT':
            packed += body
        at += 12 + size
    raw, stride, before, lines = zlib.decompress(packed), width * channels, None, []
    before = bytearray(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:][:stride])
        for i in range(stride):
            a = line[i - channels] if i >= channels else 0
            b, c = before[i], before[i - channels] if i >= channels else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        lines.append(bytes(v for i, v in enumerate(line) if channels == 3 or i % 4 != 3))
        before = line
    return width, height, lines


def letters(data):
    """The lines of a PNG in letters."""
    width, _, lines = decode_png(data)
    return [''.join(letter(*line[3 * x:3 * x + 3]) for x in range(width)) for line in lines]
