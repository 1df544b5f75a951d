# SPDX-License-Identifier: MIT
"""Reads a table of entry points. The head of api/table/driver.def describes its lines."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ANSWERS = ('unsupported', 'impl', 'same', 'narrow', 'declared')
CAPTURE = ('node', 'legacy', 'never', 'unsafe', 'query')
FLAGS = ('ptsz', 'ptds', 'default', 'direct', 'inside', 'quiet', 'anywhere', 'asks', 'old',
         'deprecated', 'is', 'as')
COLUMNS = ('answer', 'name', 'since', 'checks', 'capture', 'flags', 'arguments')


class Dialect:
    """The facts in which one API differs from another: its `dialect` lines."""

    KEYS = {'prefix': 1, 'result': 1, 'success': 1, 'body': 1, 'helpers': 1, 'entry': None,
            'types': None, 'headers': None, 'stream': 3, 'streamtype': 1, 'check': None,
            'handletext': 1, 'objects': 1, 'firsttwin': 1, 'internal': 1, 'node': 1, 'procs': 1,
            'facts': None, 'record': 1, 'recorder': 1, 'columns': None, 'coverage': 2,
            'about': 1, 'base': 1, 'readable': None, 'writable': 1}

    def __init__(self):
        self.values, self.checks = {}, {}

    def line(self, words):
        key, *values = words
        if key not in self.KEYS or self.KEYS[key] not in (None, len(values)):
            raise ValueError(f'unknown or incomplete line: dialect {" ".join(words)}')
        if key == 'check':
            self.checks[values[0]] = ' '.join(values[1:])
        else:
            self.values.setdefault(key, []).extend(values)

    def one(self, key, default=None):
        return self.values.get(key, [default])[0]

    def __getattr__(self, key):
        """Single words: prefix, result, success, body, helpers …"""
        if key.startswith('_') or key not in self.KEYS:
            raise AttributeError(key)
        return self.values[key] if self.KEYS[key] is None else self.one(key)

    @property
    def columns(self):
        return self.values.get('columns', COLUMNS)

    @property
    def stream_type(self):
        return self.values.get('stream', [''])[0]

    @property
    def handle_text(self):
        return self.one('handletext', 'NULL')

    @property
    def handle_prototype(self):
        name = self.one('handletext')
        return name and f'bool {name}(unsigned type, uint64_t handle, char *out, size_t size);'

    def header_files(self, folder):
        """The files that declare the API's types, in a fixed order."""
        out = []
        for pattern in self.values.get('headers', []):
            found = sorted(glob.glob(os.path.join(folder, pattern)))
            if not found:
                raise ValueError(f'there is no header {pattern}')
            out += found
        return out


class Argument:
    def __init__(self, text, stream_type):
        text, _, self.default = text.partition(' = ')
        marks = re.search('[!@#<>]*$', text).group()
        self.mark = re.sub('[^!@]', '', marks)
        self.output = re.sub('[^<>]', '', marks)
        if self.mark not in ('', '!', '@') or self.output not in ('', '>', '>>', '<>'):
            raise ValueError(f'unknown marks {marks}')
        # A stream that the wrapper resolves; '##': the body gets the handle too.
        self.stream, self.handle_too = '#' in marks, '##' in marks
        text = text[:len(text) - len(marks)].strip()
        array = re.fullmatch(r'(.*)\[(\*?\w+)\]', text)
        self.count = array.group(2) if array else None
        text = array.group(1) if array else text
        found = re.fullmatch(r'(.*?)(\w+)', text)
        if not found:
            raise ValueError(f'cannot read argument "{text}"')
        self.type, self.name = found.group(1).strip(), found.group(2)
        self.text = text
        self.stream_type = stream_type
        if self.stream and self.type not in (stream_type, f'{stream_type} *'):
            raise ValueError(f'{self.name}: only a stream can be marked with #')
        if self.output and not self.type.endswith('*'):
            raise ValueError(f'{self.name}: only a pointer can be an output')

    @property
    def checked_array(self):
        """Whether the wrapper tests that the elements can be read."""
        return self.count and not self.output

    @property
    def points_to_const(self):
        pointed = self.type[:-1].strip()
        return self.type.endswith('*') and (
            pointed.endswith('const') or pointed.startswith('const ') and '*' not in pointed)

    def by_value(self, declarations):
        """Whether it is a structure, which a trace cannot widen to a word."""
        return '*' not in self.type and declarations.find(self.type) in declarations.records

    def body_text(self, stream_struct):
        """The parameter of the body. Without a struct, it is the plain handle."""
        if not self.stream or not stream_struct:
            return self.text
        handle = f', {self.stream_type} {self.name}_handle' if self.handle_too else ''
        return f'{stream_struct} *{self.name}{handle}'


def split_arguments(text):
    """Splits at the commas that are not inside parentheses."""
    out, depth, now = [], 0, ''
    for c in text:
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            out.append(now)
            now = ''
        else:
            now += c
    return [a.strip() for a in out + [now]]


class Row:
    def __init__(self, line, chapter, header, dialect):
        words = [c.strip() for c in line.split('|')]
        if len(words) != len(dialect.columns):
            raise ValueError(f'a row has {len(dialect.columns)} columns')
        given = dict(zip(dialect.columns, words))
        self.answer, name, since, checks, capture, flags, arguments = \
            [given.get(c, '-') for c in COLUMNS]
        self.result, self.name = re.fullmatch(r'(.*?)(\w*)', name).groups()
        self.gives_error = not self.result
        self.result = self.result or dialect.result + ' '
        self.chapter, self.header = chapter, header
        if self.answer not in ANSWERS:
            raise ValueError(f'unknown answer "{self.answer}"')
        if not re.fullmatch('(__)?' + dialect.prefix + r'[A-Z]\w*', self.name):
            raise ValueError(f'"{self.name}" does not begin with {dialect.prefix}')
        self.since = None if since == '-' else int(since)
        self.checks = [] if checks == '-' else checks.split()
        for c in self.checks:
            if c not in dialect.checks and c not in ('null', 'own', 'stream'):
                raise ValueError(f'unknown check "{c}"')
        self.capture = None if capture == '?' else [] if capture == '-' else capture.split()
        for c in self.capture or []:
            if c not in CAPTURE:
                raise ValueError(f'unknown word about capture "{c}"')
        self.flags = {}
        for f in [] if flags == '-' else flags.split():
            key, _, value = f.partition('=')
            if key not in FLAGS or (key in ('is', 'as')) != bool(value):
                raise ValueError(f'unknown flag "{f}"')
            self.flags[key] = value or True
        self.unknown = arguments == '?'
        self.arguments = []
        if arguments not in ('void', '?'):
            self.arguments = [Argument(a, dialect.stream_type) for a in split_arguments(arguments)]
        self.base = re.sub(r'_v\d$', '', self.name)
        self.body = dialect.body + self.name
        self.streams = [a for a in self.arguments if a.stream]
        self.check(dialect)

    def check(self, dialect):
        names = [a.name for a in self.arguments]
        for a in self.arguments:
            if a.count and a.count.lstrip('*') not in names:
                raise ValueError(f'{a.name}[{a.count}]: there is no such argument')
        if any(a.mark for a in self.arguments) != ('null' in self.checks):
            raise ValueError('`null` is among the checks if and only if an argument is marked')
        if dialect.one('streamtype') and bool(self.streams) != ('stream' in self.checks):
            raise ValueError('`stream` is among the checks if and only if a stream is marked')
        if (self.answer in ('same', 'narrow')) != ('as' in self.flags):
            raise ValueError('`same` and `narrow` go with as=NAME')
        if self.unknown and self.answer != 'unsupported':
            raise ValueError('a row without a prototype cannot be implemented')
        if 'ptsz' in self.flags and not self.streams and 'inside' not in self.flags:
            raise ValueError('a `_ptsz` twin needs a stream argument')
        if not self.gives_error and self.checks:
            raise ValueError('a call that returns no error makes no checks')

    @property
    def twin(self):
        return 'ptsz' if 'ptsz' in self.flags else 'ptds' if 'ptds' in self.flags else None

    def exported(self):
        """(symbol, twin) of the symbols that this row exports."""
        twins = [self.twin] if self.twin else []
        return [(self.name, None)] + [(f'{self.name}_{twin}', twin) for twin in twins]

    def c_arguments(self):
        return ', '.join(a.text for a in self.arguments) or 'void'

    def public_arguments(self):
        """As above, with the default values that C++ programs may use."""
        return ', '.join(a.text + (f' CARDLESS_DEFAULT({a.default})' if a.default else '')
                         for a in self.arguments) or 'void'

    @property
    def is_public(self):
        """Calls that only compilers make have no prototype in a header."""
        return not self.name.startswith('__')

    def marked(self):
        return [a for a in self.arguments if a.mark == '@'] + \
            [a for a in self.arguments if a.mark == '!']


def logical_lines(path):
    """Lines with their numbers, without comments; an indented line continues the one before."""
    first, text = 0, ''
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if line[0].isspace() and line.strip():
            text += ' ' + line.strip()
            continue
        if text:
            yield first, text
        first, text = number, '' if line.startswith('#') else line.strip()
    if text:
        yield first, text


class Table:
    def __init__(self, path):
        self.path, self.dialect = path, Dialect()
        self.folder = os.path.dirname(os.path.abspath(path))
        self.rows, self.by_name, self.declared = [], {}, []
        self.hidden, self.of_base = [], {}  # rows of the base table that are not exported, all rows
        chapter = header = None
        for number, line in logical_lines(path):
            try:
                if line.startswith('dialect base '):
                    self.start_from(Table(os.path.join(self.folder, line.split()[-1])))
                elif line.startswith('dialect '):
                    self.dialect.line(line.split()[1:])
                elif line.startswith(('without ', 'renamed ')):
                    word, *names = line.split()
                    {'without': self.without, 'renamed': self.renamed}[word](*names)
                elif line.startswith('chapter '):
                    chapter, header = [c.strip() for c in line[len('chapter '):].split('|')]
                else:
                    self.add(Row(line, chapter, header, self.dialect))
            except ValueError as e:
                sys.exit(f'{path}:{number}: {e}')
        for row in self.rows:
            target = row.flags.get('as')
            if target and target not in self.by_name and target not in self.of_base:
                sys.exit(f'{path}: {row.name}: as={target} is no row')

    def start_from(self, base):
        """Rows of another table, which the lines that follow change."""
        self.rows, self.declared = base.rows, base.declared
        self.by_name, self.of_base = dict(base.by_name), dict(base.by_name)
        for key, values in base.dialect.values.items():
            self.dialect.values[key] = list(values)
        self.dialect.checks.update(base.dialect.checks)
        # These lines take the place of the base's.
        for key in ('body', 'node', 'coverage', 'about'):
            self.dialect.values.pop(key, None)

    def without(self, *names):
        """Rows of the base table that this one lacks."""
        for name in names:
            row = self.by_name.pop(name, None)
            if row not in self.rows:
                raise ValueError(f'{name} is no row of the base table')
            self.rows.remove(row)
            self.hidden.append(row)

    def renamed(self, old, new):
        """A row of the base table that has another name here. Its body keeps the base's name."""
        row = self.by_name.get(old)
        if row not in self.rows or new in self.by_name:
            raise ValueError(f'{old} is no row of the base table, or {new} is one already')
        self.by_name[new] = self.by_name.pop(old)
        row.name = new

    def add(self, row):
        if row.name in self.by_name:
            raise ValueError(f'{row.name} has two rows')
        (self.declared if row.answer == 'declared' else self.rows).append(row)
        self.by_name[row.name] = row

    def target(self, row):
        """The row that `as` names: for rows of a table with a base, that of the base."""
        name = row.flags['as']
        return self.of_base.get(name) or self.by_name[name]

    def implemented(self, row):
        """Whether a call of this row reaches a body."""
        return row.answer == 'impl' or 'as' in row.flags and self.implemented(self.target(row))

    def body(self, row):
        """The row whose body a call of this row reaches."""
        return self.body(self.target(row)) if row.answer == 'same' else row

    def takes_default_stream(self, row):
        """Whether the body gets the default stream as its last argument."""
        if row.answer == 'narrow':
            return self.takes_default_stream(self.target(row))
        return row.twin == 'ptds' or 'inside' in row.flags or 'default' in row.flags

    def names(self):
        return sorted(name for r in self.rows for name, _ in r.exported())

    def notice(self):
        """The first lines of a generated file."""
        return notice([self])


def notice(tables):
    """The first lines of a file that is generated from these tables."""
    paths = ' and '.join(os.path.relpath(t.path, ROOT) for t in tables)
    return '// SPDX-License-Identifier: MIT\n// Generated by tools/gen/api_table.py from ' \
        f'{paths}; do not edit.\n'


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
