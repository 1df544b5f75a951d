#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/latency.md of what tests/bench/latency prints (tools/bench calls --page)."""
import re
import statistics
import sys

# What a call is to stay below, in nanoseconds.
TARGETS = {
    "cuInit to first allocation": 5000000,
    "cuDeviceGetAttribute": 50,
    "cuPointerGetAttribute memory type": 50,
    "cuMemAlloc+cuMemFree 4 KiB": 1000,
    "cuExternalMemoryGetMappedBuffer+cuMemFree": 5000,
    "the same, another range each time": 5000,
    "cuExternalMemoryGetMappedMipmappedArray+Destroy": 5000,
}


def time(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 100 else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


print("""# How long calls take

Medians of five runs of `tools/bench calls`, each of which takes medians, on two cores of a shared host (Intel Xeon, 2.5 GHz), beside what the driver of an H100 took for the same call on its own machine. A call here
returns when its work is done, where a card's may only have queued it. Made by `tools/bench calls --page`.

| call | here | the card's driver | ratio | wanted |
|---|---:|---:|---:|---:|""")
rows = {}
for line in sys.stdin:
    row = re.match(r"(.+?)\s{2,}([\d.]+)\s+([\d.]+|-)(?:\s+[\d.]+|-)?\s*$", line)
    memory = re.match(r"(resident memory.*?)\s{2,}(\d+) KiB", line)
    if memory:
        rows.setdefault(memory.group(1), [None]).append(float(memory.group(2)))
    elif row:
        rows.setdefault(row.group(1), [row.group(3)]).append(float(row.group(2)))
for name, (card, *ours) in rows.items():
    mine = statistics.median(ours)
    if card is None:
        print(f"| {name} | {mine:.0f} KiB | | | 10 MiB |")
        continue
    theirs = None if card == "-" else float(card)
    wanted = f"< {time(TARGETS[name])}" if name in TARGETS else ""
    print(f"| {name} | {time(mine)} | {time(theirs) if theirs else ''} | {f'{mine / theirs:.2g}' if theirs else ''} | {wanted} |")
