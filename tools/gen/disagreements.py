#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/disagreements.md from emulator/core/quirks.def: where the manual and driver 580 disagree, and what each personality does.

  tools/gen/disagreements.py OUT [--check]
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRING = r'"((?:[^"\\]|\\.)*)"'


def rows():
    text = re.sub(r'^\s*//.*$', '', open(os.path.join(ROOT, 'emulator', 'core', 'quirks.def')).read(), flags=re.M)
    text = re.sub(r'"\s*\n\s*"', '', text)
    pattern = r'EM_QUIRK\(\s*(\w+)\s*,\s*' + r'\s*,\s*'.join([STRING] * 4) + r'\s*\)'
    found = re.findall(pattern, text)
    if len(found) != len(re.findall(r'\bEM_QUIRK\(', text)):
        sys.exit('emulator/core/quirks.def has a row that does not parse')
    return sorted(found, key=lambda r: (r[1], r[0]))


def main():
    out = ['# Where the manual and the driver disagree', '',
           'The software card has two personalities. Under `manual` (the default) it does what the manual states; under `driver-580` what a real H100',
           'with driver 580 did. Where the manual is silent, both do as the driver does. Choose with `CARDLESS_PERSONALITY=manual|driver-580` or',
           '`cardless run --personality …`. Made from `emulator/core/quirks.def`.', '',
           '| where | the manual | driver 580 | recording | name |', '|---|---|---|---|---|']
    for name, section, manual, driver, recording in rows():
        out.append('| %s | %s | %s | `%s` | %s |' % (section, manual, driver, recording, name))
    text = '\n'.join(out) + '\n'
    if '--check' in sys.argv:
        if not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read() != text:
            sys.exit('%s is not up to date: run tools/gen/disagreements.py' % sys.argv[1])
        return
    open(sys.argv[1], 'w').write(text)


main()
