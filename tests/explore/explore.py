#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `cardless explore` on the corpus, and checks its report, its options and exit statuses.

  explore.py CARDLESS CORPUS [SCHEDULES]

Each wrong program passes in the order of eager, fails under one of 1,000 orders, and fails again
under the schedule that is printed. The same schedule does no harm to its corrected twin, which is
run under SCHEDULES orders (40)."""
import os
import re
import subprocess
import sys
import time

TOOL, CORPUS = sys.argv[1:3]
TWINS = int(sys.argv[3]) if len(sys.argv) > 3 else 40
failures = []


def run(*arguments, **environment):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})


def expect(condition, *what):
    if not condition:
        failures.append(' '.join(str(w) for w in what))


def explore(name, form, schedules):
    return run('explore', '--check', 'off', '--schedules', str(schedules), '--', CORPUS, name, form)


def check_wrong(name):
    """Returns the number of the failing order, and of the decisions that matter."""
    r = run('run', '--policy', 'schedule:', CORPUS, name, 'wrong')
    expect(r.returncode == 0, f'{name} fails without a departure: {r.stdout}{r.stderr}')
    r = explore(name, 'wrong', 1000)
    found = re.search(r'^FAILED under order (\d+): ', r.stdout)
    repeat = re.search(r'cardless run --policy (\S+) -- ', r.stdout)
    expect(r.returncode == 1 and found and repeat, f'{name} is not found: {r}')
    if not found or not repeat:
        return 0, 0
    expect('passed when it was repeated' not in r.stdout, f'{name} does not repeat: {r.stdout}')
    again = run('run', '--policy', repeat[1], CORPUS, name, 'wrong',
                CARDLESS_DEADLOCK='abort', CARDLESS_DEADLOCK_MS='300')
    expect(again.returncode != 0, f'{name} passes under {repeat[1]}')
    return int(found[1]), repeat[1].count('=')


def check_right(name):
    r = explore(name, 'right', TWINS)
    expect(r.returncode == 0, f'the twin of {name} fails: {r.stdout}{r.stderr}')
    return r.stdout.strip()


def check_arguments():
    for wrong, says in ((['--schedules', '0', 'x'], 'a number from 1'),
                        (['--jobs', 'x', 'x'], 'a number from 1'),
                        (['--timeout', '-1', 'x'], 'a number of seconds'),
                        (['--check', 'x', 'x'], 'order or off'),
                        ([], 'usage:')):
        r = run('explore', *wrong)
        expect(r.returncode == 2 and says in r.stderr, wrong, r)
    r = run('explore', '--', '/no/such/program')
    expect(r.returncode == 127 and 'No such file' in r.stderr, r)
    r = run('explore', '--help')
    expect(r.returncode == 0 and r.stdout.startswith('usage: cardless explore'), r)
    r = run('explore', '--', 'sh', '-c', 'kill -SEGV $$')
    expect(r.returncode == 1 and 'order 1: signal 11' in r.stdout, r)
    expect('order of eager' in r.stdout, r)
    r = run('explore', '--timeout', '0.2', '--', 'sleep', '5')
    expect(r.returncode == 1 and 'longer than 0.2 seconds' in r.stdout, r)
    r = run('explore', '--', 'sh', '-c', 'echo to stdout; echo to stderr >&2; exit 3')
    expect(r.returncode == 1 and 'exit status 3' in r.stdout, r)
    expect('  | to stdout\n  | to stderr\n' in r.stdout, r)
    r = run('explore', '--', 'true')
    expect(r.returncode == 0 and 'passed under all' in r.stdout, r)


names = subprocess.run([TOOL, 'run', CORPUS], capture_output=True, text=True,
                       check=True).stdout.split()
expect(len(names) >= 25, f'only {len(names)} programs')
check_arguments()
begin = time.monotonic()
for each in names:
    order, departures = check_wrong(each)
    passed = check_right(each)
    print(f'{each:42} found by order {order:4}, {departures} departures; the twin {passed}')
print(f'{len(names)} programs, {time.monotonic() - begin:.1f} s')
print('\n'.join(failures))
sys.exit(bool(failures))
