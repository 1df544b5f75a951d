# SPDX-License-Identifier: MIT
"""Reads the types that C headers declare: enumerations, structures, unions, handles, constants.

The headers in include/cardless/abi are plain declarations, so a small parser is enough. Only names
and structure are read; the compiler computes sizes, offsets and values, because the generated code
spells them as C expressions.
"""
import re

TOKEN = re.compile(r'[A-Za-z_]\w*|\.\.\.|0[xX][0-9a-fA-F]+|\d+|"[^"]*"|<<|>>|[^\s\w]')
# Words that do not change what a declaration means to a reader of traces.
IGNORED = {'CARDLESS_UNNAMED', 'CUDA_CB', 'CUDART_CB', 'CUDAAPI', '__stdcall', '__extension__',
           'extern'}
# Conditions of the headers that hold on the machines that the driver runs on.
TRUE = re.compile(r'__LP64__|__GNUC__')


class Enum:
    """An enumeration. `spelling` is its type in C."""

    def __init__(self, name, constants):
        self.name, self.constants, self.spelling = name, constants, name


class Record:
    """A structure or a union. `spelling` is its type in C."""

    def __init__(self, kind, name, members):
        self.kind, self.name, self.members, self.spelling = kind, name, members, name


class Member:
    """One member. `type` is the name of a type without const, or a Record or Enum that is defined
    here. An unnamed member has the name ''."""

    def __init__(self, name, type_, stars, array):
        self.name, self.type, self.stars, self.array = name, type_, stars, array


def active_lines(text):
    """The lines whose conditions hold; constants are reported as (name, None)."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S).replace('\\\n', ' ')
    states = []
    for line in text.split('\n'):
        directive = re.match(r'\s*#\s*(\w+)\s*(.*)', line)
        if not directive:
            if all(states):
                yield line
            continue
        word, rest = directive.groups()
        if word in ('if', 'ifdef', 'ifndef'):
            states.append(bool(TRUE.search(rest)) or word == 'ifndef')
        elif word == 'else':
            states[-1] = not states[-1]
        elif word == 'endif':
            states.pop()
        elif word == 'define' and all(states):
            words = re.split(r'\s+', rest.strip(), 1)
            yield ('define', words[0].split('(')[0], words[1] if len(words) > 1 else '')


class Declarations:
    def __init__(self, paths):
        self.enums, self.records, self.aliases = {}, {}, {}
        self.handles, self.callbacks, self.macros = set(), set(), []
        self.pointed = {}  # 'struct TAG' of a handle: the handle
        for path in paths:
            self.read(open(path, encoding='utf-8').read())

    def read(self, text):
        code = []
        for line in active_lines(text):
            if isinstance(line, tuple):
                self.macros.append(line[1])
                if re.fullmatch(r'[a-z]\w*', line[2]):
                    self.aliases[line[1]] = line[2]  # another name of a type, if it is one at all
            else:
                code.append(line)
        self.tokens = [t for t in TOKEN.findall('\n'.join(code)) if t not in IGNORED]
        self.at = 0
        while self.at < len(self.tokens):
            if self.tokens[self.at] == 'typedef':
                self.at += 1
                self.typedef()
            elif self.tokens[self.at] in ('enum', 'struct', 'union') and \
                    self.tokens[self.at + 2] == '{':
                self.tagged(self.tokens[self.at], self.specifier())
                self.take(';')
            else:
                self.at += 1

    def take(self, token):
        if self.tokens[self.at] != token:
            raise ValueError(f'"{token}" expected: {" ".join(self.tokens[self.at:self.at + 9])}')
        self.at += 1

    def until(self, stop):
        """The tokens up to `stop` outside brackets, which is not consumed."""
        out, depth = [], 0
        while depth or self.tokens[self.at] not in stop:
            t = self.tokens[self.at]
            depth += (t in '([{') - (t in ')]}')
            out.append(t)
            self.at += 1
        return out

    def tagged(self, word, what):
        """A type that has a tag. It replaces one of an earlier header."""
        what.spelling = f'{word} {what.name}'
        (self.enums if isinstance(what, Enum) else self.records)[what.name] = what

    def typedef(self):
        what = self.specifier()
        declarator = self.until(';')
        self.take(';')
        if '(' in declarator:
            name = declarator[declarator.index('(') + 1:]
            self.callbacks.add(name[1] if name[0] == '*' else declarator[0])
            return
        stars, name = declarator.count('*'), declarator[-1]
        if stars:
            self.handles.add(name)
            if stars == 1 and isinstance(what, str):
                self.pointed.setdefault(what, name)
        elif isinstance(what, Record):
            what.name = what.spelling = name
            self.records[name] = what
        elif isinstance(what, Enum):
            what.name = what.spelling = name
            self.enums[name] = what
        elif what.split()[-1] != name:
            self.aliases[name] = what

    def specifier(self):
        """A type: an Enum or a Record if it is defined here, else its name."""
        words = []
        while re.match(r'[A-Za-z_]', self.tokens[self.at]):
            word = self.tokens[self.at]
            if word in ('enum', 'struct', 'union'):
                self.at += 1
                tag = ''
                if self.tokens[self.at] != '{':
                    tag = self.tokens[self.at]
                    self.at += 1
                if self.tokens[self.at] != '{':
                    return f'{word} {tag}'
                self.at += 1
                return self.enum(tag) if word == 'enum' else self.record(word, tag)
            # The last word before a declarator is its name.
            following = self.tokens[self.at + 1]
            if words and words != ['const'] and not re.match(r'[A-Za-z_*(]', following):
                break
            if word != 'const':
                words.append(word)
            self.at += 1
            if not re.match(r'(unsigned|signed|long|short|int|char|const)$', word) and \
                    word not in ('unsigned', 'const'):
                break
            if word in ('int', 'char', 'float', 'double') and word != 'const':
                break
            if word in ('long', 'short', 'unsigned') and \
                    self.tokens[self.at] not in ('int', 'char', 'long', 'short'):
                break
        while self.tokens[self.at] == 'const':
            self.at += 1
        return ' '.join(words)

    def enum(self, tag):
        constants = []
        while self.tokens[self.at] != '}':
            constants.append(self.tokens[self.at])
            self.until(',}')
            if self.tokens[self.at] == ',':
                self.at += 1
        self.take('}')
        return Enum(tag, constants)

    def record(self, kind, tag):
        members = []
        while self.tokens[self.at] != '}':
            what = self.specifier()
            while True:
                stars = 0
                while self.tokens[self.at] in ('*', 'const'):
                    stars += self.tokens[self.at] == '*'
                    self.at += 1
                name, array = '', False
                if self.tokens[self.at] == '(':
                    members.append(self.function_member())
                    break
                if self.tokens[self.at] not in (';', ','):
                    name = self.tokens[self.at]
                    self.at += 1
                while self.tokens[self.at] == '[':
                    self.at += 1
                    self.until(']')
                    self.take(']')
                    array = True
                members.append(Member(name, what, stars, array))
                if self.tokens[self.at] == ';':
                    break
                self.take(',')
            self.take(';')
        self.take('}')
        return Record(kind, tag, members)

    def function_member(self):
        """A pointer to a function, of which no more than the name is read."""
        self.take('(')
        self.take('*')
        name = self.tokens[self.at]
        self.at += 1
        self.take(')')
        self.until(';')
        return Member(name, 'void', 1, False)

    def resolve(self, name):
        """Follows aliases to the name that is declared."""
        while name in self.aliases:
            name = self.aliases[name]
        return name

    def find(self, name):
        """The same, without `struct` and its like."""
        while True:
            bare = re.sub(r'^(struct|union|enum) ', '', name)
            if bare in self.records or bare not in self.aliases:
                return bare
            name = self.aliases[bare]
