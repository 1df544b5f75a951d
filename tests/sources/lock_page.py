#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/internals/locks.md lists every lock of the sources, with its file and its rank.

usage: lock_page.py ROOT               fails if a lock is missing on the page, or does not exist
       lock_page.py --self-test        finds what is planted in this file

A lock is an object or a member of a type in TYPES. A member is called as the page calls it:
variable.member if the struct is made for one variable, else struct.member."""
import re
import sys
from pathlib import Path

ROOMS = ['kernels', 'device-model', 'ptx', 'emulator', 'api', 'runtime', 'lib', 'vulkan-layer']
TYPES = ['struct dm_mutex', 'pthread_mutex_t', 'pthread_rwlock_t', 'pthread_spinlock_t',
         'pthread_cond_t', 'pthread_once_t', 'pthread_barrier_t', 'sem_t', 'atomic_flag', 'mtx_t',
         'cnd_t', 'once_flag']
OBJECT = re.compile(r'^( *)(?:static |_Thread_local |__thread )*(?:%s) ([^()]*?)(?:=.*)?;'
                    % '|'.join(TYPES))
EXTERN = re.compile(r'^\s*extern\b')
OPENING = re.compile(r'^(?:static |typedef )*struct(?: (\w+))?(?: \w+)? {$')
ROW = re.compile(r'^\| (?:([A-Z_]+) \| )?`([\w.]+)` \| `([\w./-]+)` \|', re.M)
RANK = re.compile(r'(\w+) = (?:\([\w ]+\))?DM_MUTEX_INITIALIZER\((\w+)\)'
                  r'|dm_mutex_init\(&(?:\w+->)?(\w+), (\w+)\)')
DRAWN = re.compile(r'^([A-Z_]+) {3,}\S', re.M)


def without_comments(text):
    def blank(comment):
        return '\n' * comment[0].count('\n')
    return re.sub(r'/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def locks_of(text):
    """{name: rank or None} of one file."""
    text = without_comments(text)
    # Each declaration on one line, initializers cut off.
    text = re.sub(r'(\w)\s*=\s*\n\s*', r'\1 = ', text)
    text = re.sub(r',\s*\n\s*(?=\w+(?:, \w+)*;)', ', ', text)
    found, members, struct = [], [], None
    for line in text.split('\n'):
        opening = OPENING.match(line)
        if opening:
            struct, members = opening[1], []
        closing = re.match(r'^}\s*(\w*)', line)
        if closing:
            owner = struct or closing[1]
            found += [f'{owner}.{m}' for m in members]
            struct, members = None, []
        lock = OBJECT.match(line)
        if not lock or EXTERN.match(line):
            continue
        names = [n.strip() for n in lock[2].split(',')]
        names = [re.sub(r'\[.*', '', n) for n in names if not n.startswith('*')]
        if lock[1]:
            members += names
        else:
            found += names
    ranks = {a or c: b or d for a, b, c, d in RANK.findall(text)}
    return {name: ranks.get(name.split('.')[-1]) for name in found}


def difference(files, page, order):
    """Yields a sentence for each disagreement. `order`: the text of lock_order.h."""
    on_page = {}
    for rank, name, file in ROW.findall(page):
        on_page[file, name] = rank or None
    in_tree = {}
    for path, text in files.items():
        for name, rank in locks_of(text).items():
            in_tree[path, name] = rank
    for path, name in sorted(in_tree.keys() - on_page.keys()):
        yield f'{path}: {name} is not on the page'
    for path, name in sorted(on_page.keys() - in_tree.keys()):
        yield f'the page names {name} of {path}, which does not exist'
    for path, name in sorted(in_tree.keys() & on_page.keys()):
        if in_tree[path, name] != on_page[path, name]:
            yield (f'{path}: {name} has rank {in_tree[path, name]}, but the page says '
                   f'{on_page[path, name]}')
    ranks = re.findall(r'^ +X\((\w+)\)', order, re.M)
    if DRAWN.findall(page) != ranks:
        yield f'the page draws the order {DRAWN.findall(page)}, but lock_order.h has {ranks}'
    for path, text in files.items():
        if path != 'device-model/mutex.h' and not path.startswith('runtime/') and \
                re.search(r'\bpthread_(?:mutex|rwlock|spin)_', without_comments(text)):
            yield f'{path}: uses a mutex of the C library, whose order nobody checks'


def read(root):
    files = {str(path.relative_to(root)): path.read_text(encoding='utf-8') for room in ROOMS
             for path in sorted(Path(root, room).rglob('*.[ch]'))}
    # The type itself.
    files['device-model/mutex.h'] = files['device-model/mutex.h'].replace(
        'pthread_mutex_t mutex;', '')
    return files


PLANTED = '''static struct dm_mutex planted = DM_MUTEX_INITIALIZER(LEAF);
static struct dm_mutex known = DM_MUTEX_INITIALIZER(OUTER); // a comment
extern struct dm_mutex elsewhere;
static pthread_mutex_t bare = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wrapped =
    PTHREAD_COND_INITIALIZER;
struct job {
    int a;
    struct dm_mutex lock; // guards a
    pthread_cond_t first, second;
};
static struct {
    struct dm_mutex lock;
} pool = {.lock = DM_MUTEX_INITIALIZER(LEAF)};
static atomic_flag flag;
void wait(struct dm_mutex *m, pthread_cond_t *condition);
'''
PLANTED_PAGE = '''
OUTER   x
LEAF    y
| OUTER | `pool.lock` | `p.c` | x |
| LEAF | `known` | `p.c` | x |
| `job.second` | `p.c` | x |
| LEAF | `gone` | `p.c` | x |
'''
PLANTED_ORDER = '    X(OUTER)\n    X(MIDDLE)\n    X(LEAF)\n'


def self_test():
    expected = {
        'p.c: planted is not on the page', 'p.c: bare is not on the page',
        'p.c: wrapped is not on the page', 'p.c: job.lock is not on the page',
        'p.c: job.first is not on the page', 'p.c: flag is not on the page',
        'the page names gone of p.c, which does not exist',
        'p.c: uses a mutex of the C library, whose order nobody checks',
        'p.c: known has rank OUTER, but the page says LEAF',
        'p.c: pool.lock has rank LEAF, but the page says OUTER',
        "the page draws the order ['OUTER', 'LEAF'], but lock_order.h has "
        "['OUTER', 'MIDDLE', 'LEAF']",
    }
    found = set(difference({'p.c': PLANTED}, PLANTED_PAGE, PLANTED_ORDER))
    if found != expected:
        print('not found:', *sorted(expected - found), sep='\n')
        print('found in vain:', *sorted(found - expected), sep='\n')
    sys.exit(found != expected)


if sys.argv[1] == '--self-test':
    self_test()
root = Path(sys.argv[1])
sources = read(root)
lines = list(difference(sources, (root / 'docs/internals/locks.md').read_text(encoding='utf-8'),
                        sources['device-model/lock_order.h']))
count = sum(len(locks_of(text)) for text in sources.values())
print(f'{count} locks', *lines, sep='\n')
if count < 20:
    sys.exit('the script reads the sources wrongly: there are more locks than that')
sys.exit(bool(lines))
