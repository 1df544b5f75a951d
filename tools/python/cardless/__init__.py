# SPDX-License-Identifier: MIT
"""Cardless, a software NVIDIA card: the libraries, and the program that runs others with them."""
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'native')
LIBRARIES = os.path.join(FOLDER, 'lib')  # for LD_LIBRARY_PATH: libcuda.so.1, libcudart.so.13, …


def main():
    """The command `cardless`: becomes the program."""
    program = os.path.join(FOLDER, 'bin', 'cardless')
    try:
        os.execv(program, ['cardless', *sys.argv[1:]])
    except OSError as error:
        sys.exit(f'cardless: cannot run {program}: {error.strerror}')
