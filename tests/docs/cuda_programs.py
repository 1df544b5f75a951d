#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the CUDA program of the how-to with nvcc, as the page does, and runs it.

  cuda_programs.py PAGE CARDLESS
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = re.compile(
    r'<!-- (\w+\.cu): exits (\d+), prints "([^"]*)" -->\n```cuda\n(.*?)^```', re.M | re.S
)
COMMAND = re.compile(r'^nvcc (.*)$', re.M)


def find_nvcc():
    at = os.path.join(os.environ.get('CUDA_PATH', '/usr/local/cuda'), 'bin')
    return shutil.which('nvcc', path=os.pathsep.join([os.environ.get('PATH', ''), at]))


def main():
    page, cardless = sys.argv[1:]
    nvcc = find_nvcc()
    if not nvcc:
        print('SKIPPED: nvcc is not installed, so no CUDA program was built')
        return 77
    with open(page, encoding='utf-8') as f:
        text = f.read()
    name, status, printed, source = PROGRAM.search(text).groups()
    arguments = COMMAND.search(text)[1].split()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(source)
        subprocess.run([nvcc, *arguments], cwd=folder, check=True)
        ran = subprocess.run(
            [cardless, 'run', '--', os.path.join(folder, name[:-3])],
            capture_output=True,
            text=True,
            check=False,
        )
    if ran.returncode != int(status) or ran.stdout.strip() != printed or ran.stderr:
        print(f'exits {ran.returncode}\n{ran.stdout}{ran.stderr}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
