#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each test of the API runs with failing allocations too, or a list says why not.

usage: left_out.py BUILD LIST     fails if a test has neither a variant nor a row, or has both
       left_out.py --self-test    finds what is planted in a list of tests

Reads the tests of a build folder from meson's description of them."""
import fnmatch
import json
import sys

SUITES = {'api', 'gl', 'mistakes', 'runtime'}
VARIANT = ', allocations fail'


def rows(text):
    """The patterns of the list with their reasons."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith('#'):
            pattern, bar, reason = line.partition(' | ')
            if not bar or not reason.strip():
                raise SystemExit(f'not a row "name | reason": {line}')
            found.append((pattern, reason))
    return found


def complaints(tests, list_text):
    """A sentence for each test that has neither a variant nor a row, or has both."""
    names = {test['name'] for test in tests}
    patterns = rows(list_text)
    for test in sorted(tests, key=lambda test: test['name']):
        name, suites = test['name'], {suite.split(':')[-1] for suite in test['suite']}
        if not suites & SUITES or test['protocol'] != 'tap' or name.endswith(VARIANT):
            continue
        variant = name + VARIANT in names
        exact = any(pattern == name for pattern, _ in patterns)
        listed = any(fnmatch.fnmatchcase(name, pattern) for pattern, _ in patterns)
        if not variant and not listed:
            yield f'"{name}" has no variant with failing allocations, and no row says why'
        if variant and exact:
            yield f'"{name}" has a variant with failing allocations; remove its row'


def self_test():
    def test(name, protocol='tap', suite='p:api'):
        return {'name': name, 'suite': [suite], 'protocol': protocol}

    tests = [test('a'), test('a' + VARIANT), test('b'), test('c'), test('d_1'),
             test('e', 'exitcode'), test('f', suite='p:unit')]
    got = list(complaints(tests, '# x\na | why\nc | why\nd_* | why\n'))
    assert len(got) == 2 and got[0].startswith('"a" has a variant') and got[1].startswith(
        '"b" has no variant'), got
    try:
        rows('a\n')
    except SystemExit:
        return 0
    return 'a row without a reason was taken'


def main():
    if sys.argv[1] == '--self-test':
        return self_test()
    with open(f'{sys.argv[1]}/meson-info/intro-tests.json', encoding='utf-8') as f:
        tests = json.load(f)
    with open(sys.argv[2], encoding='utf-8') as f:
        found = list(complaints(tests, f.read()))
    print('\n'.join(found))
    return bool(found)


if __name__ == '__main__':
    sys.exit(main())
