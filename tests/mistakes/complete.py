#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the tests provoke every mistake of the catalogue that concerns external memory,
graphics resources, external semaphores or the order of work (M, B, I, G, S, O), and kernels (K).

  complete.py diagnostics.def test.c…
"""
import re
import sys

NO_FORM_ON_LINUX = {'M03'}
definitions = open(sys.argv[1], encoding='utf-8').read()
catalogue = set(re.findall(r'^EM_DIAGNOSTIC\(([MBIGSOK]\d\d)\b', definitions, re.M))
provoked = set()
for path in sys.argv[2:]:
    text = open(path, encoding='utf-8').read()
    provoked |= set(re.findall(r'EXPECT_DIAGNOSTIC\((\w+)\)', text))
    # Several ids in one string are in order, because one mistake follows from another.
    for ids in re.findall(r'"([MBIGSOK]\d\d(?: [MBIGSOK]\d\d)*)"', text):
        provoked |= set(ids.split())
missing = sorted(catalogue - provoked - NO_FORM_ON_LINUX)
print(f'{len(catalogue)} mistakes; not provoked: {", ".join(missing) or "none"}')
sys.exit(bool(missing))
