#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Only kernels/ moves bytes in bulk: the rooms above it call it to copy or fill memory of run-time
size.

usage: bulk.py ROOT ALLOWED       looks through the rooms; reports places that ALLOWED does not
                                  name, and lines of ALLOWED that match nothing
       bulk.py --spellings FILE   a self-test: of FILE's functions, all whose names begin with
                                  found_ are reported and no other one

Works on tokens, bodies of macros included. Reports:
  - calls of memcpy and its like, of the compiler's builtins for them, and of system calls that
    read, write or copy, if the size is not a constant;
  - a pointer to one of the former;
  - the same calls, of any size, at places that a loop moves along: a copy in pieces;
  - assignments in loops to elements that the loop moves along, of another such element (a copy) or
    of a value that does not change (a fill); and `*d++ = *s++` anywhere.
Does not find a function of one's own that moves one element and is called in a loop, recursion, or
loops by goto. A line of ALLOWED is `file | text on the line that is reported | why`."""

import re
import sys
from pathlib import Path

ROOMS = ('api', 'emulator', 'device-model', 'runtime', 'vulkan-layer')
MOVERS = {'memcpy', 'memmove', 'memset', 'mempcpy', 'memccpy', 'memset_explicit', 'wmemcpy',
          'wmemmove', 'wmemset', 'bcopy', 'bzero', 'explicit_bzero', 'swab', 'strncpy', 'stpncpy'}
CALLS = {'read', 'write', 'pread', 'pwrite', 'pread64', 'pwrite64', 'readv', 'writev', 'preadv',
         'pwritev', 'preadv2', 'pwritev2', 'fread', 'fwrite', 'process_vm_readv',
         'process_vm_writev', 'copy_file_range', 'sendfile', 'splice', 'vmsplice', 'tee', 'recv',
         'send'}
SIZE_AT = {'pread': 2, 'pwrite': 2, 'pread64': 2, 'pwrite64': 2, 'recv': 2, 'send': 2, 'tee': 2,
           'copy_file_range': 4, 'splice': 4}
SIZE_LAST = MOVERS | {'read', 'write', 'sendfile'}  # of others the sizes are somewhere else
BUILTIN = re.compile(r'__builtin_(?:__)?(\w+?)(?:_inline|_chk)?$')
TOKEN = re.compile(r'''(?P<comment>//[^\n]*|/\*.*?\*/)|
                       (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|
                       (?P<name>[A-Za-z_]\w*)|
                       (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|
                       (?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|\S)''',
                   re.S | re.X)
CLOSING = {'(': ')', '[': ']', '{': '}'}
OPENING = {v: k for k, v in CLOSING.items()}
CHANGES = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '++', '--'}
KEYWORDS = {'if', 'for', 'while', 'switch', 'return', 'else', 'do', 'case', 'goto', 'sizeof'}
BORDERS = {';', ',', '{', '}', '?', ':', '&&', '||', 'return', 'else', 'do', 'case'} | (
    CHANGES - {'++', '--'}
)


class Token(str):
    """Its text; `line`: counted from 1; `kind`: name, number, text or sign; `pair`: the place of
    the bracket that belongs to it."""

    __slots__ = ('line', 'kind', 'pair')


def tokens_of(text):
    """The tokens of a source, and those of each macro's body, which is code of its own."""
    out = [[]]
    text = re.sub(r'\\\n', lambda m: ' \0', text)  # continued lines, whose numbers count
    for directive in re.finditer(r'^[ \t]*#[ \t]*(\w+)([^\n]*)', text, re.M):
        if directive[1] == 'define':
            body = re.match(r'\s*\w+(?:\([^)]*\))?', directive[2]).end() + directive.start(2)
            out.append(scan(text, body, directive.end()))
    plain = re.sub(r'^[ \t]*#[^\n]*', lambda m: re.sub(r'[^\0]', ' ', m[0]), text, flags=re.M)
    out[0] = scan(plain, 0, len(plain))
    return out


def scan(text, start, end):
    tokens, line, at = [], text.count('\n', 0, start) + text.count('\0', 0, start) + 1, start
    for m in TOKEN.finditer(text, start, end):
        line += text.count('\n', at, m.start()) + text.count('\0', at, m.start())
        at = m.start()
        if m.lastgroup == 'comment' or m[0] == '\0':
            continue
        t = Token(m[0])
        t.line, t.kind, t.pair = line, m.lastgroup, None
        tokens.append(t)
    pair_up(tokens)
    return tokens


def pair_up(tokens):
    open_ones = []
    for i, t in enumerate(tokens):
        if t in CLOSING and t.kind == 'sign':
            open_ones.append(i)
        elif t in OPENING and t.kind == 'sign':
            if open_ones and tokens[open_ones[-1]] == OPENING[t]:
                t.pair = open_ones.pop()
                tokens[t.pair].pair = i


def skip_bracket(tokens, i):
    """The place after the bracket at `i` and its contents."""
    return (tokens[i].pair if tokens[i].pair is not None else len(tokens) - 1) + 1


def split(tokens, start, end, sign=','):
    """The parts of [start, end) between signs that no bracket encloses, as ranges."""
    parts, first, i = [], start, start
    while i < end:
        if tokens[i] in CLOSING and tokens[i].pair:
            i = skip_bracket(tokens, i)
            continue
        if tokens[i] == sign:
            parts.append((first, i))
            first = i + 1
        i += 1
    return parts + [(first, end)]


def postfix_end(tokens, i, end):
    """The place after the unary expression that begins at `i`."""
    while i < end and (tokens[i] in {'*', '&', '-', '+', '!', '~', '++', '--', 'sizeof'}):
        i += 1
    i = skip_bracket(tokens, i) if i < end and tokens[i] in CLOSING else i + 1
    while i < end and (tokens[i] in {'[', '(', '.', '->', '++', '--'} or tokens[i].kind == 'name'):
        i = skip_bracket(tokens, i) if tokens[i] in CLOSING else i + 1
    return i


def constant(tokens, start, end):
    """Whether an expression is one of numbers, sizeof and offsetof alone."""
    i, wanted = start, True
    while i < end:
        t = tokens[i]
        if not wanted:
            if t not in {'*', '+', '-', '/', '<<'}:
                return False
            i, wanted = i + 1, True
            continue
        if t.kind == 'number':
            i += 1
        elif t == 'sizeof':
            i = postfix_end(tokens, i + 1, end)
        elif t == 'offsetof':
            i = skip_bracket(tokens, i + 1)
        elif t == '(' and t.pair and constant(tokens, i + 1, t.pair):
            i = t.pair + 1
        else:
            return False
        wanted = False
    return not wanted


def statement_end(tokens, i):
    """The place after the statement that begins at `i`, or the end of a macro that ends before."""
    return min(statement_end_in_tokens(tokens, i), len(tokens))


def statement_end_in_tokens(tokens, i):
    n = len(tokens)
    if i >= n:
        return n
    t = tokens[i]
    if t == '{':
        return skip_bracket(tokens, i)
    if t in {'for', 'while', 'if', 'switch'} and i + 1 < n and tokens[i + 1] == '(':
        i = statement_end(tokens, skip_bracket(tokens, i + 1))
        while i < n and t == 'if' and tokens[i] == 'else':
            i = statement_end(tokens, i + 1)
        return i
    if t == 'do':
        i = statement_end(tokens, i + 1)
        return (
            skip_bracket(tokens, i + 1)
            if i + 1 < n and tokens[i] == 'while' and tokens[i + 1] == '('
            else i
        )
    while i < n and tokens[i] not in {';', '}'}:
        i = skip_bracket(tokens, i) if tokens[i] in CLOSING else i + 1
    return i + 1


def loops(tokens):
    """The ranges of all loops, headers included; none of them a macro's do … while (0)."""
    for i, t in enumerate(tokens):
        if t in {'for', 'while'} and i + 1 < len(tokens) and tokens[i + 1] == '(':
            yield i, statement_end(tokens, i)
        elif t == 'do':
            end = statement_end(tokens, i)
            if tokens[end - 3:end] != ['(', '0', ')']:
                yield i, end


def is_type(tokens, i):
    """Whether the token at `i`, before a `*`, may be a type's name: then this is a declaration."""
    while i > 0 and tokens[i] == '*':
        i -= 1
    return i >= 0 and tokens[i].kind == 'name' and tokens[i] not in KEYWORDS


def declares(tokens, left):
    """Whether the left side that begins at `left` is a further name of a declaration."""
    at = left
    while at > 0 and tokens[at - 1] not in {';', '{', '}', '('}:
        at = (
            tokens[at - 1].pair
            if tokens[at - 1] in OPENING and tokens[at - 1].pair is not None
            else at - 1
        )
    return (
        at + 1 < left
        and tokens[at].kind == 'name'
        and (tokens[at + 1].kind == 'name' or tokens[at + 1] == '*')
    )


def short(tokens, start):
    """Whether the loop at `start` counts to a small number, as one over three coordinates does."""
    if tokens[start] != 'for':
        return False
    parts = split(tokens, start + 2, skip_bracket(tokens, start + 1) - 1, ';')
    test = tokens[parts[1][0] : parts[1][1]] if len(parts) == 3 else []
    return len(test) == 3 and test[1] == '<' and test[2].isdigit() and int(test[2]) <= 64


def moving(tokens, start, end):
    """The names that a loop changes, or lets somebody change; and those that it steps, as it does
    with pointers."""
    names, stepped = set(), set()
    for i in range(start, end):
        if tokens[i].kind != 'name' or tokens[i] in KEYWORDS:
            continue
        before, after = tokens[i - 1] if i else '', tokens[i + 1] if i + 1 < end else ''
        stored_to = after == '=' and before == '*' and not is_type(tokens, i - 2)
        if (
            (after in CHANGES and not stored_to)
            or before in {'++', '--'}
            or (before == '&' and i > 1 and tokens[i - 2] in {'(', ','})
        ):
            names.add(str(tokens[i]))
        if after in {'++', '--', '+=', '-='} or (
            before in {'++', '--'} and after not in {'.', '->', '['}
        ):
            stepped.add(str(tokens[i]))
    return names, stepped


def left_of(tokens, i, start):
    """Where the left side of the assignment at `i` begins."""
    at = i
    while at > start:
        t = tokens[at - 1]
        if t in OPENING and t.pair is not None and t != '}':
            if t == ')' and t.pair and tokens[t.pair - 1] in {'for', 'if', 'while', 'switch'}:
                return at
            at = t.pair
        elif t in BORDERS or t in CLOSING:
            return at
        else:
            at -= 1
    return at


def right_of(tokens, i, end):
    """The place after the right side of the assignment at `i`."""
    at = i + 1
    while at < end and tokens[at] not in {';', ',', ')', ']', '}'}:
        at = skip_bracket(tokens, at) if tokens[at] in CLOSING else at + 1
    return at


def bare(tokens, start, end):
    """The range without brackets and casts around it."""
    while (
        start < end
        and tokens[start] == '('
        and tokens[start].pair is not None
        and tokens[start].pair < end
    ):
        close = tokens[start].pair
        inside = tokens[start + 1:close]
        if close == end - 1:
            start, end = start + 1, end - 1
        elif all(t.kind == 'name' or t == '*' for t in inside) and (
            tokens[close + 1].kind != 'sign' or tokens[close + 1] in {'(', '*'}
        ):
            start = close + 1
        else:
            break
    return start, end


def is_element(tokens, start, end, names, stepped):
    """Whether an expression is an element of memory whose place depends on one of `names`, or that
    one of `stepped` points to."""
    start, end = bare(tokens, start, end)
    side = tokens[start:end]
    if not side or any(t in KEYWORDS for t in side) or not names.intersection(side):
        return False
    if side[0] == '*':
        return postfix_end(tokens, start, end) >= end or side[1] == '('
    # A declaration of an array is none: a type stands before its name.
    if side[0].kind == 'name' and len(side) > 1 and (side[1].kind == 'name' or side[1] == '*'):
        return False
    if postfix_end(tokens, start, end) < end or side[-1] == ')':
        return False
    if len(side) == 3 and side[1] == '->':
        return side[0] in stepped
    return any(
        t == '[' and t.pair is not None and names.intersection(tokens[start:t.pair]) for t in side
    )


def leaves(tokens, i, start):
    """Whether the statement that ends at `i` is followed by one that leaves the innermost loop:
    then it is about one element."""
    return (
        i + 1 < len(tokens)
        and tokens[i] == ';'
        and tokens[i + 1] in {'break', 'return', 'goto'}
        and not any(start < first <= i < end for first, end in loops(tokens))
    )


def is_invariant(tokens, start, end, names):
    side = tokens[start:end]
    return (
        not names.intersection(side)
        and not any(t == '(' and i and side[i - 1].kind == 'name' for i, t in enumerate(side))
        and '{' not in side
    )


def call_findings(tokens):
    """(place, what) of calls that move bytes, with sizes that are not constant or in loops."""
    inside = [(start, end, moving(tokens, start, end)[0]) for start, end in loops(tokens)]
    for i, t in enumerate(tokens):
        builtin = BUILTIN.match(t)
        name = builtin[1] if builtin else str(t)
        before, after = tokens[i - 1] if i else '', tokens[i + 1] if i + 1 < len(tokens) else ''
        if t.kind != 'name' or name not in MOVERS | CALLS or before in {'.', '->'}:
            continue
        if after != '(':
            if name in MOVERS:
                yield i, f'a pointer to {name}'
            continue
        type_at = i - 2 if before == '*' else i - 1
        is_declaration = type_at >= 0 and tokens[type_at].kind == 'name'
        if is_declaration and tokens[type_at] not in KEYWORDS:
            continue
        parts = split(tokens, i + 2, skip_bracket(tokens, i + 1) - 1)
        size = (
            parts[SIZE_AT[name]]
            if name in SIZE_AT and len(parts) > SIZE_AT[name]
            else parts[-1 - (t.endswith('_chk'))]
        )
        if name not in SIZE_LAST | SIZE_AT.keys() or not constant(tokens, *size):
            yield i, f'{name} of {" ".join(tokens[size[0]:size[1]])} bytes'
            continue
        for start, end, names in inside:
            to = tokens[parts[0][0] : parts[0][1]]
            if (
                start <= i < end
                and name in MOVERS
                and names.intersection(to)
                and not (to[0] == '&' and len(to) == 2)
            ):
                yield i, f'{name} in pieces'
                break


def loop_findings(tokens):
    """(place, what) of assignments that copy or fill element by element."""
    for start, end in loops(tokens):
        if short(tokens, start):
            continue
        names, stepped = moving(tokens, start, end)
        sides = [
            (left_of(tokens, i, start), i, right_of(tokens, i, end))
            for i in range(start, end)
            if tokens[i] == '='
        ]
        # Values on their way from one element to another.
        carried = {
            str(tokens[i - 1])
            for left, i, right in sides
            if tokens[i - 1].kind == 'name'
            and not is_element(tokens, left, i, names, stepped)
            and is_element(tokens, i + 1, right, names, stepped)
        }
        for left, i, right in sides:
            if (
                not is_element(tokens, left, i, names, stepped)
                or leaves(tokens, right, start)
                or declares(tokens, left)
            ):
                continue
            value = bare(tokens, i + 1, right)
            if is_element(tokens, i + 1, right, names, stepped) or (
                value[1] - value[0] == 1 and tokens[value[0]] in carried
            ):
                yield i, 'copies element by element'
            elif is_invariant(tokens, i + 1, right, names) and tokens[i - 2] != '.':
                yield i, 'fills element by element'
    for i in range(len(tokens) - 4):
        if tokens[i] == '*' and tokens[i + 2] == '++' and tokens[i + 3] == '=':
            end = right_of(tokens, i + 3, len(tokens))
            if tokens[i + 4] == '*' and tokens[end - 1] == '++':
                yield i + 3, 'copies element by element'


def findings(text):
    """(line number, what) of each place that moves bytes itself."""
    found = {}
    for tokens in tokens_of(text):
        for i, what in [*call_findings(tokens), *loop_findings(tokens)]:
            found.setdefault((tokens[i].line, what), None)
    return sorted(found)


def look(root, allowed_path):
    allowed = []
    for line in allowed_path.read_text().split('\n'):
        if line.strip() and not line.startswith('#'):
            name, text, why = (part.strip() for part in line.split(' | '))
            assert why, line
            allowed.append((name, text))
    unused, wrong = set(allowed), 0
    for room in ROOMS:
        for path in sorted((root / room).rglob('*.[ch]')):
            name, text = path.relative_to(root).as_posix(), path.read_text()
            lines = text.split('\n')
            for number, what in findings(text):
                line = lines[number - 1].strip()
                reasons = {(n, t) for n, t in allowed if n == name and t in line}
                unused -= reasons
                if not reasons:
                    print(f'{name}:{number}: {what}: {line}')
                    wrong += 1
    for name, text in sorted(unused):
        print(f'{allowed_path.name}: nothing in {name} matches "{text}" any more')
    if wrong:
        print(f'{wrong} places move bytes themselves: use dm_box_copy, dm_box_fill or kn_copy, '
              f'or say in {allowed_path.name} why not')
    return 1 if wrong or unused else 0


def test_spellings(path):
    """Each function of the file in a line of its own or more, its name at the beginning of one."""
    text = path.read_text()
    functions = [
        (text.count('\n', 0, m.start()) + 1, m[1])
        for m in re.finditer(r'^(?:#define |\w[\w *]*?\b)((?:found|other)_\w+)\(', text, re.M)
    ]
    wrong, seen = 0, {}
    for number, what in findings(text):
        owner = [name for line, name in functions if line <= number][-1]
        seen.setdefault(owner, what)
    for line, name in functions:
        if name.startswith('found_') != (name in seen):
            result = 'reported: ' + seen[name] if name in seen else 'not reported'
            print(f'{path.name}:{line}: {name} is {result}')
            wrong += 1
    print(f'{len(functions)} spellings, {wrong} wrong')
    return 1 if wrong or not functions else 0


if len(sys.argv) != 3:
    sys.exit(__doc__)
sys.exit(
    test_spellings(Path(sys.argv[2]))
    if sys.argv[1] == '--spellings'
    else look(Path(sys.argv[1]), Path(sys.argv[2]))
)
