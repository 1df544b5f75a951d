#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of diagnostics from emulator/core/diagnostics.def and the tests (snippets.py).

diagnostics.py PAGE
"""

import os
import re
import sys

import snippets

TABLE = os.path.join(snippets.ROOT, 'emulator', 'core', 'diagnostics.def')
STRING = r'"((?:[^"\\]|\\.)*)"'
# Diagnostics that no test can provoke, with the reason that the page gives.
NO_SNIPPET = {'M03': 'Linux has no NT handles, so this one is never reported.'}
# Diagnostics that need to know the Vulkan image.
LAYER = {'B09', 'I04', 'I07'}
CHAPTERS = {
    'M': ('Importing memory', '`cuImportExternalMemory` and the calls that export'),
    'B': ('Mapped buffers', '`cuExternalMemoryGetMappedBuffer`'),
    'I': (
        'Mapped images',
        '`cuExternalMemoryGetMappedMipmappedArray` and the arrays that it returns',
    ),
    'G': ('Graphics resources', 'OpenGL and the virtual graphics API'),
    'S': (
        'External semaphores',
        '`cuImportExternalSemaphore`, and signals and waits in streams',
    ),
    'O': ('Order of work', 'reported with [`CARDLESS_CHECK=order`](../reference/order.md)'),
    'K': (
        'Kernels in PTX',
        'launches; [`CARDLESS_CHECK=memory,race`](../reference/kernel-checks.md) finds more of '
        'them',
    ),
}
HEAD = '''# Diagnostics

Each mistake that Cardless reports has an id that never changes. Its severity says how a card treats
it:

- *error*: the call returns a code, as the driver's does.
- *undefined*: the manual leaves the result undefined; a card may crash or corrupt memory.
- *portability*: it works today, and nobody promises that it will.

Choose where diagnostics go:

    CARDLESS_DIAGNOSTICS=text          standard error (the default)
    CARDLESS_DIAGNOSTICS=off           nowhere
    CARDLESS_DIAGNOSTICS=json:FILE     one JSON object a line: id, severity, entry, call, result,
                                       text, advice, see (the section of this page)

Any other error is reported in a sentence without an id; in JSON its id is `GENERAL`.

Cardless sees B09, I04 and I07 only through [the Vulkan layer](../reference/vulkan-layer.md). The
same is true of M06 if the flag is set without a dedicated allocation, and of the part of I02, I05,
I06, I11 and M13 that compares a descriptor with the Vulkan image.

The snippets below are cut out of the tests that provoke each diagnostic, so they behave as the page
says. They call these [helpers](#helpers); `EXTERNAL_B` is 4 MiB.
'''


def read():
    """Rows of (id, severity, title, advice)."""
    with open(TABLE, encoding='utf-8') as f:
        text = re.sub(r'^\s*//.*$', '', f.read(), flags=re.M)
    text = re.sub(r'"\s*\n\s*"', '', text)
    pattern = (
        r'EM_DIAGNOSTIC\(\s*(\w+)\s*,\s*(\w+)\s*,\s*' + STRING + r'\s*,\s*' + STRING + r'\s*\)'
    )
    rows = re.findall(pattern, text)
    if len(rows) != text.count('EM_DIAGNOSTIC('):
        sys.exit(f'{TABLE} has a row that does not parse')
    return [(i, s.lower(), t, a) for i, s, t, a in rows if i != 'GENERAL']


def sentence(text):
    first = text.split()[0]
    argument = first in ('flags', 'numLevels', 'offset', 'size')
    start = text[0].upper() if first.isalpha() and not argument else text[0]
    return start + text[1:] + ('' if text.endswith('.') else '.')


def section(row, found):
    name, severity, title, advice = row
    out = [
        '',
        f'### {name}',
        '',
        f'**{sentence(title)}** ({severity})',
        '',
        f'*Fix:* {advice}.',
        '',
    ]
    if name in LAYER:
        out += ['Seen through [the Vulkan layer](../reference/vulkan-layer.md).', '']
    if name in NO_SNIPPET:
        return out + [NO_SNIPPET[name]]
    for kind in ('wrong', 'right'):
        s = found.get((name, kind))
        if s is None:
            sys.exit(
                f'{name} has no {kind} snippet: mark a region of a test with // [{name} {kind}]'
            )
        out += [f'{kind.capitalize()} (`{s.test}` in `{s.path}`):', '', '```c', s.code, '```', '']
    return out[:-1]


def page(rows, found):
    out = ['', '| id | severity | mistake |', '|---|---|---|']
    out += [
        f'| [{name}](#{name.lower()}) | {severity} | {title} |' for name, severity, title, _ in rows
    ]
    for letter, (title, calls) in CHAPTERS.items():
        out += ['', f'## {title}', '', f'{sentence(calls)}']
        for row in rows:
            if row[0][0] == letter:
                out += section(row, found)
    out += [
        '',
        '## Helpers',
        '',
        'Functions of the tests that the snippets call.',
        '',
        '| function | meaning |',
        '|---|---|',
    ]
    out += [f'| `{h}` | {text} |' for h, text in snippets.helpers_of(found).items()]
    return HEAD + '\n'.join(out) + '\n'


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as out_file:
        out_file.write(page(read(), snippets.read()))
