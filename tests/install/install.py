#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs into a folder and uses what is there: the tool finds its library, nothing lies where it would shadow a driver or a toolkit, and a program
compiles against the installed headers.    install.py BUILD_FOLDER COMPILER…"""
import glob
import os
import subprocess
import sys
import tempfile

build, compiler = sys.argv[1], sys.argv[2:]
PROGRAM = """
#include <cuda.h>
#include <cudaGL.h>
#include <cardless.h>
#include <stdio.h>
int main(void) { int version; printf("%d %d\\n", cuInit(0), cuDriverGetVersion(&version)); return version != 13000; }
"""


def one(pattern):
    found = glob.glob(pattern, recursive=True)
    assert len(found) == 1, (pattern, found)
    return found[0]


def run(*command, **environment):
    r = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert r.returncode == 0, (command, r)
    return r.stdout


with tempfile.TemporaryDirectory() as folder:
    run("meson", "install", "--no-rebuild", "-C", build, DESTDIR=folder)
    tool = one(f"{folder}/**/bin/cardless")
    library = one(f"{folder}/**/libcuda.so.1")
    header = one(f"{folder}/**/cuda.h")
    assert os.path.basename(os.path.dirname(library)) == "cardless", library
    assert os.path.basename(os.path.dirname(header)) == "cardless", header
    environment = {k: "" for k in ("LD_LIBRARY_PATH", "CARDLESS_LIBDIR")}
    assert "Cardless" in run(tool, "info", **environment)
    source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
    with open(source, "w") as f:
        f.write(PROGRAM)
    run(*compiler, "-Wall", "-Werror", "-I" + os.path.dirname(header), source, "-o", program, "-L" + os.path.dirname(library), "-lcuda")
    assert run(tool, "run", "--", program, **environment) == "0 0\n"
    pc = one(f"{folder}/**/cardless.pc")
    assert "-lcuda" in open(pc).read()
print("what is installed works")
