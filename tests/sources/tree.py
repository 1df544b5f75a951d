# SPDX-License-Identifier: MIT
"""The files of the project, for tests that read all of them."""
import os
import subprocess


def files(root):
    """The paths of the project's files, relative to `root`: those that git tracks, or all files of
    an unpacked archive, which has no .git folder."""
    try:
        listed = subprocess.run(['git', '-C', root, '-c', 'safe.directory=*', 'ls-files', '-z'],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        names = listed.stdout.decode().split('\0')
    except (OSError, subprocess.CalledProcessError):
        names = []
    return sorted(n for n in names or walk(root) if os.path.isfile(os.path.join(root, n)))


def walk(root):
    for folder, folders, names in os.walk(root):
        # Build folders, and the pages that tools/docs makes.
        folders[:] = [f for f in folders if f not in ('.git', '__pycache__', 'generated')
                      and not (folder == root and f.startswith('build'))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)
