# SPDX-License-Identifier: MIT
"""Everything a header declares, as the compiler understands it: names, types, sizes, offsets,
values, prototypes, macros."""
import json
import re
import subprocess
import tempfile
from pathlib import Path

OURS = re.compile(r'^(cu|CU|CIG|PFN_cu|nvml|NVML|(__)?nvJitLink|NVJITLINK|library|dim3$|'
                  r'u?(char|short|int|long|longlong|float|double)[1-4](_\d+a)?$)')
CONSTANT = re.compile(r'^(CU|CIG|NVML|NVJITLINK|cuda|MAJOR_|MINOR_|PATCH_)')
# Not part of the API: reserved names, include guards, and what Cardless keeps to itself.
EXEMPT_MACRO = re.compile(r'^(_|CARDLESS_)|_H_?$|^CUDA_(CB|ENABLE_DEPRECATED)$')

CALLABLE = re.compile(r'^(cuda[A-Z]|make_)')

# What the headers of both sides include from others.
FOREIGN = ''.join(f'#if __has_include(<{name}>)\n#include <{name}>\n#endif\n' for name in
                  ['stddef.h', 'stdint.h', 'stdlib.h', 'GL/gl.h', 'EGL/egl.h', 'EGL/eglext.h',
                   'vdpau/vdpau.h'])


def run(command, text=None):
    r = subprocess.run(command, input=text, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(' '.join(command) + '\n' + r.stderr[:4000])
    return r.stdout


def unnamed(spelling):
    """Clang spells an unnamed type with the place of its definition, which differs between the two
    headers."""
    return re.sub(r'\((unnamed|anonymous)[^)]*\)', '(unnamed)', spelling)


class Headers:
    """What one compilation of these headers declares."""

    def __init__(self, clang, flags, names):
        self.command = [clang, '-x', 'c', '-std=gnu11', '-w', *flags]
        self.source = FOREIGN + ''.join(f'#include <{name}>\n' for name in names)
        self.typedefs, self.records, self.functions, self.spelled = {}, {}, {}, {}
        self.enumerators, self.constants = {}, []
        dump = ['-fsyntax-only', '-Xclang', '-ast-dump=json', '-']
        tree = json.loads(run(self.command + dump, self.source))
        for node in tree['inner']:
            self.declare(node)
        self.macros = self.read_macros()
        self.facts = self.measure()

    def declare(self, node):
        kind, name = node['kind'], node.get('name', '')
        if kind == 'EnumDecl' and (not name or OURS.match(name)):
            names = [e['name'] for e in node.get('inner', []) if e['kind'] == 'EnumConstantDecl']
            for e in names:
                if CONSTANT.match(e):
                    self.constants.append(e)
                    self.enumerators[e] = name
        if not OURS.match(name):
            return
        if kind == 'TypedefDecl':
            t = node['type']
            self.typedefs[name] = unnamed(t.get('desugaredQualType', t['qualType']))
            self.spelled[name] = unnamed(t['qualType'])
        elif kind == 'RecordDecl' and node.get('completeDefinition'):
            self.records[f"{node['tagUsed']} {name}"] = list(self.fields(node))
        elif kind == 'FunctionDecl':
            self.functions[name] = unnamed(node['type']['qualType'])

    def fields(self, record, path=''):
        """(path, type) of every field, into unnamed members and members of unnamed type."""
        last = None
        for node in record.get('inner', []):
            if node['kind'] == 'RecordDecl':
                last = node
            elif node['kind'] == 'FieldDecl':
                t, name = node['type'], node.get('name', '')
                where = f'{path}.{name}' if path and name else path + name
                nested = last if last is not None and self.names(t['qualType'], last) else None
                if name:
                    yield where, (nested['tagUsed'] if nested else
                                  unnamed(t.get('desugaredQualType', t['qualType'])))
                if nested and '[' not in t['qualType']:
                    yield from self.fields(nested, where)

    @staticmethod
    def names(spelling, record):
        """Whether a field of this type follows the definition of the record it has."""
        if record.get('name'):
            return record['name'] in spelling.split()
        return re.search(r'\((unnamed|anonymous)', spelling)

    def canonical(self, spelling):
        """The type with every typedef of the API replaced by what it stands for."""
        for _ in range(8):
            new = re.sub(r'\b[A-Za-z_]\w*', lambda m: self.spelled.get(m[0], m[0])
                         if '(' not in self.spelled.get(m[0], '') else m[0], spelling)
            if new == spelling:
                break
            spelling = new
        return re.sub(r'\b(struct|union|enum) (?=(struct|union|enum) )', '', spelling)

    def read_macros(self):
        def table(source):
            found = {}
            for line in run(self.command + ['-E', '-dM', '-'], source).splitlines():
                m = re.match(r'#define (\w+)(\([^)]*\))?\s?(.*)', line)
                found[m[1]] = (m[2] or '', m[3].strip())
            return found
        plain = table(FOREIGN)
        own = {n: v for n, v in table(self.source).items()
               if n not in plain and not EXEMPT_MACRO.search(n)
               and not re.match('GL|EGL|VDP|KHRONOS', n)}
        # Macros are compared by their full expansion. A name that expands to itself is left out,
        # because it might as well not be defined.
        uses = ''.join(f'"=={n}" {n}\n' for n in own if not own[n][0])
        text = run(self.command + ['-E', '-P', '-'], self.source + uses)
        for name, expansion in re.findall(r'^"==(\w+)" ?(.*)$', text, re.M):
            own[name] = ('', expansion)
        return {n: v for n, v in own.items() if v[1] != n}

    def measure(self):
        """Compile and run a program that prints what only the compiler knows."""
        out = []
        for c in sorted(set(self.constants)):
            out.append(f'printf("value {c} %lld\\n", (long long){c});')
        for name, spelling in sorted(self.typedefs.items()):
            if not re.search(r'\)\s*\(|\w \(', spelling) or '*' in spelling:
                out.append(f'printf("size {name} %zu\\n", SIZE({name}));')
        for record, fields in sorted(self.records.items()):
            out.append(f'printf("size {record} %zu\\nalign {record} %zu\\n", '
                       f'sizeof({record}), _Alignof({record}));')
            for path, _ in fields:
                out.append(f'printf("field {record}.{path} at %zu of %zu\\n", '
                           f'offsetof({record}, {path}), sizeof((({record} *)0)->{path}));')
        program = ('#define SIZE(t) sizeof(t)\n#include <stdio.h>\n' + self.source +
                   'int main(void)\n{\n' + '\n'.join(out) + '\n}\n')
        with tempfile.TemporaryDirectory() as folder:
            binary = str(Path(folder) / 'measure')
            run(self.command + ['-o', binary, '-'], program)
            lines = run([binary]).splitlines()
        return dict(re.match(r'(\w+ .*?) ((?:at )?-?\d.*)', line).groups() for line in lines)


class Overloads:
    """The functions and templates that C++ programs can call: name, parameters with their defaults,
    number of template parameters, and the types that cudaCreateChannelDesc knows."""

    # Functions for kernels, which need a compiler of CUDA C++.
    DEVICE = 'cuda_device_runtime_api.h'

    def __init__(self, clang, flags, names):
        source = FOREIGN + ''.join(f'#include <{name}>\n' for name in names)
        command = [clang, '-x', 'c++', '-std=gnu++17', '-w', *flags, '-fsyntax-only', '-Xclang',
                   '-ast-dump=json', '-']
        self.found, self.file = set(), ''
        for node in json.loads(run(command, source))['inner']:
            self.visit(node)

    def visit(self, node):
        place = node.get('loc', {})
        self.file = place.get('expansionLoc', place).get('file', self.file)
        name, inner = node.get('name', ''), node.get('inner', [])
        if node['kind'] == 'LinkageSpecDecl':
            for n in inner:
                self.visit(n)
        elif not CALLABLE.match(name) or self.file.endswith(self.DEVICE):
            return
        elif node['kind'] == 'FunctionDecl':
            self.found.add(f'{name}({self.parameters(node)})')
        elif node['kind'] == 'FunctionTemplateDecl':
            functions = [n for n in inner if n['kind'] == 'FunctionDecl']
            own = [n for n in inner if n['kind'].endswith('TypeParmDecl')]
            text = self.parameters(functions[0])
            for i, parameter in enumerate(own):
                if 'name' in parameter:
                    text = re.sub(rf'\b{parameter["name"]}\b', f'T{i}', text)
            self.found.add(f'template of {len(own)}: {name}({text})')
            if name == 'cudaCreateChannelDesc':
                self.found |= {f'{name}<{self.argument(a)}>' for f in functions[1:]
                               for a in f.get('inner', []) if a['kind'] == 'TemplateArgument'}

    def parameters(self, function):
        parameters = [p for p in function.get('inner', []) if p['kind'] == 'ParmVarDecl']
        return ', '.join(unnamed(p['type']['qualType']) +
                         (f' = {self.default(p)}' if 'init' in p else '') for p in parameters)

    @staticmethod
    def default(node):
        """The value of a default argument: its last literal or name."""
        while node.get('inner'):
            node = node['inner'][-1]
        named = node.get('referencedDecl', {}).get('name')
        return named or str(node.get('value', node['kind']))

    @staticmethod
    def argument(node):
        return node['type']['qualType'] if 'type' in node else str(node.get('value', '?'))
