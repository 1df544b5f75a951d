#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that has more rights than its user ignores the user's settings, and files that the
driver writes are the user's own.

usage: secure.py PROGRAM

The program is made set-user-id or set-group-id, which needs root or a second group. Skipped, in so
many words, if the system does not raise rights."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

NOBODY = 65534
# Each has an effect that the program prints, or writes a file.
SETTINGS = {
    'CARDLESS_PERSONALITY': 'driver-580',
    'CARDLESS_QUIRKS': 'IMPORT_BAD_FD',
    'CARDLESS_OVERLAP': 'same',
    'CARDLESS_SEED': '77',
    'CARDLESS_FAIL_ALLOC': '1000000',
    'CARDLESS_UUID': 'ab' * 16,
    'CARDLESS_POLICY': 'parallel',
    'CARDLESS_DEVICES': 't4,t4',
    'CARDLESS_REPORT': '1',
    'CARDLESS_PKEYS': '0',
    'CARDLESS_CPU_MASK': '0',
    'CARDLESS_VULKAN_MEMORY': 'noncoherent',
}
# Variables that lead to drivers of Vulkan, and the folder with the manifest below the test's own.
DRIVERS = {
    'VK_DRIVER_FILES': 'vulkan/icd.d',
    'VK_ICD_FILENAMES': 'vulkan/icd.d/planted.json',
    'VK_ADD_DRIVER_FILES': 'vulkan/icd.d',
    'XDG_CONFIG_HOME': '',
    'XDG_CONFIG_DIRS': '',
    'XDG_DATA_HOME': '',
    'XDG_DATA_DIRS': '',
}
MANIFEST = ('{"file_format_version": "1.0.0", '
            '"ICD": {"library_path": "planted.so", "api_version": "1.1.0"}}')
failures = []


def expect(condition, *what):
    if not condition:
        failures.append(what)
        print('FAILED:', *what)


def run(program, settings, **how):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(('CARDLESS', 'VK_', 'XDG_'))}
    r = subprocess.run([program], env={**plain, **settings}, capture_output=True, text=True,
                       timeout=60, **how)
    expect(r.returncode == 0, program, settings, r)
    return r


def test_files(program, folder):
    """Files that the driver writes for an ordinary program."""
    trace = folder / 'trace'
    run(program, {'CARDLESS_TRACE': str(trace), 'CARDLESS_DIAGNOSTICS': f'json:{folder}/json'})
    for file in (trace, folder / 'json'):
        expect(file.stat().st_size > 0, file, 'is empty')
        expect(stat.S_IMODE(file.stat().st_mode) == 0o600, file, oct(file.stat().st_mode))
    size = trace.stat().st_size
    trace.chmod(0o644)
    run(program, {'CARDLESS_TRACE': str(trace)})
    expect(trace.stat().st_size > size, 'a file that exists is not appended to')
    expect(stat.S_IMODE(trace.stat().st_mode) == 0o644, 'the mode of an existing file changed')

    target, link, dangling = folder / 'target', folder / 'link', folder / 'dangling'
    target.write_text('')
    link.symlink_to(target)
    dangling.symlink_to(folder / 'made')
    os.mkfifo(folder / 'pipe')
    for path, says in ((link, 'symbolic link'), (dangling, 'symbolic link'),
                       (folder / 'pipe', 'not a regular file')):
        for name, value in (('CARDLESS_TRACE', ''), ('CARDLESS_DIAGNOSTICS', 'json:')):
            r = run(program, {name: f'{value}{path}'})
            expect(f'cardless: {name}: cannot open {path}: ' in r.stderr and says in r.stderr,
                   path, r.stderr)
            expect(r.stdout.startswith('secure 0\n'), r.stdout)
    reader = os.open(folder / 'pipe', os.O_RDONLY | os.O_NONBLOCK)
    r = run(program, {'CARDLESS_TRACE': str(folder / 'pipe')})
    expect('not a regular file' in r.stderr, 'somebody reads the pipe', r.stderr)
    os.close(reader)
    expect(target.read_text() == '' and not (folder / 'made').exists(), 'a link was followed')

    r = run(program, {'CARDLESS_TRACE': '/dev/stderr'})
    expect('cuDeviceGetCount' in r.stderr, '/dev/stderr', r.stderr)
    run(program, {'CARDLESS_TRACE': '/dev/null'})
    ends = os.pipe()
    run(program, {'CARDLESS_TRACE': f'/dev/fd/{ends[1]}'}, pass_fds=[ends[1]])
    os.close(ends[1])
    with os.fdopen(ends[0]) as pipe:
        expect('cuDeviceGetCount' in pipe.read(), '/dev/fd of a pipe')
    with open(folder / 'given', 'w', encoding='utf-8') as given:
        run(program, {'CARDLESS_TRACE': f'/proc/self/fd/{given.fileno()}'},
            pass_fds=[given.fileno()])
    expect('cuDeviceGetCount' in (folder / 'given').read_text(), '/proc/self/fd')


def test_secure(how, program, folder, start):
    """False: the system did not raise rights. `start`: arguments of subprocess.run."""
    without = run(program, {}, **start)
    if not without.stdout.startswith('secure 1\n'):
        print(f'{how}: the system raised no rights:', without.stdout, without.stderr)
        return False
    files = {'CARDLESS_TRACE': f'{folder}/trace', 'CARDLESS_DIAGNOSTICS': f'json:{folder}/json'}
    before = sorted(os.listdir(folder))
    for settings in ({**SETTINGS, **files}, *({k: v} for k, v in {**SETTINGS, **files}.items())):
        r = run(program, settings, **start)
        expect(r.stdout == without.stdout, how, settings, r.stdout, without.stdout)
        expect(' is ignored' in r.stderr and r.stderr.count('ignored') == 1, how, r.stderr)
        expect(sorted(os.listdir(folder)) == before, how, 'wrote', os.listdir(folder))
    for name, below in DRIVERS.items():
        r = run(program, {name: str(program.parent / below)}, **start)
        expect(r.stdout == without.stdout, how, name, r.stdout, without.stdout)
    expect('ignored' not in without.stderr, how, without.stderr)
    print(f'{how}: tested')
    return True


def raised(program, folder):
    """Yields (name, set-user-id or set-group-id copy, folder that it may write to, arguments)."""
    def copy(name, uid, gid, mode):
        path = folder / name
        shutil.copy(program, path)
        os.chown(path, uid, gid)  # clears the bits
        path.chmod(mode)
        return path

    def target(name, mode):
        path = folder / f'{name}.files'
        path.mkdir()
        path.chmod(mode)
        return path

    if os.geteuid() == 0:
        yield ("root's program, started by nobody", copy('root', 0, 0, 0o4755),
               target('root', 0o700), {'user': NOBODY, 'group': NOBODY, 'extra_groups': []})
        yield ("nobody's program, started by root", copy('nobody', NOBODY, 0, 0o4755),
               target('nobody', 0o777), {})
        yield ("nobody's group", copy('group', 0, NOBODY, 0o2755), target('group', 0o777), {})
    for gid in os.getgroups():
        if gid != os.getgid():
            yield (f'group {gid}', copy('second', -1, gid, 0o2755), target('second', 0o777), {})
            break


with tempfile.TemporaryDirectory() as name:
    top = Path(name)
    top.chmod(0o755)
    (top / 'plain').mkdir()
    (top / 'vulkan/icd.d').mkdir(parents=True)
    (top / 'vulkan/icd.d/planted.json').write_text(MANIFEST)
    # A twin without raised rights: every setting has an effect.
    plain = run(sys.argv[1], {}).stdout
    for key, setting in SETTINGS.items():
        r = run(sys.argv[1], {key: setting})
        if key not in ('CARDLESS_PKEYS',):  # not every processor has keys
            expect(r.stdout != plain or 'report' in r.stderr, key, 'has no effect', r.stdout)
    for key, folder in DRIVERS.items():
        r = run(sys.argv[1], {key: str(top / folder)})
        expect('Vulkan drivers 1\n' in r.stdout, key, 'has no effect', r.stdout)
    expect('Vulkan drivers 0\n' in plain, plain)
    test_files(sys.argv[1], top / 'plain')
    tested = [test_secure(*case) for case in raised(sys.argv[1], top)]
if failures:
    sys.exit(1)
if not any(tested):
    print('SKIPPED: no program can be given more rights here: it takes root or a second group, '
          'and a file system without nosuid')
    sys.exit(77)
