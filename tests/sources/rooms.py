#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the graph of symbols between the rooms and fails on an edge that points upwards or
sideways.

usage: rooms.py NM TABLE ARCHIVE...               each archive is lib[em-]ROOM.a
       rooms.py --expect TEXT NM TABLE ARCHIVE...   self-test: exactly this must be reported"""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

DEFINED = set('TDBRVWCGSui')


def read_table(path):
    """{room: all rooms that it may use}; the table lists a room after those that it builds on."""
    below = {}
    for line in Path(path).read_text(encoding='utf-8').splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        room, direct = line.split(':')
        if room in below:
            sys.exit(f'{path}: {room} is listed twice')
        unknown = [d for d in direct.split() if d not in below]
        if unknown:
            sys.exit(f'{path}: {room} builds on {unknown}, which must be listed before it')
        below[room] = set(direct.split()).union(*(below[d] for d in direct.split()))
    return below


def room_of(archive):
    name = re.fullmatch(r'lib(?:em-)?(.*)\.a', Path(archive).name)
    if not name:
        sys.exit(f'{archive} is not named lib[em-]ROOM.a')
    return name[1]


def read_symbols(nm, archives):
    """{symbol: (room, object)} of definitions, [(room, object, symbol)] of uses."""
    defined, used = {}, []
    for archive in archives:
        out = subprocess.run([nm, '-A', archive], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            m = re.match(r'(.*):\s*[0-9a-f]* +(\w) (\S+)$', line)
            if not m:
                continue
            where, kind, symbol = m.groups()
            obj = re.sub(r'.*[:/]', '', where)
            if kind in DEFINED:
                defined[symbol] = (room_of(archive), obj)
            elif kind == 'U':
                used.append((room_of(archive), obj, symbol))
    return defined, used


def violations(below, defined, used):
    for room, obj, symbol in used:
        owner, owner_obj = defined.get(symbol, (room, obj))
        if owner != room and owner not in below[room]:
            yield f'{room}/{obj} uses {symbol} of {owner}/{owner_obj}'


def main(arguments):
    expected = None
    if arguments[0] == '--expect':
        expected = arguments[1]
        arguments = arguments[2:]
    nm, table, *archives = arguments
    below = read_table(table)
    rooms = [room_of(a) for a in archives]
    for room in rooms:
        if room not in below:
            sys.exit(f'{room} is not in {table}')
    missing = set(below) - set(rooms) - {'vulkan-layer'}
    if missing and not expected:
        sys.exit(f'no archive of the rooms {sorted(missing)}')
    defined, used = read_symbols(nm, archives)
    found = list(violations(below, defined, used))
    edges = defaultdict(set)
    for room, _, symbol in used:
        if symbol in defined and defined[symbol][0] != room:
            edges[room].add(defined[symbol][0])
    print('\n'.join(found))
    if expected:
        sys.exit(found != [expected])
    for room in rooms:
        print(f'# {room} uses {", ".join(sorted(edges[room])) or "no room"}')
    if not edges['api']:
        sys.exit('no symbol of a room below api is used: nm has read nothing')
    sys.exit(bool(found))


main(sys.argv[1:])
