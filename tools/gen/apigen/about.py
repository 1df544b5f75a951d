# SPDX-License-Identifier: MIT
"""What the public headers say about functions: the file that a table's `dialect about` names."""
import fnmatch
import os
import textwrap

WIDTH = 100


class About:
    """Texts by pattern. Without a file there are no texts."""

    def __init__(self, table):
        name = table.dialect.one('about')
        self.path = name and os.path.join(table.folder, name)
        self.texts, self.used = [], set()
        if self.path:
            with open(self.path, encoding='utf-8') as f:
                self.read(f.read())

    def read(self, text):
        lines = []
        for line in text.split('\n'):
            if line.startswith(' ') and lines:
                lines[-1] += ' ' + line.strip()
            elif line and not line.startswith('#'):
                lines.append(line)
        for line in lines:
            names, _, said = line.partition('|')
            self.texts += [(pattern, said.strip()) for pattern in names.split()]

    def text(self, function):
        if not self.path:
            return None
        for pattern, said in self.texts:
            if fnmatch.fnmatchcase(function, pattern):
                self.used.add(pattern)
                return said
        raise SystemExit(f'{self.path}: nothing is said about {function}')

    def comment(self, function, before):
        """The lines above a prototype; none if the one above it has the same text."""
        said = self.text(function)
        if not said or before and said == self.text(before):
            return []
        lines = textwrap.wrap(said, WIDTH - len('/*  */'), break_long_words=False,
                              break_on_hyphens=False)
        if len(lines) == 1:
            return [f'/* {lines[0]} */']
        return ['/* ' + lines[0]] + [' * ' + line for line in lines[1:-1]] + [f' * {lines[-1]} */']
