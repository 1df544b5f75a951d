# SPDX-License-Identifier: MIT
"""The generated C code of a library: exported functions, prototypes, entry point search."""
import os

from .declarations import Declarations
from .shapes import Rules, Shapes, write_shapes
from .table import notice, write

PARTS = 4  # how many entry_N.c: each is compiled by itself, so that a build can use several cores


class Generator:
    """Generates the code of a table. The types of the entry points `beside` it are described
    together with its own, so that one description has all types of the library."""

    def __init__(self, table, beside=()):
        self.table, self.dialect = table, table.dialect
        self.all = [self] + [Generator(t) for t in beside]
        self.h = self.dialect.helpers  # prefix of the functions that wrappers call
        self.stream_struct = self.dialect.one('streamtype')  # None: bodies get plain handles
        self.shapes = None  # the types of arguments, if the dialect has `facts`: for the trace

    # ---- exported functions

    def check_lines(self, row, check):
        """One check of the column `checks`, but for `own` and `stream`."""
        if check != 'null':
            return ['    if (!r)', f'        r = {self.dialect.checks[check]};']
        lines = []
        for a in row.marked():
            refuse = f'{self.h}_null_handle' if a.mark == '@' else f'{self.h}_null'
            lines += [f'    if (!r && !{a.name})', f'        r = {refuse}("{a.name}");']
        return lines

    def capture_lines(self, row):
        """The rule about capture. A stream's is checked with the stream. An event's is checked in
        the body, because a captured record comes first."""
        if not row.capture or any(a.stream or a.type == 'CUevent' for a in row.arguments):
            return []
        return ['    if (!r)', f'        r = {self.dialect.checks["capture"]};']

    def valid_lines(self, row, twin):
        """An invalid capture is reported before wrong arguments, by calls that add to it and need a
        context."""
        test = self.dialect.checks.get('valid')
        arguments = {'null', 'own'} & set(row.checks) or \
            any(a.checked_array for a in row.arguments)
        if not test or 'node' not in (row.capture or []) or not arguments:
            return []
        return [line for a in row.streams for line in
                ('    if (!r)', f'        r = {test}({self.stream_handle(a, twin)});')]

    def own_lines(self, row):
        given = ', '.join(a.name for a in row.arguments if not a.stream)
        return ['    if (!r)', f'        r = {self.dialect.body}check_{row.name}({given});']

    def output_of(self, row, argument):
        return argument.output or \
            self.shapes.derived_output(argument, f'{row.name}.{argument.name}')

    def stated_count(self, row, argument):
        """The number of elements of a list, from the file of types: C, or None."""
        rule = self.rules.find(('count',), f'{row.name}.{argument.name}')
        if not rule or rule['sibling'][0] == '*':
            return None
        count = rule['sibling']
        is_signed = any(a.name == count and a.type == 'int' for a in row.arguments)
        return f'{count} > 0 ? {count} : 0' if is_signed else count

    def pointed(self, argument):
        """The type behind a pointer, or '' if it is none or another pointer."""
        kind, _, stars = argument.type.replace('const ', '').partition('*')
        return '' if '*' not in argument.type or stars else kind.strip()

    def is_tested(self, row, argument):
        """Whether the wrapper tests that this input can be read."""
        readable = self.dialect.values.get('readable')
        if not readable or self.output_of(row, argument) in ('>', '>>'):
            return False
        return len(readable) == 1 or self.pointed_is_record(argument)

    def pointed_is_record(self, argument):
        return self.declarations.find(self.pointed(argument)) in self.declarations.records

    def list_lines(self, row):
        """The checks of lists. The column of arguments, or the file of types, states their number
        of elements."""
        lines = []
        for a in row.arguments:
            count = a.count if a.checked_array else None
            if not a.count and self.is_tested(row, a):
                count = self.stated_count(row, a)
            if count:
                lines += ['    if (!r)', f'        r = {self.h}_readable("{a.name}", {a.name}, '
                          f'{count}, sizeof *{a.name});']
        return lines

    def reads_one(self, row, argument):
        """Whether the call always reads the one object that the argument points to: a structure, a
        text, or another object if it must not be NULL."""
        kind = self.pointed(argument)
        is_list = argument.count or self.rules.find(('count',), f'{row.name}.{argument.name}')
        if is_list or kind in ('', 'void') or not self.is_tested(row, argument):
            return False
        return kind == 'char' or argument.stream or argument.mark or \
            self.pointed_is_record(argument)

    def pointer_lines(self, row):
        """The checks of pointers to memory that the call reads."""
        lines = self.list_lines(row)
        for a in row.arguments:
            if self.reads_one(row, a) and self.pointed(a) == 'char':
                lines += ['    if (!r)', f'        r = {self.h}_readable_string("{a.name}", '
                          f'{a.name});']
            elif self.reads_one(row, a):
                lines += ['    if (!r)', f'        r = {self.dialect.one("readable")}("{a.name}", '
                          f'{a.name}, sizeof *{a.name});']
        return lines + self.output_lines(row)

    def element_count(self, row, argument):
        """The number of elements of a list that the call writes: C, or None if it is no list."""
        if argument.count:
            return argument.count
        rule = self.rules.find(('count',), f'{row.name}.{argument.name}')
        return rule and rule['sibling']

    def is_written(self, row, argument):
        """Whether the call writes to the memory of an argument. Functions are not written."""
        return bool(self.output_of(row, argument)) and not argument.points_to_const and \
            self.declarations.resolve(self.pointed(argument)) not in self.declarations.callbacks

    def is_capacity(self, row, count):
        """Whether a number of elements is known before the call."""
        return count[0] != '*' or any(
            a.name == count[1:] and self.output_of(row, a) == '<>' for a in row.arguments)

    def output_lines(self, row):
        """The checks of pointers to memory that the call writes: of one object each, which is the
        first element of a list. A list may be longer than its elements that are written. Numbers
        of elements are tested before they are read."""
        writable = self.dialect.one('writable')
        if not writable:
            return []
        objects, lists = [], []
        for a in row.arguments:
            count = self.element_count(row, a)
            if not self.is_written(row, a) or (count and not self.is_capacity(row, count)):
                continue
            size = '1' if a.type == 'void *' else f'sizeof *{a.name}'
            condition = '!r'
            if count and count[0] == '*':
                condition += f' && {count[1:]} && {count}'
            elif count:
                condition += f' && {count}'
            (lists if count else objects).extend(
                [f'    if ({condition})',
                 f'        r = {writable}("{a.name}", {a.name}, {size});'])
        return objects + lists

    def stream_handle(self, argument, twin):
        handle = argument.name
        if argument.type.endswith('*'):
            handle = f'({handle} ? *{handle} : NULL)'
        return f'{self.h}_per_thread({handle})' if twin == 'ptsz' else handle

    def default_stream(self, twin):
        _, legacy, per_thread = self.dialect.values['stream']
        return per_thread if twin else legacy

    def streams(self, row, target, twin):
        """(variable, handle) of the streams that the wrapper resolves."""
        if not self.stream_struct:
            return []
        out = [(f'{a.name}_stream', self.stream_handle(a, twin)) for a in row.streams]
        if self.table.takes_default_stream(target):
            out.append(('default_stream', self.default_stream(twin)))
        return out

    def given(self, row, target, twin):
        """What the body gets."""
        given = []
        for a in row.arguments:
            if not a.stream:
                given.append(a.name)
            elif not self.stream_struct:
                given.append(self.stream_handle(a, twin))
            else:
                given.append(f'{a.name}_stream')
            if a.handle_too:
                given.append(self.stream_handle(a, twin))
        if self.table.takes_default_stream(target):
            given.append('default_stream' if self.stream_struct else self.default_stream(twin))
        return ', '.join(given)

    def call_lines(self, row, target, twin, streams):
        given = self.given(row, target, twin)
        lines = self.pointer_lines(row)
        if not streams:
            lines += self.capture_lines(row)
        if 'own' in row.checks:
            lines += self.own_lines(target)
        for stream, handle in streams:
            lines += ['    if (!r)',
                      f'        r = {self.dialect.body}open_stream(&entry, {handle}, &{stream});']
        lines += ['    if (!r)', f'        r = {target.body}({given});']
        for stream, _ in reversed(streams):
            lines += [f'    if ({stream})', f'        {self.h}_stream_put({stream});']
        if 'own' in row.checks:
            done = f'{self.dialect.body.upper()}DONE'
            lines += [f'    if (r == {done})', f'        r = {self.dialect.success};']
        return lines

    def trace_value(self, argument):
        """The argument, widened to a word."""
        if argument.by_value(self.declarations):
            return f'(uintptr_t)(const {argument.type}[]){{{argument.name}}}'
        if argument.type == 'double':
            raise ValueError(f'{argument.name}: no helper widens an argument of type double')
        if argument.type == 'float':
            return f'{self.h}_trace_float({argument.name})'
        if '*' in argument.type or argument.type in self.declarations.handles | \
                self.declarations.callbacks:
            return f'(uintptr_t){argument.name}'
        return f'(uint64_t){argument.name}'

    def trace_lines(self, row):
        values = ', '.join(self.trace_value(a) for a in row.arguments) or '0'
        before = 'before' if any(a.output == '<>' for a in row.arguments) else 'NULL'
        # A question that fails is recorded without its arguments.
        asked = f' && (r || !{self.h}_is_question(self, outer))' if 'asks' in row.flags else ''
        return [f'    if ({self.h}_unlikely({self.h}_tracing){asked})',
                f'        {self.h}_trace(self->entry, r, (const uint64_t[]){{{values}}}, '
                f'{before});']

    def record_lines(self, row):
        """A thread is not `quick` in recorded calls, and in some of signal handlers."""
        record = self.dialect.one('record')
        if not self.shapes or not record:
            return []
        values = ', '.join(self.trace_value(a) for a in row.arguments) or '0'
        called = ' && !self->interrupts' if 'anywhere' in row.flags else ''
        called += f' && !{self.h}_is_question(self, outer)' if 'asks' in row.flags else ''
        return [f'    if ({self.h}_unlikely(!self->quick){called})',
                f'        r = {record}(self, (const uint64_t[]){{{values}}});']

    def library_lines(self, row, call):
        """A call of a library begins or ends: the driver may record it."""
        recorder = self.dialect.one('recorder')
        if not recorder:
            return []
        values = ', '.join(self.trace_value(a) for a in row.arguments) or '0'
        return [f'    if (__builtin_expect({recorder} != NULL, 0))',
                f'        {recorder}->{call}(const uint64_t[]){{{values}}});']

    def start_lines(self):
        """A library starts its driver after its call was recorded."""
        return [f'    {self.h}_start(self, outer);'] if self.dialect.one('recorder') else []

    def before_lines(self, row):
        """Inputs that the call changes are printed before it."""
        if not any(a.output == '<>' for a in row.arguments):
            return []
        values = ', '.join(self.trace_value(a) for a in row.arguments)
        return ['    struct em_text *before = NULL;',
                f'    if ({self.h}_unlikely({self.h}_tracing))',
                f'        before = {self.h}_trace_before(self->entry, '
                f'(const uint64_t[]){{{values}}});']

    def wrapper_head(self, row, name):
        """The first lines of an exported function, up to the entry that describes it."""
        listed = row.c_arguments().replace('"', '')
        facts = f'.name = "{name}", .names = rt_names, .list = "{listed}"'
        if self.dialect.one('recorder'):
            first, count = self.shapes.arguments(row)
            facts += f', .types = &{self.dialect.body}description, .first_argument = {first}, ' \
                f'.arguments = {count}'
        elif self.shapes:
            first, count = self.shapes.arguments(row)
            capture = ' | '.join(f'EM_CAPTURE_{c.upper()}' for c in row.capture or []) or '0'
            facts = f'"{name}", &{self.dialect.body}description, {first}, {count}, ' \
                f'.capture = {capture}, .list = "{listed}"'
        lines = [f'{self.h.upper()}_EXPORT {row.result}{name}({row.c_arguments()})', '{',
                 f'    static const struct {self.h}_entry entry = {{{facts}}};']
        if not self.table.implemented(row):
            lines.append('    static bool said;')
        return lines

    def begin_lines(self, row):
        return [f'    struct {self.h}_thread *self = {self.h}_thread();'] + \
            self.interrupt_lines(row) + \
            [f'    const struct {self.h}_entry *outer = {self.h}_begin(self, &entry);']

    def interrupt_lines(self, row):
        """A library's call of a signal handler may have to end at once. Calls without checks need
        neither the driver nor a lock."""
        if not self.dialect.one('recorder') or not self.table.implemented(row):
            return []
        end = f'{self.h}_refuse(self, entry.name)'
        if not row.checks:
            end = f'{row.body}({self.given(row, row, None)})'
        return [f'    if ({self.h}_interrupts(self))', f'        return {end};']

    def direct_wrapper(self, row, name, twin):
        """Only calls the body: no state of the thread, no checks."""
        value = '' if row.result == 'void ' else 'return '
        return (f'{self.h.upper()}_EXPORT {row.result}{name}({row.c_arguments()})\n{{\n'
                f'    {value}{row.body}({self.given(row, row, twin)});\n}}\n')

    def wrapper(self, row, name, twin):
        if 'direct' in row.flags and self.table.implemented(row):
            return self.direct_wrapper(row, name, twin)
        if not row.gives_error:
            return self.plain_wrapper(row, name, twin)
        implemented, target = self.table.implemented(row), self.table.body(row)
        streams = self.streams(row, target, twin) if implemented else []
        lines = self.wrapper_head(row, name)
        for stream, _ in streams:
            lines.append(f'    struct {self.stream_struct} *{stream} = NULL;')
        lines += self.begin_lines(row) + self.library_lines(row, 'begin(&entry, ')
        lines += self.start_lines()
        lines += [f'    {self.dialect.result} r = {self.dialect.success};']
        lines += self.record_lines(row)
        traces = self.shapes and not self.dialect.one('recorder')
        if traces:
            lines += self.before_lines(row)
        for check in row.checks:
            if check not in ('own', 'stream'):
                lines += self.check_lines(row, check)
            if check == 'ctx' and implemented:
                lines += self.valid_lines(row, twin)
        if implemented:
            lines += self.call_lines(row, target, twin, streams)
        else:
            lines += ['    if (!r)', f'        r = {self.h}_unsupported(&entry, &said);']
        if traces:
            lines += self.trace_lines(row)
        lines += self.library_lines(row, 'end(&entry, (int)r, ')
        end = 'end_quietly' if 'quiet' in row.flags else 'end'
        lines += [f'    return {self.h}_{end}(self, outer, r);', '}']
        return '\n'.join(lines) + '\n'

    def plain_wrapper(self, row, name, twin):
        """A call that returns something else than an error, or nothing."""
        lines = self.wrapper_head(row, name) + self.begin_lines(row) + self.start_lines()
        error, void = self.dialect.success, row.result == 'void '
        if self.table.implemented(row):
            given = self.given(row, row, twin)
            value = '' if void else f'{row.result}value = '
            lines.append(f'    {value}{row.body}({given});')
            value = '' if void else 'value'
        else:
            lines.append(f'    {self.dialect.result} r = {self.h}_unsupported(&entry, &said);')
            error, type_ = 'r', row.result.strip()
            value = 'NULL' if '*' in type_ else '' if void else \
                f'({type_}){{0}}' if type_.startswith('struct') else f'({type_})r'
        lines.append(f'    {self.h}_end(self, outer, {error});')
        lines += ([f'    return {value};'] if value else []) + ['}']
        return '\n'.join(lines) + '\n'

    def stated(self, key):
        """The values of a dialect line of all tables, each once."""
        return list(dict.fromkeys(v for g in self.all for v in g.dialect.values.get(key, [])))

    def facts(self):
        """The files of types of all tables."""
        return [os.path.join(g.table.folder, f) for g in self.all
                for f in g.dialect.values.get('facts', [])]

    def rows(self):
        return [(g, row) for g in self.all for row in g.table.rows]

    def describe(self, root):
        """Reads the headers and the files of types."""
        headers = [h for g in self.all for h in g.dialect.header_files(root)]
        declarations = Declarations(list(dict.fromkeys(headers)))
        constants = [c for e in declarations.enums.values() for c in e.constants]
        rules = Rules(self.facts(), constants + declarations.macros)
        shapes = Shapes(declarations, rules, marks=not self.dialect.one('recorder'))
        for g in self.all:
            g.declarations, g.rules, g.shapes = declarations, rules, shapes
        return shapes.named_type(self.dialect.result)

    def write_entries(self, folder, root):
        result = self.describe(root) if self.facts() else None
        rows = self.rows()
        per_part = -(-len(rows) // PARTS)
        includes = ''.join(f'#include "{h}"\n' for h in self.stated('entry'))
        for part in range(PARTS):
            text = self.notice() + includes
            for g, row in rows[part * per_part:(part + 1) * per_part]:
                for name, twin in row.exported():
                    text += '\n' + g.wrapper(row, name, twin)
            write(os.path.join(folder, f'entry_{part}.c'), text)
        if result is None:
            return
        if self.rules.unused() and not self.table.of_base:
            raise ValueError('rules that match nothing: ' + ', '.join(self.rules.unused()))
        self.write_description(folder, result)

    def write_description(self, folder, result):
        includes = self.stated('types') + self.stated('objects')
        write(os.path.join(folder, 'description.c'),
              self.notice() + write_shapes(self.shapes, self.dialect, includes, result))

    def notice(self):
        """The first lines of a file that is generated from all tables."""
        return notice(g.table for g in self.all)

    # ---- calls with the arguments as words

    def call_value(self, argument, i):
        """The argument, from a word as trace_value makes it."""
        type_ = argument.type.replace('const ', '').strip() if '*' not in argument.type \
            else argument.type
        if argument.by_value(self.declarations):
            return f'*(const {type_} *)(uintptr_t)v[{i}]'
        if type_ == 'float':
            return f'as_float(v[{i}])'
        if '*' in type_ or type_ in self.declarations.handles | self.declarations.callbacks:
            return f'({type_})(uintptr_t)v[{i}]'
        return f'({type_})v[{i}]'

    def write_calls(self, folder, root):
        """calls.c, with a function for each entry point that takes its arguments as words; and
        description.c, whose members the table there names."""
        result = self.describe(root)
        functions, rows = [], []
        for g, row in self.rows():
            if not row.gives_error or 'direct' in row.flags:
                continue
            first, count = self.shapes.arguments(row)
            types = ', '.join(a.type for a in row.arguments) or 'void'
            values = ', '.join(g.call_value(a, i) for i, a in enumerate(row.arguments))
            code = g.dialect.result
            functions.append(
                f'static {code} call_{row.name}(void *f, const uint64_t *v)\n{{\n'
                f'    return (({code} (*)({types}))f)({values});\n}}\n')
            rows += [f'    {{"{name}", call_{row.name}, {first}, {count}}},'
                     for name, _ in row.exported()]
        text = self.notice() + ''.join(f'#include "{h}"\n' for h in self.stated('types'))
        text += '#include <string.h>\n#include "replay.h"\n\n' \
            'static float as_float(uint64_t word)\n{\n    float value;\n' \
            '    memcpy(&value, &word, sizeof value);\n    return value;\n}\n\n'
        text += '\n'.join(functions) + '\nconst struct replay_entry replay_entries[] = {\n'
        text += '\n'.join(sorted(rows, key=lambda r: r.split('"')[1])) + '\n};\n' \
            'const size_t replay_entry_count = sizeof replay_entries / sizeof *replay_entries;\n'
        write(os.path.join(folder, 'calls.c'), text)
        self.write_description(folder, result)

    # ---- prototypes

    def begin_header(self):
        return self.table.notice() + '#pragma once\n' + \
            ''.join(f'#include "{h}"\n' for h in self.dialect.types) + '\n'

    def prototype(self, row, name):
        return f'{row.result}{name}({row.c_arguments()});\n'

    def exports(self):
        """Prototypes of the exported functions."""
        return self.begin_header() + ''.join(
            self.prototype(row, name) for row in self.table.rows for name, _ in row.exported())

    def bodies(self):
        """Prototypes of the bodies, and API_HAS_NAME for each that exists."""
        body, result = self.dialect.body, self.dialect.result
        text = self.begin_header()
        if self.stream_struct:
            text += f'struct {self.stream_struct};\n\n'
        text += f'// {body}check_NAME returns this if the call is complete without its stream.\n' \
            f'#define {body.upper()}DONE (({result})-1)\n\n'
        for row in self.table.rows + self.table.hidden:
            if row.answer in ('unsupported', 'same'):
                continue
            has = self.table.implemented(row)
            if row not in self.table.hidden:
                text += f'#define {body.upper()}HAS_{row.name} {int(has)}\n'
            if not has:
                continue
            struct = self.stream_struct and f'struct {self.stream_struct}'
            arguments = [a.body_text(struct) for a in row.arguments]
            if self.table.takes_default_stream(row):
                kind = f'{struct} *' if struct else f'{self.dialect.stream_type} '
                arguments.append(f'{kind}default_stream')
            text += f'{row.result}{row.body}({", ".join(arguments) or "void"});\n'
            if 'own' in row.checks:
                own = ', '.join(a.text for a in row.arguments if not a.stream)
                text += f'{result} {body}check_{row.name}({own});\n'
        return text

    # ---- other tables

    def procs(self):
        """Rows sorted by base name, and of one base name from the newest to the oldest."""
        rows = sorted((r for r in self.table.rows if r.since is not None),
                      key=lambda r: (r.base, -r.since))
        first_twin = int(self.dialect.one('firsttwin'))
        text = self.table.notice() + f'#define {self.dialect.one("internal")}\n'
        text += f'#include "{self.dialect.one("procs")}"\n#include "api_exports.h"\n'
        text += '\nconst struct api_proc api_procs[] = {\n'
        for r in rows:
            twin = f'(void *){r.name}_{r.twin}, {max(r.since, first_twin)}' if r.twin else 'NULL, 0'
            text += f'    {{"{r.base}", (void *){r.name}, {r.since}, {twin}}},\n'
        return text + '};\nconst size_t api_proc_count = sizeof api_procs / sizeof *api_procs;\n'

    def version_script(self):
        """The linker's version script: exactly the table's names, under the dialect's node."""
        node = self.dialect.one('node')
        names = ''.join(f'    {n};\n' for n in self.table.names())
        return f'{node + " " if node else ""}{{\n  global:\n{names}  local:\n    *;\n}};\n'
