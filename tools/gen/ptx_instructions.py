#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads ptx/instructions.def and writes the header of modifiers and types, the table of rows, or
the coverage page.

    ptx_instructions.py ptx/instructions.def --header instructions.h
    ptx_instructions.py ptx/instructions.def --table instructions.c
    ptx_instructions.py ptx/instructions.def --page docs/generated/ptx-coverage.md
"""
import argparse
import re
import sys


class Failure(Exception):
    pass


def logical_lines(text):
    """Lines with their numbers; those that end with a backslash are joined, comments dropped."""
    held, first = '', 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split('#', 1)[0] if line.lstrip().startswith('#') else line
        first = first if held else number
        held += line.rstrip()
        if held.endswith('\\'):
            held = held[:-1]
            continue
        if held.strip():
            yield first, held.strip()
        held = ''


def range_of(text, number):
    """'1.2-6.3' or '1.2': the first and the last one; the latter is 0 if there is no last one."""
    first, _, last = text.partition('-')
    return number(first), number(last) if last else 0


class Row:
    def __init__(self, chapter, line, columns):
        self.chapter, self.line = chapter, line
        self.opcode, self.operands, version, target, self.lowering = columns
        self.version, self.last_version = range_of(version, lambda v: int(v.replace('.', '')))
        self.target, self.last_target = range_of(target, int)
        if bool(self.last_version) != bool(self.last_target):
            raise Failure('the last version goes with the last target')
        self.root = re.match(r'[a-z0-9_]+', self.opcode).group()
        self.groups = []  # (kind, [modifiers]): '.', '{' or '['


class Table:
    def __init__(self, text):
        self.types, self.lists, self.rows, self.modifiers = [], {}, [], []
        self.unsupported = []  # (chapter, root, version, target)
        chapter = None
        for number, line in logical_lines(text):
            try:
                word = line.split()[0]
                if word == 'type':
                    _, name, bits, kind = line.split()
                    self.types.append((name, int(bits), kind))
                elif word == 'let':
                    name, value = re.fullmatch(r'let (\w+) = (.*)', line).groups()
                    self.lists[name] = self.members(value)
                elif word == 'unsupported':
                    root, version, target = (c.strip() for c in line[len(word):].split('|'))
                    self.unsupported.append((chapter, root, version, int(target)))
                elif word == 'chapter':
                    chapter = line[len('chapter '):].strip()
                else:
                    self.add(chapter, number, line)
            except (AttributeError, ValueError, KeyError, Failure) as error:
                raise Failure(f'line {number}: {line}: {error!r}')
        self.rows.sort(key=lambda row: row.root)  # stable: rows of a root keep their order
        names = [name for name, _, _ in self.types]
        for row in self.rows:
            for _, members in row.groups:
                names += [m for m in members if m not in names]
        self.modifiers = names
        self.index = {name: i + 1 for i, name in enumerate(names)}

    def members(self, text):
        out = []
        for item in (i.strip() for i in text.split(',')):
            if item.startswith('.'):
                out.append(item[1:])
            else:
                out += self.lists[item]
        return out

    def add(self, chapter, number, line):
        # The operands may have a | of their own, so it is the columns' only with spaces around it.
        columns = [c.strip() for c in re.split(r'(?:^|\s)\|(?:\s|$)', line)]
        if len(columns) != 5:
            raise Failure(f'{len(columns)} columns, but a row has 5')
        row = Row(chapter, number, columns)
        rest = row.opcode[len(row.root):]
        while rest:
            match = re.match(r'\{([^}]*)\}|\[([^\]]*)\]|\.([A-Za-z0-9_:]+)', rest)
            if not match:
                raise Failure(f'"{rest}" is not a modifier')
            one, maybe, literal = match.groups()
            if literal:
                row.groups.append(('.', [literal]))
            else:
                row.groups.append(('{' if one else '[', self.members(one or maybe)))
            rest = rest[match.end():]
        self.rows.append(row)

    def is_type(self, name):
        return any(name == t for t, _, _ in self.types)


def identifier(name):
    """Upper case, except for NaN, because .nan is another modifier."""
    name = re.sub(r'\W+', '_', name)
    return name if name == 'NaN' else name.upper()


def enum_name(table, name):
    return ('PX_' if table.is_type(name) else 'PX_MOD_') + identifier(name)


HEAD = '// SPDX-License-Identifier: MIT\n// Made by tools/gen/ptx_instructions.py from ptx/' \
    'instructions.def.\n'


def lower_function(row):
    name = row.lowering.lstrip('-')
    return name if name.startswith('px_lower_') else None


def lower_functions(table):
    return sorted({f for f in map(lower_function, table.rows) if f})


def header(table):
    out = [HEAD + '#pragma once\n', '// Types, then other modifiers.', 'enum px_modifier {',
           '    PX_MOD_NONE,']
    out += [f'    {enum_name(table, name)},' for name in table.modifiers]
    out += ['    PX_MOD_COUNT,', f'    PX_TYPE_COUNT = {len(table.types) + 1},', '};', '',
            '#define PX_LOWER_FUNCTIONS(X) \\']
    out += [f'    X({name}) \\' for name in lower_functions(table)]
    return '\n'.join(out) + '\n\n'


def one_class(table, text):
    """The initialiser of a struct px_class."""
    text = text.strip()
    flags = []
    while text and text[-1] in '?>*':
        flags.append({'?': '.optional = true', '>': '.wider = true',
                      '*': '.vector = true'}[text[-1]])
        text = text[:-1]
    if text.startswith('!'):
        flags.append('.negates = true')
        text = text[1:]
    kind = 'VALUE'
    if text.startswith('#'):
        kind, text = 'CONSTANT', text[1:]
    if text in ('[]', '[ ]'):
        kind, text = 'ADDRESS', ''
    elif text in ('label', 'any'):
        kind, text = text.upper(), ''
    match = re.fullmatch(r'(2?)T(\d?)', text)
    if match:
        flags.append(f'.type_index = {match.group(2) or 0}, .times = {match.group(1) or 1}')
    elif text:
        if not table.is_type(text):
            raise Failure(f'"{text}" is not a class of operands')
        flags.append(f'.type_index = 255, .times = 1, .type = {enum_name(table, text)}')
    return '{.kind = PX_CLASS_' + kind + ''.join(', ' + f for f in flags) + '}'


def classes(table, row):
    """The initialisers of a row's destinations and sources."""
    if '=' in row.operands:
        left, right = row.operands.split('=')
    else:
        left, right = '', row.operands
    out = ([], [])
    for side, text in ((0, left), (1, right)):
        for item in filter(None, (i.strip() for i in text.split(','))):
            first, *second = item.split('|')
            out[side].append(one_class(table, first))
            for part in second:
                one = one_class(table, part)
                out[side].append(one[:-1] + ', .paired = true, .optional = true}')
    return out


def c_text(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def table_source(table):
    out = [HEAD, '#include "instructions_table.h"\n', '#include "lower.h"\n']
    rows = []
    for n, row in enumerate(table.rows):
        groups = []
        for kind, members in row.groups:
            groups += [{'.': 'PX_GROUP_LITERAL', '{': 'PX_GROUP_ONE', '[': 'PX_GROUP_MAYBE'}[kind]]
            groups += [enum_name(table, m) for m in members] + ['0']
        out.append(f'static const uint16_t groups_{n}[] = {{{", ".join(groups + ["0"])}}};')
        sides = []
        for name, side in zip('da', classes(table, row)):
            if side:
                out.append(f'static const struct px_class {name}_{n}[] = {{{", ".join(side)}}};')
            sides.append((f'{name}_{n}' if side else 'NULL', len(side)))
        function = lower_function(row) or 'NULL'
        form = 'NULL' if function != 'NULL' or row.lowering == '-' else c_text(row.lowering)
        rows.append(
            f'    {{.root = {c_text(row.root)}, .pattern = {c_text(row.opcode)}, '
            f'.groups = groups_{n}, .d = {sides[0][0]}, .a = {sides[1][0]}, '
            f'.destinations = {sides[0][1]}, .sources = {sides[1][1]}, .version = {row.version}, '
            f'.target = {row.target}, .last_version = {row.last_version}, '
            f'.last_target = {row.last_target}, .lower = {function}, .form = {form}}},')
    out += ['', 'const struct px_row px_rows[] = {'] + rows + ['};',
            f'const unsigned px_row_count = {len(rows)};', '',
            'const struct px_modifier_info px_modifiers[PX_MOD_COUNT] = {']
    kinds = {name: (bits, kind) for name, bits, kind in table.types}
    for name in table.modifiers:
        bits, kind = kinds.get(name, (0, ' '))
        out.append(f'    [{enum_name(table, name)}] = {{{c_text(name)}, {bits}, \'{kind}\'}},')
    out += ['};', '', 'const uint16_t px_modifiers_sorted[] = {']
    out += [f'    {enum_name(table, name)},' for name in sorted(table.modifiers)]
    out += ['};', '', 'const char *const px_unsupported_roots[] = {']
    out += [f'    {c_text(root)},' for _, root, _, _ in table.unsupported]
    return '\n'.join(out + ['    NULL,', '};']) + '\n'


def page_lists(table):
    out = ['## Lists', '', '| Name | Modifiers |', '|---|---|']
    for name in sorted(table.lists):
        out.append(f'| {name} | {" ".join("`." + m + "`" for m in table.lists[name])} |')
    return out + ['']


def page(table, chapters):
    out = ['# PTX instructions', '',
           'Made from ptx/instructions.def by `tools/gen/ptx_instructions.py '
           'ptx/instructions.def --page docs/generated/ptx-coverage.md`.', '',
           'A list in braces has one choice, a list in brackets may be left out. Instructions that '
           'are not supported are refused by a sentence with the line, when their kernel is asked '
           'for; the other kernels of the module work. A name in capitals is a list of modifiers, '
           'at the end of this page.', '']
    for chapter in chapters:
        rows = [row for row in table.rows if row.chapter == chapter]
        if not rows:
            continue
        out += [f'## {chapter}', '', '| Instruction | Operands | PTX | Target | Supported |',
                '|---|---|---|---|---|']
        for row in sorted(rows, key=lambda r: r.line):
            opcode = row.opcode.replace('|', '\\|')
            operands = row.operands.replace('|', '\\|').replace('*', '\\*')
            target = f'sm_{row.target}' if row.target else 'all'
            if row.last_target:
                last = f'{row.last_version // 10}.{row.last_version % 10}'
                target += f', up to sm_{row.last_target} after PTX {last}'
            out.append(f'| `{opcode}` | {operands} | {row.version // 10}.{row.version % 10} | '
                       f'{target} | {"no" if row.lowering.startswith("-") else "yes"} |')
        for of, root, version, target in table.unsupported:
            if of == chapter:
                out.append(f'| `{root}`, all forms | | {version} | sm_{target} | no |')
        out.append('')
    return '\n'.join(out + page_lists(table))


def dictionary(table):
    """Words for libFuzzer: opcodes, and modifiers with their dot."""
    roots = {row.root for row in table.rows} | {u[1] for u in table.unsupported}
    words = sorted(roots) + ['.' + m for m in table.modifiers]
    return ''.join(f'"{word}"\n' for word in words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('table')
    parser.add_argument('--header')
    parser.add_argument('--table', dest='source')
    parser.add_argument('--page')
    parser.add_argument('--dictionary', help='for libFuzzer')
    arguments = parser.parse_args()
    with open(arguments.table, encoding='utf-8') as file:
        text = file.read()
    try:
        table = Table(text)
        identifiers = [enum_name(table, m) for m in table.modifiers]
        if len(set(identifiers)) != len(identifiers):
            raise Failure('two modifiers have the same C name')
        chapters = [l[len('chapter '):].strip() for _, l in logical_lines(text)
                    if l.startswith('chapter ')]
        outputs = [(arguments.header, lambda: header(table)),
                   (arguments.source, lambda: table_source(table)),
                   (arguments.page, lambda: page(table, chapters)),
                   (arguments.dictionary, lambda: dictionary(table))]
        for path, make in outputs:
            if path:
                made = make()
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(made)
    except Failure as failure:
        sys.exit(f'{arguments.table}: {failure}')


if __name__ == '__main__':
    main()
