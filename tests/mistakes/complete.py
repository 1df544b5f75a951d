#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every mistake of external memory and of graphics resources in the catalogue (M, B, I, G) is provoked by a test.

  complete.py diagnostics.def test.c…
"""
import re
import sys

NO_FORM_ON_LINUX = {'M03'}
catalogue = set(re.findall(r'^EM_DIAGNOSTIC\(([MBIG]\d\d)\b', open(sys.argv[1], encoding='utf-8').read(), re.M))
provoked = set()
for path in sys.argv[2:]:
    text = open(path, encoding='utf-8').read()
    provoked |= set(re.findall(r'EXPECT_DIAGNOSTIC\((\w+)\)', text))
    for ids in re.findall(r'"([MBIG]\d\d(?: [MBIG]\d\d)*)"', text): # in order, where one follows from another
        provoked |= set(ids.split())
missing = sorted(catalogue - provoked - NO_FORM_ON_LINUX)
print(f'{len(catalogue)} mistakes; not provoked: {", ".join(missing) or "none"}')
sys.exit(bool(missing))
