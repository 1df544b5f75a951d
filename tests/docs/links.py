#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every relative link and anchor of the Markdown files leads somewhere, generated pages included.

links.py ROOT OUT       OUT: a folder for the generated pages, which stand for docs/generated
"""

import os
import re
import subprocess
import sys

ROOT, OUT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
GENERATED = os.path.join(ROOT, 'docs', 'generated')
# Takes half a minute to make, so it is not made here.
LATER = {os.path.join(GENERATED, 'conformance.md')}
LINK = re.compile(r'!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)')


def place(path):
    """The file that a path of the manual names: generated pages lie in OUT."""
    inside = os.path.relpath(path, GENERATED)
    made = os.path.join(OUT, inside)
    return made if not inside.startswith('..') and os.path.exists(made) else path


def text_of(path):
    with open(path, encoding='utf-8') as f:
        return re.sub(r'^(```|~~~).*?^\1', '', f.read(), flags=re.M | re.S)


def anchors(path):
    """The anchors of a page, as GitHub makes them of its headings."""
    found, seen = set(), {}
    for heading in re.findall(r'^#{1,6} +(.*?) *#*$', text_of(path), re.M):
        plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).replace('`', '')
        slug = re.sub(r'[^\w\- ]', '', plain.lower()).replace(' ', '-')
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f'{slug}-{count}' if count else slug)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text_of(path)))


def pages():
    """(where the page stands in the manual, the file with its text)."""
    try:
        names = subprocess.run(
            ['git', '-C', ROOT, 'ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
            capture_output=True,
            text=True,
        ).stdout.split('\n')
    except FileNotFoundError:  # git is not installed
        names = []
    if not any(names):  # not a checkout: a release
        found = (
            os.path.relpath(os.path.join(folder, f), ROOT)
            for folder, _, files in os.walk(ROOT)
            for f in files
        )
        names = [f for f in found if f.endswith('.md') and not f.startswith('build')]
    for name in filter(None, names):
        if os.path.exists(os.path.join(ROOT, name)):
            yield os.path.join(ROOT, name), os.path.join(ROOT, name)
    for name in sorted(os.listdir(OUT)):
        if name.endswith('.md'):
            yield os.path.join(GENERATED, name), os.path.join(OUT, name)


def broken(page, file):
    if re.search(r'^(<<<<<<<|>>>>>>>) ', text_of(file), re.M):
        yield f'{os.path.relpath(page, ROOT)}: an unresolved merge'
    text = re.sub(r'`[^`\n]*`', '', text_of(file))
    for link in LINK.findall(text) + re.findall(r'<img[^>]* src="([^"]+)"', text):
        if re.match(r'[a-z]+:', link):
            continue
        target, _, anchor = link.partition('#')
        path = place(
            os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        )
        path = file if not target else path
        if path in LATER:
            continue
        if not os.path.exists(path):
            yield f'{os.path.relpath(page, ROOT)}: {link}: there is no such file'
        elif anchor and path.endswith('.md') and anchor not in anchors(path):
            yield f'{os.path.relpath(page, ROOT)}: {link}: the page has no such heading'


subprocess.run(
    [sys.executable, os.path.join(ROOT, 'tools', 'docs'), '--out', OUT, '--quick'],
    check=True,
    stdout=subprocess.DEVNULL,
)
all_pages = list(pages())
found = [line for page, file in all_pages for line in broken(page, file)]
print(f'{len(all_pages)} pages', *found, sep='\n')
sys.exit(bool(found) or len(all_pages) < 10)
