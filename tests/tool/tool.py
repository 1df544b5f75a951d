#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of `cardless`: the report of a program, the table of cards, the check of the
machine, and refusals."""
import os
import shlex
import subprocess
import sys

WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
TOOL, PROGRAM = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([*WRAPPER, TOOL, *arguments], capture_output=True, text=True, timeout=30)


# The report of a program that imports nothing is one sentence, and no failure.
r = run("run", "--report", PROGRAM)
assert r.returncode == 0, r
assert r.stderr == ("cardless: report: this program imported no external memory and registered no "
                    "graphics resource\n"), r
r = run("run", "--report", PROGRAM, "import")
assert r.returncode == 0, r
assert "cardless: report: imports, mappings and graphics resources\n" in r.stderr, r
assert "never freed" in r.stderr, r
assert "imported no" not in r.stderr, r
r = run("run", PROGRAM)
assert r.returncode == 0 and not r.stderr, r

r = run("info", "--devices", "h100,t4")
assert r.returncode == 0 and "2 devices" in r.stdout and "NVIDIA H100" in r.stdout, r
r = run("doctor")
assert r.returncode == 0 and "break cuMemFree_v2" in r.stdout, r
layer = "ok   Vulkan layer" in r.stdout
for line in r.stdout.splitlines():
    if "exports memory by file descriptor" in line:  # and no semaphores, as lavapipe
        assert ("come from Cardless's Vulkan layer" in line) == layer, r
        assert ("install Cardless's Vulkan layer" in line) != layer, r

for wrong, says in ((["bogus"], "unknown command 'bogus'"),
                    (["info", "bogus"], "unexpected argument 'bogus'"),
                    (["run", "--vulkan-layer", "bogus", PROGRAM], "on, off or noncoherent"),
                    (["run", "--vulkan-as", "bogus", PROGRAM], "takes nvidia, not bogus"),
                    (["run", "--personality", "bogus", PROGRAM], "manual or driver-580")):
    r = run(*wrong)
    assert r.returncode == 2 and says in r.stderr, (wrong, r)
for wrong, says in ((["0x5"], "the width is 0"),
                    (["5x0x5"], "the height is 0"),
                    (["8x8x8", "--layers", "2"], "has no depth"),
                    (["8x8", "--levels", "5"], "has at most 4 levels"),
                    (["8x8", "--layout", "pitch", "--pitch", "4"], "a row (32 bytes)"),
                    (["8x8", "--layout", "pitch", "--levels", "2"], "only one level"),
                    (["8x8x4096", "--layout", "pitch", "--pitch", str(2**62)], "too large")):
    r = run("layout", *wrong)
    assert r.returncode == 1 and says in r.stderr and r.stderr.count("\n") == 1, (wrong, r)
for command in ("run", "info", "layout", "doctor"):
    r = run(command, "--help")
    assert r.returncode == 0 and r.stdout.startswith(f"usage: cardless {command}"), (command, r)
# A quirk that does not exist is quoted and ignored, with the nearest name.
for quirks, says in (("array_format_low_byte", "'array_format_low_byte' is ignored, because it is "
                      "not the name of a disagreement; did you mean ARRAY_FORMAT_LOW_BYTE?"),
                     (",", "'' is ignored, because it is not the name of a disagreement; see")):
    r = run("run", "--quirks", quirks, PROGRAM)
    assert r.returncode == 0 and says in r.stderr, r
for option, value in (("--seed", "9" * 23), ("--seed", "x"), ("--policy", "seed:x")):
    r = run("run", option, value, PROGRAM)
    assert r.returncode == 2 and value in r.stderr and r.stderr.count("\n") == 1, (value, r)
print("cardless answers")
