# SPDX-License-Identifier: MIT
"""Pictures of the lessons, drawn from the output of `cardless step`, `trace` and `layout`."""

import glob
import json
import os
import re
import struct
import subprocess
import tempfile

from drawing import Drawing

MEMORY = re.compile(
    r'memory (?P<number>\d+), (?P<name>.*?): (?P<size>\d+) (?P<unit>MiB|bytes)'
    r'(?P<address> at 0x[0-9a-f]+)?(?: without an address)?'
    r'(?:; the bytes of memory (?P<of>\d+)(?: from (?P<offset>\d+) on)?)?'
    r'(?:; overlaps (?P<overlaps>.*))?$'
)
WIDTH = 780


def tool(build):
    return os.path.join(build, 'tools', 'cardless', 'cardless')


def program(build, number):
    return os.path.join(build, 'examples', 'learn', 'lesson_' + number)


def step(build, number, commands):
    out = subprocess.run([tool(build), 'step', '--do', commands, '--', program(build, number)],
                         capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    return out.stdout


def size_text(size):
    return f'{size >> 20} MiB' if size % (1 << 20) == 0 else f'{size} bytes'


def memory_map(build, number, until, title):
    """Imports at the bottom, and above each the ranges of addresses that show parts of it."""
    text = step(build, number, f'until {until}; map; c')
    lines = re.findall(r'^ {4}(memory .*)$', text, re.M)
    rows = [(line, MEMORY.match(line)) for line in lines]
    sizes, bases, shown = {}, [], []
    for line, m in rows:
        size = int(m['size']) << (20 if m['unit'] == 'MiB' else 0)
        sizes[m['number']] = size
        (shown if m['address'] else bases).append((line, m, size))
    left, across = 150, WIDTH - 170
    longest = max(sizes.values())
    bottom = 44 + 62 * len(shown)
    height = bottom + 60 * len(bases)
    d = Drawing(WIDTH, height, title, 'Ranges of addresses, and the memory that they show.')
    d.text(10, 22, title, 'head')
    y = 44
    for line, m, size in shown:
        x = left + int(m['offset'] or 0) * across / longest
        width = size * across / longest
        with d.fact(re.sub(' at 0x[0-9a-f]+', '', line)):
            d.text(10, y + 18, f'memory {m["number"]}', 'code')
            d.text(10, y + 34, 'addresses', 'pale small')
            d.rect(x, y, width, 40, 'abcd'[int(m['number']) % 4], 0)
            d.text(x + 8, y + 17, size_text(size), 'small')
            d.text(x + 8, y + 33, f'from byte {m["offset"] or 0} on', 'small')
        d.path([(x, y + 40), (x, bottom)], 'line dash')
        d.path([(x + width, y + 40), (x + width, bottom)], 'line dash')
        y += 62
    for line, m, size in bases:
        with d.fact(line):
            d.text(10, y + 22, f'memory {m["number"]}', 'code')
            d.text(10, y + 38, 'the bytes', 'pale small')
            d.rect(left, y, size * across / longest, 46, 'gap', 0)
            d.text(left + 8, y + 28, f'{m["name"]}, {size_text(size)}', 'small')
        y += 60
    return d


def layout(build, *arguments):
    out = subprocess.run([tool(build), 'layout', *arguments],
                         capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    return out.stdout


def mip_chain(build, _number, title, *image):
    """The levels of each layer, and all of them in the order of memory."""
    text = layout(build, *image, '--no-picture')
    levels = [[int(n) for n in m] for m in
              re.findall(r'^ +(\d+) +(\d+)x(\d+) +(\d+) +\d+ +(\d+) ', text, re.M)]  # fmt: skip
    layers, stride = map(int, re.search(r'layers +(\d+), (\d+) bytes apart', text).groups())
    d = Drawing(WIDTH, 330, title, 'The levels of each layer, and their places in memory.')
    d.text(10, 22, title, 'head')
    scale = (WIDTH - 40) / (layers * stride)
    for layer in range(layers):
        x = 20 + layer * WIDTH / 2
        d.text(x, 52, f'layer {layer}')
        for level, width, height, offset, size in levels:
            colour = 'abcd'[level % 4]
            start = layer * stride + offset
            with d.fact(f'layer {layer} level {level} at {start} of {size} bytes'):
                d.rect(x, 64, 2 * width, 2 * height, colour, 0)
                if level < 3:
                    d.text(x + 4, 80, f'{level}', 'small')
                    d.text(x, 64 + 2 * height + 14, f'{width} x {height}', 'small')
                left = 20 + start * scale
                d.rect(left, 240, size * scale, 40, colour, 0)
                if level < 2:
                    d.text(left + 4, 296 + 14 * level, start, 'small')
            x += 2 * width + 16
    d.text(20, 230, 'memory, in bytes')
    return d


def grid(d, rows, x0, y0, cell, per_colour):
    for at, (label, numbers) in enumerate(rows):
        y = y0 + at * cell[1]
        d.text(x0 - 8, y + cell[1] / 2 + 4, label, 'pale small end')
        for k, n in enumerate(numbers):
            x = x0 + k * cell[0]
            with d.fact(f'row {label} column {k} is number {n}'):
                d.rect(x, y, cell[0], cell[1], 'abcd'[n // per_colour % 4], 0)
                d.text(x + cell[0] / 2, y + cell[1] / 2 + 4, n, 'small middle')


def gobs(build, _number, title, *image):
    """The GOBs of an image and the pieces of a GOB, each with its place in memory."""
    text = layout(build, *image)
    block = int(re.search(r' 1x(\d+)x1 ', text)[1])
    image_text, gob_text = text.split('inside a GOB')
    rows = [[(label, [int(n) for n in numbers.split()])
             for label, numbers in re.findall(r'^ +(\d+) \|([ \d]+)$', part, re.M)]
            for part in (image_text, gob_text)]  # fmt: skip
    d = Drawing(WIDTH, 340, title, 'The order of GOBs in the image, and of pieces in a GOB.')
    d.text(10, 22, title, 'head')
    d.text(60, 52, 'the image: each cell is a GOB of 512 bytes')
    grid(d, rows[0], 60, 66, (72, 30), block)
    d.text(440, 52, 'a GOB: each cell is 16 bytes of a row')
    grid(d, rows[1], 440, 66, (72, 30), 8)
    d.text(10, 322, 'The numbers are the order in memory; on the left is the row.', 'pale')
    return d


class Event:
    def __init__(self, lane, e, clock):
        self.lane, self.name, self.is_call = lane, e['name'], e['cat'] == 'call'
        self.start, self.end = clock + e['ts'], clock + e['ts'] + e['dur']
        self.row = None


def lavapipe():
    found = glob.glob('/usr/share/vulkan/icd.d/lvp_icd*.json')
    return {'VK_DRIVER_FILES': found[0], 'VK_ICD_FILENAMES': found[0]} if found else {}


def recorded(build, number):
    """The Perfetto events of each process of a run, with the clock at their start in us."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'run.cardless')
        subprocess.run([tool(build), 'run', '--trace', path, '--', program(build, number)],
                       capture_output=True, timeout=60, check=True,
                       env={**os.environ, **lavapipe()})  # fmt: skip
        for file in sorted(os.listdir(folder)):
            file = os.path.join(folder, file)
            subprocess.run([tool(build), 'trace', '--perfetto', file + '.json', file],
                           capture_output=True, timeout=60, check=True)  # fmt: skip
            with open(file, 'rb') as f:  # struct rf_header: ns[0]
                clock = struct.unpack_from('<Q', f.read(64), 48)[0] / 1000
            with open(file + '.json', encoding='utf-8') as f:
                trace = json.load(f)
            yield clock, trace['traceEvents'] if isinstance(trace, dict) else trace


def read_events(build, number, lanes):
    """[Event], [(from, to)]; `lanes` gets their names in the order of their first event."""
    events, arrows = [], []
    processes = list(recorded(build, number))
    for process, (clock, trace) in enumerate(processes):
        prefix = f'{process + 1}: ' if len(processes) > 1 else ''
        names = {(e['pid'], e['tid']): e['args']['name'] for e in trace
                 if e['name'] == 'thread_name'}  # fmt: skip
        here, flows = {}, {}
        for e in trace:
            key = (e['pid'], e['tid'])
            if e['ph'] == 'X':
                lane = 'host' if e['pid'] == 1 else names[key]
                event = Event(prefix + lane, e, clock)
                here.setdefault(key, []).append(event)
                events.append(event)
            elif e['ph'] in 'sf':
                flows.setdefault((e['id'], e['name']), {})[e['ph']] = (key, clock + e['ts'])
        for (_, why), ends in flows.items():
            found = [[x for x in here[key] if x.start - 0.01 <= at <= x.end + 0.01]
                     for key, at in (ends['s'], ends['f'])]  # fmt: skip
            if all(found):
                arrows.append((found[0][-1], found[1][0], why))
    for event in sorted(events, key=lambda e: e.start):
        if event.lane not in lanes:
            lanes.append(event.lane)
    return events, arrows


def timeline(build, number, title, first, last):
    """Calls and commands from call `first` to `last`: a row for each call, a lane for each stream.

    The rows are in the order of the calls; distances in time are not drawn."""
    lanes = []
    events, arrows = read_events(build, number, lanes)
    calls = sorted((e for e in events if e.is_call), key=lambda e: e.start)
    names = [c.name.removesuffix('_v2') for c in calls]
    shown = calls[names.index(first) : len(names) - names[::-1].index(last)]
    for row, call in enumerate(shown):
        call.row = row
    for source, target, why in arrows:
        if why == 'submit':
            target.row = source.row
    events = [e for e in events if e.row is not None]
    lanes = [lane for lane in lanes if any(e.lane == lane for e in events)]
    high, parts = 38, [1.7 if lane.endswith('host') else 1 for lane in lanes]
    across = (WIDTH - 20 + 32) / sum(parts)
    lefts = [10 + across * sum(parts[:i]) for i in range(len(lanes))]
    widths = [across * part - 32 for part in parts]
    d = Drawing(WIDTH, 76 + high * len(shown), title, 'Calls, and the work that they submit.')
    d.text(10, 22, title, 'head')
    for i, lane in enumerate(lanes):
        d.text(lefts[i], 50, lane)
        d.path([(lefts[i], 58), (lefts[i] + widths[i], 58)])
    for source, target, why in arrows:
        if source.row is None or target.row is None:
            continue
        y = [66 + high * e.row + 13 for e in (source, target)]
        i, k = lanes.index(source.lane), lanes.index(target.lane)
        with d.fact(f'{why}: {source.name} {source.row} to {target.name} {target.row}'):
            right = i < k
            ends = (lefts[i] + widths[i] * right, lefts[k] + widths[k] * (not right))
            d.curve(ends[0], y[0], ends[1], y[1], 'line' if why == 'submit' else 'wait')
    for e in sorted(events, key=lambda e: (e.row, lanes.index(e.lane))):
        i = lanes.index(e.lane)
        with d.fact(f'{e.lane}: {e.name} in row {e.row}'):
            d.rect(lefts[i], 66 + high * e.row, widths[i], 27,
                   'gap' if e.is_call else 'abcd'[i % 4])  # fmt: skip
            name = e.name.removesuffix('_v2')
            d.text(lefts[i] + 6, 84 + high * e.row, name, 'small')
    return d


PICTURES = {
    '1': (memory_map, 'cuMemsetD8', 'One import, and a range of addresses that shows it'),
    '2': (memory_map, 'cuMemsetD8', 'Two buffers in one import, and a mapping of both'),
    '3': (mip_chain, 'Four levels, two layers, and their order in memory',
          '64x64', '--format', 'rgba8', '--levels', '4', '--layers', '2'),
    '4': (gobs, 'An image of 64 x 40 texels of 4 bytes', '64x40', '--format', 'r32'),
    '5': (memory_map, 'cuMemsetD8', 'Two mappings that share half of their bytes'),
    '6': (timeline, 'A buffer goes to CUDA and back, twice',
          'cuGraphicsResourceSetMapFlags', 'cardlessReadBuffer'),
    '7': (timeline, 'A semaphore lets the second stream wait for the first one',
          'cuMemsetD8Async', 'cuStreamSynchronize'),
    '8': (timeline, 'Two processes take turns with the same memory',
          'cuMemCreate', 'cuMemUnmap'),
    '9': (timeline, 'A kernel writes into a Vulkan image',
          'cuImportExternalMemory', 'cuMipmappedArrayDestroy'),
}  # fmt: skip


def picture(build, number):
    draw, *arguments = PICTURES[number]
    return draw(build, number, *arguments).svg()
