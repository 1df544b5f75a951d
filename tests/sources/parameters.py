#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No function of the project has more than 8 parameters.

usage: parameters.py ROOT          fails if a function has more
       parameters.py --self-test   finds the functions that are planted in a text

Reads the declarations and definitions in C files and headers. Functions of other APIs (cuda*, cu*,
gl*, vk* …) and functions with their signatures, such as api_cu*, have the parameters of their
manuals."""
import os
import re
import sys

import tree

LIMIT = 8
ROOMS = ('kernels/', 'device-model/', 'ptx/', 'emulator/', 'api/', 'runtime/', 'vulkan-layer/')
FOREIGN = re.compile(r'(api_|runtime_|rt\d*_|layer_)?_*(cu|cuda|cardless|gl|egl|glx|vk)[A-Z]')
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
CALL = re.compile(r'\b(\w+)\(')


def blank(match):
    return re.sub(r'[^\n]', ' ', match[0])


def without_bodies(text):
    """The text without comments, strings, and everything in braces. A brace at the start of a line
    ends all, because two branches of an #if may open the same one."""
    text = NOISE.sub(blank, text)
    out, depth, before = [], 0, '\n'
    for c in text:
        if c == '}':
            depth = 0 if before == '\n' else depth - 1
        before = c
        out.append(c if depth <= 0 or c == '\n' else ' ')
        depth += c == '{'
    return ''.join(out)


def count_parameters(text, start):
    """The number of parameters in the parentheses that begin before `start`."""
    depth, commas = 1, 0
    for c in text[start:]:
        depth += (c == '(') - (c == ')')
        commas += c == ',' and depth == 1
        if not depth:
            break
    return commas + 1


def too_many(text):
    """[(line, name, number of parameters)] of a C file"""
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, text, flags=re.MULTILINE)
    text = without_bodies(text)
    found = []
    for match in CALL.finditer(text):
        count = count_parameters(text, match.end())
        if count > LIMIT and not FOREIGN.match(match[1]):
            found.append((text.count('\n', 0, match.start()) + 1, match[1], count))
    return found


def self_test():
    nine = 'int a, int b, int c, int d, int e, int f, int g, int h, int i'
    planted = f'''void twice(int a)
{{
#if X
    if (a) {{
#else
    if (!a) {{
#endif
    }}
}}
int good(void (*f)({nine[:20]}, int x), int b, int c, int d, int e, int f, int g,
         int h);
#define MACRO({nine}) \\
    call({nine})
static int bad({nine}) // comment {{
{{
    return f({nine});
}}
CUresult api_cuLaunch({nine});
void also_bad({nine.replace(', ', ', // 1, 2' + chr(10))});
'''
    answer = too_many(planted)
    if answer != [(14, 'bad', 9), (19, 'also_bad', 9)]:
        sys.exit(f'found {answer}')


def main(arguments):
    if arguments == ['--self-test']:
        self_test()
        return
    count, bad = 0, 0
    for name in tree.files(arguments[0]):
        if not name.startswith(ROOMS) or not name.endswith(('.c', '.h')):
            continue
        count += 1
        with open(os.path.join(arguments[0], name), encoding='utf-8') as f:
            found = too_many(f.read())
        for line, function, parameters in found:
            print(f'{name}:{line}: {function} has {parameters} parameters; the limit is {LIMIT}')
            bad += 1
    print(f'{count} files, {bad} functions have too many parameters')
    sys.exit(bool(bad) or count < 500)


main(sys.argv[1:])
