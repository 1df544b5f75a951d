#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the table of compiled-in device profiles: device_profiles.py OUT.c FILE.dev…

Comments are left out, line numbers are kept; device-model/profile.c reads the text when the driver starts."""
import os
import re
import sys


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:])
    rows = []
    for path in files:
        lines = []
        for number, line in enumerate(open(path, encoding='utf-8'), 1):
            line = line.split('#')[0].strip()
            m = re.fullmatch(r'([a-z0-9_.]+)\s*=\s*(\S.*)', line)
            if line and not m:
                sys.exit(f'{path}:{number}: not `key = value`: {line}')
            lines.append(f'{m[1]}={m[2]}' if m else '')
        text = '\n'.join('     "%s\\n"' % s.replace('\\', '\\\\').replace('"', '\\"') for s in lines)
        rows.append('    {"%s",\n%s},\n' % (os.path.splitext(os.path.basename(path))[0], text))
    with open(out, 'w', encoding='utf-8') as f:
        f.write('// SPDX-License-Identifier: MIT\n// Made by tools/gen/device_profiles.py from data/devices/*.dev; change those.\n'
                '#include "profile.h"\n\nconst struct dm_device_text dm_device_texts[] = {\n' + ''.join(rows) + '    {0, 0},\n};\n')


main()
