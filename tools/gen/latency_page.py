#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of call latencies from docs/measured/latency.txt (tests/bench/latency).

latency_page.py DATA PAGE
"""

import re
import sys

# The limits that a call must keep, in nanoseconds.
LIMITS = {
    'cuInit to first allocation': 5000000,
    'cuDeviceGetAttribute': 50,
    'cuPointerGetAttribute memory type': 50,
    'cuMemAlloc+cuMemFree 4 KiB': 1000,
    'cuStreamQuery idle': 30,
    'cuEventRecord+cuStreamWaitEvent+sync': 200,
    'cuLaunchKernel 1x1 + sync, of the host': 400,
    'cuGraphLaunch of 100 memset nodes + sync': 5000,
    'semaphore signal+wait between 2 processes': 5000,
    'cuExternalMemoryGetMappedBuffer+cuMemFree': 5000,
    'the same, another range each time': 5000,
    'cuExternalMemoryGetMappedMipmappedArray+Destroy': 5000,
}
HEAD = '''# How long calls take

Medians of five runs of `tools/bench calls`, beside the time that the driver of a card (an H100; for
five rows an H200) took for the same call on its own machine. On Cardless a call returns when its
work is done; on a card it may only have queued the work. The processor: {processor}. The figures
are in `docs/measured/latency.txt`; `tools/bench calls --record` measures again.

| call | Cardless | the card's driver | ratio | limit |
|---|---:|---:|---:|---:|
'''


def time(ns):
    for unit, size in (('ms', 1e6), ('µs', 1e3)):
        if ns >= size:
            return f'{ns / size:.3g} {unit}' if ns / size < 100 else f'{ns / size:.0f} {unit}'
    return f'{ns:.0f} ns'


def read(path):
    """The processor; and of each call the time on the card (None for memory, which is no time)
    and here."""
    rows = {}
    processor = 'a processor without a name'
    with open(path, encoding='utf-8') as f:
        for line in f:
            row = re.match(r'([^#\s].*?)\s{2,}([\d.]+)\s+([\d.]+|-)\s*$', line)
            memory = re.match(r'(resident memory.*?)\s{2,}(\d+) KiB', line)
            if memory:
                rows[memory[1]] = None, float(memory[2])
            elif row:
                rows[row[1]] = row[3], float(row[2])
            elif line.startswith('#'):  # the last one of these lines
                processor = line[2:].strip()
    return processor, rows


def page(processor, rows):
    out = []
    for name, (card, ours) in rows.items():
        if card is None:
            out.append(f'| {name} | {ours:.0f} KiB | | | 10 MiB |')
            continue
        theirs = None if card == '-' else float(card)
        limit = f'< {time(LIMITS[name])}' if name in LIMITS else ''
        out.append(
            f"| {name} | {time(ours)} | {time(theirs) if theirs else ''} "
            f"| {f'{ours / theirs:.2g}' if theirs else ''} | {limit} |"
        )
    return HEAD.format(processor=processor) + '\n'.join(out) + '\n'


if __name__ == '__main__':
    with open(sys.argv[2], 'w', encoding='utf-8') as out_file:
        out_file.write(page(*read(sys.argv[1])))
