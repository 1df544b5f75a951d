#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Corpora of the fuzz targets: corpus/TARGET.tar.gz holds inputs, one file each.

    corpus.py replay PROGRAM CORPUS         runs all inputs in one process
    corpus.py to_c FUZZ_TO_C PROGRAM CORPUS COUNT INCLUDE LIBRARIES OPTION...
                                            prints COUNT inputs as C, compiles (with the options of
                                            the compiler) and runs them
    corpus.py not_as_c FUZZ_TO_C PROGRAM CORPUS
                                            expects that an input of this target is refused
    corpus.py unpack CORPUS FOLDER          writes the inputs into a folder
    corpus.py pack FOLDER CORPUS MOST_KIB   packs a folder's inputs, the smallest first
"""
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77  # the exit code that meson knows


def inputs(corpus):
    with tarfile.open(corpus) as archive:
        return [(m.name, archive.extractfile(m).read()) for m in archive.getmembers()]


def unpack(corpus, folder):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, data in inputs(corpus):
        paths.append(os.path.join(folder, os.path.basename(name)))
        with open(paths[-1], 'wb') as f:
            f.write(data)
    return paths


def pack(folder, corpus, most_kib):
    """The same inputs give the same bytes. Inputs whose names begin with `found-` always stay."""
    found = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), 'rb') as f:
            data = f.read()
        keep = name.startswith('found-')
        found.append((not keep, len(data), name if keep else hashlib.sha1(data).hexdigest()[:12],
                      data))
    found.sort()
    raw, left = io.BytesIO(), int(most_kib) << 10
    with tarfile.open(fileobj=raw, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for _, size, name, data in found:
            if name.startswith('found-') or size <= left:
                left -= size
                member = tarfile.TarInfo(name)
                member.size = size
                archive.addfile(member, io.BytesIO(data))
    with open(corpus, 'wb') as f, gzip.GzipFile('', 'wb', 9, f, mtime=0) as packed:
        packed.write(raw.getvalue())


def replay(program, corpus, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        paths = unpack(corpus, folder)
        print(f'{len(paths)} inputs', flush=True)
        return subprocess.run([program, *arguments, *paths]).returncode


def to_c(tool, program, corpus, count, include, libraries, *options):
    """The printed programs compile without warnings and find no difference."""
    compiler, failed = shutil.which('cc') or shutil.which('gcc'), 0
    there = {**os.environ, 'LD_LIBRARY_PATH': libraries, 'CARDLESS_DIAGNOSTICS': 'off'}
    if not compiler:
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        paths = unpack(corpus, folder)
        step = max(1, len(paths) // int(count))
        for path in paths[step - 1::step][:int(count)]:
            source, binary = path + '.c', path + '.out'
            with open(source, 'w') as f:
                made = subprocess.run([sys.executable, tool, program, path], stdout=f, env=there)
            if made.returncode == SKIPPED:
                return SKIPPED
            made.check_returncode()
            built = subprocess.run(
                [compiler, '-Wall', '-Werror', '-Wno-missing-braces', source, '-o', binary] +
                [f'-I{i}' for i in include.split(':')] + [f'-L{libraries}', *options])
            run = built.returncode or subprocess.run([binary], timeout=120, env=there).returncode
            print(f'{os.path.basename(path)}: {"differs" if run else "the same"}', flush=True)
            failed += run != 0
    return int(failed != 0)


def not_as_c(tool, program, corpus):
    """The tool refuses the target by its name, and prints no program."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpack(corpus, folder)[0]
        made = subprocess.run([sys.executable, tool, program, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    print(f'exit status {made.returncode}, {len(made.stdout)} bytes, {made.stderr}', flush=True)
    refused = made.returncode == 2 and not made.stdout and os.path.basename(program) in made.stderr
    return int(not refused or made.stderr.count('\n') != 1)


def main():
    commands = {'replay': replay, 'to_c': to_c, 'not_as_c': not_as_c, 'unpack': unpack,
                'pack': pack}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__.strip())
    result = commands[sys.argv[1]](*sys.argv[2:])
    return result if isinstance(result, int) else 0


if __name__ == '__main__':
    sys.exit(main())
