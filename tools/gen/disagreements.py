#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of disagreements from emulator/core/quirks.def: where the manual and driver 580
disagree, and what each personality does.

  disagreements.py PAGE
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, 'emulator', 'core', 'quirks.def')
STRING = r'"((?:[^"\\]|\\.)*)"'
HEAD = '''# Where the manual and the driver disagree

Cardless has two personalities. With `manual` (the default) it does what the manual states; with
`driver-580` it does what a real H100 with driver 580 did. If the manual is silent, both do as the
driver does. Choose with `CARDLESS_PERSONALITY=manual|driver-580` or
`cardless run --personality …`.
Made from `emulator/core/quirks.def`.

| call or section | the manual | driver 580 | recording | name |
|---|---|---|---|---|
'''


def read():
    """Rows of (name, section, manual, driver, recording)."""
    with open(TABLE, encoding='utf-8') as f:
        text = re.sub(r'^\s*//.*$', '', f.read(), flags=re.M)
    text = re.sub(r'"\s*\n\s*"', '', text)
    found = re.findall(
        r'EM_QUIRK\(\s*(\w+)\s*,\s*' + r'\s*,\s*'.join([STRING] * 4) + r'\s*\)', text
    )
    if len(found) != len(re.findall(r'\bEM_QUIRK\(', text)):
        sys.exit(f'{TABLE} has a row that does not parse')
    return sorted(found, key=lambda r: (r[1], r[0]))


def page(rows):
    return HEAD + ''.join(
        f'| {section} | {manual} | {driver} | `{recording}` | {name} |\n'
        for name, section, manual, driver, recording in rows
    )


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as out_file:
        out_file.write(page(read()))
