#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A function whose comment states a lock precondition begins with the assertion of it.

usage: preconditions.py ROOT              fails if an assertion is missing
       preconditions.py --self-test       finds what is planted in this file
       preconditions.py --fix ROOT        writes the missing assertions

A comment applies to the declarations that follow it up to the next comment or blank line.
"Precondition of all", "of both" and "of everything here" apply to the rest of the file, except to
functions whose own comment states another one, or that em_lock may or need not be held."""
import re
import sys
from pathlib import Path

ROOMS = ['device-model', 'ptx', 'emulator', 'runtime', 'vulkan-layer']
STATED = re.compile(r'precondition(?P<all> of (?:all|both|everything)[^:]*)?: (?P<mutex>[\w.]+) '
                    r'(?P<not>not )?held(?P<shared> or shared)?', re.IGNORECASE)
EITHER = re.compile(r'em_lock (?:may|need not) be held')
NAME = re.compile(r'^(?!typedef|struct \w+;|enum|#)[\w*].*?\b(\w+)\(')
KEYWORDS = {'if', 'for', 'while', 'switch', 'return', 'sizeof', '__attribute__', 'static_assert',
            '_Static_assert', 'pthread_atfork', 'defined'}


def assertion(stated):
    word = 'unlocked' if stated['not'] else 'readable' if stated['shared'] else 'locked'
    mutex = stated['mutex']
    return f'em_assert_{word}();' if mutex == 'em_lock' else f'dm_assert_{word}(&{mutex});'


def stated_in(text):
    """{function: assertion} of one file, and for a definition the line of its opening brace."""
    wanted, defined = {}, {}
    general, comment = None, []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith('//'):
            if i and not lines[i - 1].startswith('//'):
                comment = []
            comment.append(line[2:].strip())
            stated = STATED.search(' '.join(comment))
            if stated and stated['all']:
                general = assertion(stated)
            continue
        if not line.strip() or line.startswith('}'):
            comment = []
            continue
        name = NAME.match(line)
        if not name or name[1] in KEYWORDS or line[0].isspace():
            continue
        stated = STATED.search(' '.join(comment))
        if stated and not stated['all']:
            wanted[name[1]] = assertion(stated)
        elif general and not EITHER.search(' '.join(comment)):
            wanted[name[1]] = general
        end = i
        while end < len(lines) and not re.search(r'[;{]\s*(//.*)?$', lines[end]):
            end += 1
        if end < len(lines) and lines[end] == '{':
            defined[name[1]] = end
    return wanted, defined


def check(files):
    """Yields (path, line of the brace, function, assertion) of what is missing."""
    stated = {path: stated_in(text) for path, text in files.items()}
    public = {}
    for path, (wanted, _) in stated.items():
        if path.suffix == '.h':
            public.update(wanted)
    count = 0
    for path, (own, defined) in stated.items():
        for name, brace in defined.items():
            wanted = own.get(name) or public.get(name)
            count += bool(wanted)
            after = files[path].splitlines()[brace + 1].strip()
            if wanted and after != wanted:
                yield path, brace, name, wanted
    if count < len(files) // 10:
        sys.exit(f'only {count} preconditions in {len(files)} files: the script reads them wrongly')


def read(root):
    return {path: path.read_text(encoding='utf-8') for room in ROOMS
            for path in sorted(Path(root, room).rglob('*.[ch]'))}


def fix(root):
    files = read(root)
    missing = {}
    for path, brace, _, wanted in check(files):
        missing.setdefault(path, []).append((brace, wanted))
    for path, places in missing.items():
        lines = files[path].splitlines()
        for brace, wanted in sorted(places, reverse=True):
            lines.insert(brace + 1, '    ' + wanted)
        path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


PLANTED = '''// Ends it. Precondition: em_lock held.
static void ends_it(struct x *x)
{
    x->ended = true;
}

// Precondition: em_lock
// NOT held.
void asks(
    int a)
{
    em_assert_unlocked();
}

// Reads it. Precondition: em_lock held or
// shared.
int reads(void)
{
    em_assert_locked();
}

// A comment of another kind.
void free_of_all(void)
{
    run();
}
'''


def self_test():
    found = [(name, wanted) for _, _, name, wanted in check({Path('planted.c'): PLANTED})]
    sys.exit(found != [('ends_it', 'em_assert_locked();'), ('reads', 'em_assert_readable();')])


if sys.argv[1] == '--self-test':
    self_test()
if sys.argv[1] == '--fix':
    fix(sys.argv[2])
    sys.exit()
found = 0
for where, at, function, text in check(read(sys.argv[1])):
    print(f'{where}:{at + 1}: {function} does not begin with {text}')
    found += 1
sys.exit(found > 0)
