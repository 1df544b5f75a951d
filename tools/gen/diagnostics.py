#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/reference/diagnostics.md from emulator/core/diagnostics.def.

  tools/gen/diagnostics.py OUT [--check]
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRING = r'"((?:[^"\\]|\\.)*)"'
HEAD = '''# Diagnostics

Every mistake that Cardless reports has an id that does not change. *error*: the call returns a code, as the driver's does. *undefined*: the manual leaves it undefined,
the driver may crash or corrupt. *portability*: works today, nobody promises that it will.

    CARDLESS_DIAGNOSTICS=text          on standard error (the default)
    CARDLESS_DIAGNOSTICS=off           nothing
    CARDLESS_DIAGNOSTICS=json:FILE     one JSON object a line: id, severity, entry, call, result, text, advice

B09, I04, I07, the reverse of M06 and what the real image has to do with I02, I05, I06, I11 and M13 are seen through [the Vulkan layer](vulkan-layer.md) only. M03 has no
form on Linux and is never reported.

Errors that are not in this list are reported in a sentence without an id (`GENERAL` in JSON). Made from `emulator/core/diagnostics.def`.

| id | severity | what it is | what to do |
|---|---|---|---|
'''


def main():
    text = open(os.path.join(ROOT, 'emulator', 'core', 'diagnostics.def')).read()
    text = re.sub(r'^\s*//.*$', '', text, flags=re.M)
    rows = re.findall(r'EM_DIAGNOSTIC\(\s*(\w+)\s*,\s*(\w+)\s*,\s*' + STRING + r'\s*,\s*' + STRING + r'\s*\)', text)
    if len(rows) != text.count('EM_DIAGNOSTIC('):
        sys.exit('emulator/core/diagnostics.def has a row that does not parse')
    page = HEAD + ''.join('| %s | %s | %s | %s |\n' % (i, s.lower(), t, a) for i, s, t, a in rows if i != 'GENERAL')
    if '--check' in sys.argv:
        if not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read() != page:
            sys.exit('%s is not up to date: run tools/gen/diagnostics.py' % sys.argv[1])
        return
    open(sys.argv[1], 'w').write(page)


main()
