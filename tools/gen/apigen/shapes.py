# SPDX-License-Identifier: MIT
"""Describes the types of a table's arguments, and writes the descriptions as C tables.

Structure comes from the headers (declarations.py). A file of types (api/table/types.def, whose head
explains it) adds the facts that C does not state: which member of a union holds, which words are
flags, how long a list is, which handle is which object.
"""
import fnmatch
import re
import sys

from .declarations import Enum, Record

SCALARS = {
    'char': 'SIGNED', 'signed char': 'SIGNED', 'short': 'SIGNED', 'int': 'SIGNED', 'long': 'SIGNED',
    'long long': 'SIGNED', 'int32_t': 'SIGNED', 'int64_t': 'SIGNED',
    'unsigned char': 'UNSIGNED', 'unsigned short': 'UNSIGNED', 'unsigned int': 'UNSIGNED',
    'unsigned': 'UNSIGNED', 'unsigned long': 'UNSIGNED', 'unsigned long long': 'UNSIGNED',
    'size_t': 'UNSIGNED', 'uint32_t': 'UNSIGNED', 'uint64_t': 'UNSIGNED', 'float': 'FLOAT',
    'double': 'FLOAT',
}
QUIET = re.compile(r'_?(internal_)?(reserved|pad|padding|oversize)\d*$')
FLAGS = re.compile(r'flags?$', re.I)


class Rules:
    """Files of types."""

    def __init__(self, paths, constants):
        self.handles, self.kinds, self.rules = {}, {}, []
        self.constants, self.used = constants, set()
        for path in paths:
            self.read(path)

    def read(self, path):
        current = None
        for number, line in enumerate(open(path, encoding='utf-8'), 1):
            if not line.strip() or line.startswith('#'):
                continue
            try:
                if line[0].isspace():
                    *values, what = line.split()
                    current['cases'].append((self.named(values), what))
                    continue
                current = self.rule(line.split())
            except (ValueError, TypeError) as e:
                sys.exit(f'{path}:{number}: {e}')

    def rule(self, words):
        kind, what, *rest = words
        if kind == 'handle':
            self.handles[what] = rest[0]
            return None
        if kind in ('hex', 'bytes', 'opaque') and '.' not in what:
            self.kinds[what] = kind.upper()
            return None
        if kind not in ('flags', 'enum', 'union', 'variant', 'count', 'hex', 'bytes', 'address',
                        'input', 'output', 'both'):
            raise ValueError(f'unknown rule "{kind}"')
        rule = {'kind': kind, 'what': what, 'cases': [], 'sibling': None}
        if rest and rest[0] in ('by', '=') and kind in ('union', 'variant', 'count'):
            rule['sibling'] = rest[1]
        elif rest and rest[0] == '=':
            rule['values'] = self.named(rest[1:]) if kind == 'flags' else rest[1]
        self.rules.append(rule)
        return rule

    def named(self, patterns):
        """The constants with these names, which may have wildcards; `*` alone stays."""
        out = []
        for p in patterns:
            found = [p] if p == '*' else [c for c in self.constants if fnmatch.fnmatchcase(c, p)]
            if not found:
                raise ValueError(f'there is no constant {p}')
            out += [c for c in found if c not in out]
        return out

    def find(self, kinds, path):
        for rule in self.rules:
            if rule['kind'] in kinds and fnmatch.fnmatchcase(path, rule['what']):
                self.used.add(id(rule))
                return rule
        return None

    def unused(self):
        return [r['what'] for r in self.rules if id(r) not in self.used]


class Shapes:
    """The tables of cardlessTypes; indices into them are handed out as they are asked for."""

    def __init__(self, declarations, rules, marks):
        self.d, self.rules, self.marks = declarations, rules, marks  # `marks`: > in the table
        self.names, self.name_offsets, self.names_used = [], {}, 0
        self.shapes, self.by_key, self.members, self.constants, self.cases = [], {}, [], [], []
        self.fields = {}  # of a record, for tests: (name, quiet)
        self.name('')

    def name(self, text):
        if text not in self.name_offsets:
            self.name_offsets[text] = self.names_used
            self.names.append(text)
            self.names_used += len(text) + 1
        return self.name_offsets[text]

    def add(self, key, kind, size, name, first=0, count=0, target='0'):
        index = len(self.shapes)
        self.shapes.append(None)
        if key:
            self.by_key[key] = index
        self.shapes[index] = dict(kind=kind, size=size, name=self.name(name), first=first,
                                  count=count, target=target)
        return index

    def constant_shape(self, kind, name, size, constants):
        key = (kind, size, tuple(constants))
        if key in self.by_key:
            return self.by_key[key]
        first = len(self.constants)
        self.constants += [(self.name(c), c) for c in constants]
        return self.add(key, kind, size, name, first, len(constants))

    def named_type(self, name):
        """The shape of a type by its name."""
        name = re.sub(r'^(const )?(struct|union|enum) ', '', name)
        if name in self.rules.handles:
            return self.handle(name, self.rules.handles[name])
        if name in self.rules.kinds:
            key = ('kind', name)
            return self.by_key[key] if key in self.by_key else \
                self.add(key, self.rules.kinds[name], f'sizeof({name})', name)
        if name in self.d.aliases and name not in self.d.records:
            return self.named_type(self.d.aliases[name])
        key = ('type', name)
        if key in self.by_key:
            return self.by_key[key]
        if name in self.d.enums:
            e = self.d.enums[name]
            return self.constant_shape('ENUM', name, f'sizeof({e.spelling})', e.constants)
        if name in self.d.records:
            record = self.d.records[name]
            return self.record(record, name, f'(({record.spelling} *)0)', '->')
        if name in self.d.handles:
            return self.handle(name, None)
        if name in self.d.callbacks or name == 'void':
            return self.add(key, 'OPAQUE', 'sizeof(void *)', name)
        if name in SCALARS:
            return self.add(key, SCALARS[name], f'sizeof({name})', name)
        raise ValueError(f'{name} is described nowhere')

    def handle(self, name, type_):
        key = ('handle', name)
        if key in self.by_key:
            return self.by_key[key]
        return self.add(key, 'HANDLE', f'sizeof({name})', name, target=type_ or '0')

    def pointer(self, target, name):
        key = ('pointer', target)
        if key in self.by_key:
            return self.by_key[key]
        return self.add(key, 'POINTER', 'sizeof(void *)', name, target=str(target))

    def opaque(self):
        key = ('type', 'void')
        return self.by_key[key] if key in self.by_key else self.named_type('void')

    def string(self):
        key = ('string',)
        return self.by_key[key] if key in self.by_key else \
            self.add(key, 'STRING', 'sizeof(void *)', 'char *')

    def record(self, record, name, base, arrow):
        """`base` + `arrow` + a member is an lvalue in C."""
        size = f'sizeof(*{base})' if arrow == '->' else f'sizeof({base})'
        index = self.add(('type', name), record.kind.upper(), size, name)
        built = []
        self.fields[name] = []
        for m in record.members:
            at = f'{base}{arrow}{m.name}' if m.name else base
            built.append(self.member(m, name, [n.name for n in record.members], at,
                                     arrow if not m.name else '.', (base, arrow)))
            self.fields[name].append((m.name, bool(QUIET.match(m.name))))
        if record.kind == 'union':
            self.choose(name, record, built)
        self.shapes[index].update(first=len(self.members), count=len(built))
        self.members += built
        return index

    def choose(self, name, record, built):
        """The cases of a union's members."""
        rule = self.rules.find(('union',), name)
        if not rule:
            raise ValueError(f'union {name} has no rule')
        own = rule['sibling'] or ''
        if own.startswith('.'):
            places = [m.name for m in record.members]
            self.shapes[self.by_key['type', name]]['target'] = str(1 + places.index(own[1:]))
        for values, what in rule['cases']:
            found = [b for b, m in zip(built, record.members) if m.name == what]
            if not found:
                raise ValueError(f'union {name} has no member {what}')
            if values == ['*']:
                found[0]['any_case'] = 1
            else:
                found[0]['cases'], found[0]['case_count'] = len(self.cases), len(values)
                self.cases += values

    def member(self, m, owner, siblings, at, arrow, base):
        path = f'{owner}.{m.name}'
        out = self.plain_member(m.name, f'(uintptr_t)&{at}' if m.name else '0')
        if isinstance(m.type, Record):
            inner, join = (at, '.') if m.name else base
            shape = self.record(m.type, path, inner, join)
            if not m.name:
                out['offset'] = '0'
        elif isinstance(m.type, Enum):
            shape = self.constant_shape('ENUM', m.type.name, f'sizeof({at})', m.type.constants)
        else:
            shape = self.value_shape(m.type, m.stars, path, f'sizeof({at})')
        out['shape'] = shape
        if m.array:
            out['elements'] = f'sizeof {at} / sizeof *{at}'
        if QUIET.match(m.name):
            out['flags'].append('CARDLESS_MEMBER_QUIET')
        if base[1] == '.':
            # Offsets count from the start of the nested record.
            start = base[0]
            out['offset'] = f'(uintptr_t)&{at} - (uintptr_t)&{start}' if m.name else '0'
        self.relate(out, path, siblings)
        return out

    def value_shape(self, type_, stars, path, size):
        rule = self.rules.find(('flags', 'enum', 'hex', 'bytes', 'address', 'variant'), path)
        if rule and rule['kind'] == 'variant':
            return self.pointer(self.variant(rule, path), path)
        if rule and rule['kind'] == 'address':
            return self.opaque()
        if rule and not stars:
            if rule['kind'] == 'flags':
                return self.constant_shape('FLAGS', path, size, rule['values'])
            if rule['kind'] == 'enum':
                values = self.d.enums[rule['values']].constants
                return self.constant_shape('ENUM', rule['values'], size, values)
            return self.add(None, rule['kind'].upper(), size, path)
        if stars == 0 and FLAGS.search(path) and SCALARS.get(self.d.resolve(type_)) == 'UNSIGNED':
            return self.add(('hex', size), 'HEX', size, 'flags') \
                if ('hex', size) not in self.by_key else self.by_key[('hex', size)]
        if rule:  # of the words behind a pointer
            target = f'sizeof({type_})'
            if rule['kind'] == 'flags':
                inner = self.constant_shape('FLAGS', path, target, rule['values'])
            elif rule['kind'] == 'enum':
                values = self.d.enums[rule['values']].constants
                inner = self.constant_shape('ENUM', rule['values'], target, values)
            else:
                inner = self.add(None, rule['kind'].upper(), target, path)
            return self.pointer(inner, path)
        if type_ == 'char' and stars:
            shape, stars = self.string(), stars - 1
        elif type_ == 'void' and stars:
            shape, stars = self.opaque(), stars - 1
        elif stars and type_ in self.d.pointed and type_.split()[-1] not in self.d.records:
            shape, stars = self.named_type(self.d.pointed[type_]), stars - 1
        elif stars and type_ in self.d.callbacks:
            shape, stars = self.opaque(), stars - 1
        else:
            shape = self.named_type(type_)
        for _ in range(stars):
            shape = self.pointer(shape, type_ + ' *')
        return shape

    def variant(self, rule, path):
        """A union made of types, for a `void *` whose target depends on another argument."""
        key = ('variant', rule['what'])
        if key in self.by_key:
            return self.by_key[key]
        built = []
        for values, type_ in rule['cases']:
            b = self.plain_member('', '0')
            b['shape'] = self.named_type(type_)
            if values == ['*']:
                b['any_case'] = 1
            else:
                b['cases'], b['case_count'] = len(self.cases), len(values)
                self.cases += values
            built.append(b)
        first = len(self.members)
        self.members += built
        sizes = [self.shapes[b['shape']]['size'] for b in built]
        size = 'sizeof(union {' + ' '.join(
            f'char v{i}[{s}];' for i, s in enumerate(sizes)) + '})'
        return self.add(key, 'UNION', size, path, first, len(built))

    def plain_member(self, name, offset):
        return dict(name=self.name(name), offset=offset, shape=0, elements='0',
                    count='CARDLESS_NO_SIBLING', selector='CARDLESS_NO_SIBLING', flags=[],
                    any_case=0, cases=0, case_count=0)

    def relate(self, out, path, siblings):
        """Counts and discriminators."""
        rule = self.rules.find(('count',), path)
        if rule:
            out['count'] = siblings.index(rule['sibling'].lstrip('*'))
            out['flags'] += ['CARDLESS_MEMBER_LIST']
            out['flags'] += ['CARDLESS_MEMBER_COUNT_OUT'] * (rule['sibling'][0] == '*')
        rule = self.rules.find(('union', 'variant'), path)
        if rule and rule['sibling'] and not rule['sibling'].startswith('.'):
            out['selector'] = siblings.index(rule['sibling'])

    def derived_output(self, a, path):
        """Without marks in the table: a pointer to something that is neither const nor unknown."""
        if self.marks or not a.type.endswith('*'):
            return ''
        rule = self.rules.find(('input', 'output', 'both'), path)
        if rule:
            return {'input': '', 'output': '>', 'both': '<>'}[rule['kind']]
        pointed = a.type[:-1].strip()
        is_unknown = pointed == 'void' or self.d.resolve(pointed) in self.d.callbacks
        return '' if a.points_to_const or is_unknown else '>'

    def arguments(self, row):
        """Adds the arguments of a row; returns the first and their number."""
        built = []
        siblings = [a.name for a in row.arguments]
        for i, a in enumerate(row.arguments):
            path = f'{row.name}.{a.name}'
            out = self.plain_member(a.name, str(8 * i))
            stars = a.type.count('*')
            type_ = a.type.replace('const ', '').replace('*', '').strip()
            out['shape'] = self.value_shape(type_, stars, path, f'sizeof({type_})')
            if a.by_value(self.d):
                out['flags'].append('CARDLESS_MEMBER_INDIRECT')
            output = a.output or self.derived_output(a, path)
            if output:
                out['flags'].append('CARDLESS_MEMBER_OUTPUT')
            if output == '>>':
                out['flags'].append('CARDLESS_MEMBER_ALWAYS')
            if output == '<>':
                out['flags'].append('CARDLESS_MEMBER_INPUT')
            self.relate(out, path, siblings)
            if a.count:
                out['count'] = siblings.index(a.count.lstrip('*'))
                out['flags'] += ['CARDLESS_MEMBER_LIST']
                out['flags'] += ['CARDLESS_MEMBER_COUNT_OUT'] * (a.count[0] == '*')
            built.append(out)
        first = len(self.members)
        self.members += built
        return first, len(built)


def write_shapes(s, dialect, includes, result):
    """The C tables."""
    out = [f'#include "{h}"' for h in includes + ['cardless_types.h']] + ['']
    out += [dialect.handle_prototype, ''] if dialect.handle_prototype else []
    out += [f'extern const cardlessTypes {dialect.body}description;', '']
    out += ['static const char names[] ='] + [f'    "{n}\\0"' for n in s.names] + ['    "";', '']
    out += ['static const cardlessConstant constants[] = {']
    out += [f'    {{{n}, (int64_t){c}}},' for n, c in s.constants] + ['};', '']
    out += ['static const int64_t cases[] = {']
    out += [f'    {c},' for c in s.cases] + ['    0};', '']
    out += ['static const cardlessMember members[] = {']
    for m in s.members:
        flags = ' | '.join(m['flags']) or '0'
        words = [m[k] for k in ('name', 'offset', 'shape', 'elements', 'count', 'selector')]
        words += [flags, m['any_case'], m['cases'], m['case_count']]
        out.append('    {' + ', '.join(str(w) for w in words) + '},')
    out += ['};', '', 'static const cardlessShape shapes[] = {']
    for h in s.shapes:
        out.append(f'    {{{h["name"]}, {h["first"]}, {h["count"]}, {h["target"]}, {h["size"]}, '
                   f'CARDLESS_SHAPE_{h["kind"]}}},')
    out += ['};', '', f'const cardlessTypes {dialect.body}description = {{',
            f'    names, constants, members, shapes, cases, {result}, {dialect.handle_text},',
            '    {sizeof names, sizeof constants / sizeof *constants,',
            '     sizeof members / sizeof *members, sizeof shapes / sizeof *shapes,',
            '     sizeof cases / sizeof *cases},',
            '};', '']
    return '\n'.join(out)
