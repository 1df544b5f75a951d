#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `cardless explore` on the corpus, and checks its report, its options and exit statuses.

  explore.py CARDLESS CORPUS CASES [SCHEDULES]   (0: only a schedule that is very long)

Each wrong program passes in the order of eager, fails under one of 1,000 orders, and fails again
under the schedule that is printed. The same schedule does no harm to its corrected twin, which is
run under SCHEDULES orders (40)."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TOOL, CORPUS, CASES = sys.argv[1:4]
TWINS = int(sys.argv[4]) if len(sys.argv) > 4 else 40
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
    expect(r.returncode == 1 and 'longer than 0.2 s' in r.stdout, r)
    r = run('explore', '--', 'sh', '-c', 'echo to stdout; echo to stderr >&2; exit 3')
    expect(r.returncode == 1 and 'exit status 3' in r.stdout, r)
    expect('  | to stdout\n  | to stderr\n' in r.stdout, r)
    r = run('explore', '--', 'sh', '-c', r"printf '\033[2J\a\tA\177\n'; exit 3")
    expect('  | ?[2J?\tA?\n' in r.stdout, r)
    r = run('explore', '--', 'true')
    expect(r.returncode == 3 and "never called Cardless's cuInit" in r.stderr, r)
    expect('passed' not in r.stdout, r)


def check_flaky():
    """A failure that does not repeat is not blamed on the order of eager."""
    with tempfile.TemporaryDirectory() as folder:
        r = run('explore', '--jobs', '1', '--', 'sh', '-c', f'! mkdir {folder}/first')
    expect(r.returncode == 1 and 'passed when it was repeated' in r.stdout, r)
    expect('This is the order of eager' not in r.stdout, r)


def case(name, *options):
    """Explores a program of cases.c without the ordering checker."""
    return run('explore', '--check', 'off', *options, '--', CASES, name)


def check_one_order():
    """A program that calls cuInit, and submits nothing that could be postponed."""
    r = case('idle')
    expect(r.returncode == 0 and r.stdout == 'passed under its only order\n', r)


def check_deadlocks():
    """A wait that another thread ends late is no deadlock; one that nobody ends is."""
    r = case('slow_helper', '--timeout', '60')
    expect(r.returncode == 0, 'slow_helper', r)
    for name, limit in (('no_helper', '60'), ('two_wait', '60'), ('idle_helper', '3')):
        r = case(name, '--timeout', limit)
        expect(r.returncode == 1 and 'order 1: S05: cuStreamSynchronize' in r.stdout, name, r)
        expect('cuStreamSynchronize (does not return)' in r.stdout, name, r)
        expect('CARDLESS_DEADLOCK=abort CARDLESS_DEADLOCK_MS=' in r.stdout, name, r)
        expect('--check off' not in r.stdout, name, r)


def check_schedules():
    """One mistake is not taken for another, and schedules in files."""
    r = case('two_mistakes')
    repeat = re.search(r'cardless run --policy (\S+) -- ', r.stdout)
    expect(r.returncode == 1 and 'exit status 3' in r.stdout and repeat, r)
    again = run('run', '--policy', repeat[1], CASES, 'two_mistakes')
    expect(again.returncode == 3, again)
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as f:
        f.write(repeat[1].removeprefix('schedule:').replace(',', ',\n') + '\n')
        f.flush()
        again = run('run', '--policy', 'schedule:@' + f.name, CASES, 'two_mistakes')
        expect(again.returncode == 3, again)
    again = run('run', '--policy', 'schedule:@/no/such/file', CASES, 'two_mistakes')
    expect(again.returncode == 0 and 'schedule:@/no/such/file is ignored' in again.stderr, again)


def check_long_schedule():
    """A schedule that is too long for a variable of the environment."""
    r = case('many_decisions', '--timeout', '60')
    repeat = re.search(r'cardless run --policy (\S+) -- ', r.stdout)
    expect(r.returncode == 1 and repeat and repeat[1].count('=') <= 5, r.stdout[-500:])


def check_processes():
    """Each process has a picture of its own, and both follow the schedule."""
    both = f'{CORPUS} missing_wait right; {CORPUS} missing_wait wrong'
    r = run('explore', '--check', 'off', '--', 'sh', '-c', both)
    expect(r.returncode == 1, r)
    first, *rest = r.stdout.split('  process ')[1:]
    expect(len(rest) == 1 and first.startswith('1 of 2, explore_corpus:'), r.stdout)
    for picture in first, *rest:
        expect(picture.count('  host ') == 1 and picture.count('memset 1 runs') == 1, picture)
        expect(' *' in picture, picture)
    # A process without CUDA is no process of the picture.
    r = run('explore', '--check', 'off', '--', 'sh', '-c', f'{CORPUS} missing_wait wrong')
    expect(r.returncode == 1 and '  process ' not in r.stdout and '  host ' in r.stdout, r)


def check_environment():
    """What explore inherits does not change it."""
    r = run('explore', '--check', 'off', '--schedules', '1', '--', 'sh', '-c',
            'test -z "$CARDLESS_CHECK" || exit 1', CARDLESS_CHECK='order')
    expect(r.returncode == 3, r)
    r = subprocess.run([TOOL, 'explore', '--', 'true'], capture_output=True, text=True, timeout=60,
                       preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect(r.returncode == 3, r)


def is_alive(pid):
    """Whether a process runs; one that nobody has awaited does not."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
            return f.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def check_end(number, survivors):
    """A signal ends explore and its runs. SIGKILL gives it no chance to end their children."""
    with tempfile.TemporaryDirectory() as folder:
        pids = os.path.join(folder, 'pids')
        script = f'sleep 100 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait'
        explore_process = subprocess.Popen(
            [TOOL, 'explore', '--timeout', '100', '--', 'sh', '-c', script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, 'TMPDIR': folder})
        while not os.path.exists(pids) and explore_process.poll() is None:
            time.sleep(0.01)
        with open(pids, encoding='ascii') as f:
            started = [int(pid) for pid in f.read().split()]
        explore_process.send_signal(number)
        output = explore_process.communicate(timeout=60)
        status = -number if number == signal.SIGKILL else 128 + number
        expect(explore_process.returncode == status, number, explore_process.returncode, output)
        for _ in range(1000):
            if sum(map(is_alive, started)) <= survivors:
                break
            time.sleep(0.01)
        expect(not is_alive(started[0]), number, 'the run is alive')
        expect(survivors or not is_alive(started[1]), number, 'a child of the run is alive')
        expect(survivors or os.listdir(folder) == ['pids'], os.listdir(folder))
        if is_alive(started[1]):
            os.kill(started[1], signal.SIGKILL)


if TWINS == 0:
    check_long_schedule()
    print('\n'.join(failures))
    sys.exit(bool(failures))
def check_late_look():
    """A run that has ended in time passes, even if explore looks at it after the time limit."""
    with tempfile.TemporaryDirectory() as folder:
        pid, go_on = os.path.join(folder, 'pid'), os.path.join(folder, 'go_on')
        os.mkfifo(go_on)
        end = time.monotonic() + 4.5
        script = f'echo $$ > {pid}.new; mv {pid}.new {pid}; read line < {go_on}'
        explore_process = subprocess.Popen(
            [TOOL, 'explore', '--timeout', '4', '--schedules', '1', '--', 'sh', '-c', script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.path.exists(pid) and explore_process.poll() is None:
            time.sleep(0.01)
        explore_process.send_signal(signal.SIGSTOP)
        with open(go_on, 'w', encoding='ascii') as f:
            f.write('\n')
        with open(pid, encoding='ascii') as f:
            started = int(f.read())
        while is_alive(started):
            time.sleep(0.01)
        time.sleep(max(0, end - time.monotonic()))
        explore_process.send_signal(signal.SIGCONT)
        output = explore_process.communicate(timeout=60)
        expect(explore_process.returncode == 3, output)


names = subprocess.run([TOOL, 'run', CORPUS], capture_output=True, text=True,
                       check=True).stdout.split()
expect(len(names) >= 25, f'only {len(names)} programs')
check_arguments()
check_flaky()
check_one_order()
check_deadlocks()
check_schedules()
check_processes()
check_environment()
for each in signal.SIGINT, signal.SIGTERM:
    check_end(each, 0)
check_end(signal.SIGKILL, 1)
check_late_look()
begin = time.monotonic()
for each in names:
    order, departures = check_wrong(each)
    passed = check_right(each)
    print(f'{each:42} found by order {order:4}, {departures} departures; the twin {passed}')
print(f'{len(names)} programs, {time.monotonic() - begin:.1f} s')
print('\n'.join(failures))
sys.exit(bool(failures))
