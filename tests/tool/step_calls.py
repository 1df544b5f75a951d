#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `cardless step` for calls and commands: stops, commands, the state that it shows.

  step_calls.py CARDLESS SHARE_PROGRAM TRACED_PROGRAM RUNTIME_PROGRAM ROOT"""
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
TOOL, SHARE, TRACED, RUNTIME, ROOT = sys.argv[1:6]
OUT = "share: mapped 4128768 bytes, the last one is 7\n"


def step(*arguments, commands="", **environment):
    r = subprocess.run([*WRAPPER, TOOL, "step", *arguments], capture_output=True, text=True,
                       timeout=60, input=commands, env={**os.environ, **environment})
    # Sanitizers have device memory at other addresses, and other debug information.
    r.stdout = re.sub(r" at 0x[0-9a-f]+", " at ADDRESS", r.stdout)
    r.stdout = re.sub(r"\) at share\S*( \(main\))?$", ")", r.stdout, flags=re.M)
    return r


def expect(r, out, status=0):
    assert r.returncode == status, r
    assert r.stdout == out, f"got:\n{r.stdout}\nexpected:\n{out}"


# Stops at calls, at commands, and at a name; results, and the difference that each call makes.
FIRST = "#1 cuInit(Flags=0x0)\n  next: starts the driver.\n(step) "
BUFFER = ("memory 3, a mapped external buffer: 4128768 bytes at ADDRESS; the bytes of memory 2 "
          "from 65536 on\n")
COMMAND = ("legacy stream: memcpy: reads 1 bytes at memory 3 + 4128767, "
           "writes 1 bytes at address")
expect(step("--do", "n 8; n; s; k; s; map; objects; print queues; c", "--", SHARE),
       FIRST + f"""n 8
  #1 cuInit = CUDA_SUCCESS
  #7 cuExternalMemoryGetMappedBuffer = CUDA_ERROR_INVALID_VALUE
  ! [B01] offset (65536) + size (4194304) exceeds the imported size (4194304 bytes) of \
CUexternalMemory #1
  + memory 1, CUmemGenericAllocationHandle #1: 4 MiB without an address
  + memory 2, CUexternalMemory #1: 4 MiB without an address; the bytes of memory 1
  + {BUFFER}  + CUcontext #1
#9 cuMemsetD8_v2(dstDevice=memory 3, uc=7, N=4128768)
  next: writes 7 to 4128768 bytes at memory 3.
(step) n
  #9 cuMemsetD8_v2 = CUDA_SUCCESS
#10 cuMemcpyDtoH_v2(dstHost=address, srcDevice=memory 3 + 4128767, ByteCount=1)
  next: copies 1 bytes from memory 3 + 4128767 to the host, and waits.
(step) s
  + command 2, {COMMAND}
command 2, {COMMAND}
(step) k
  queued:
    command 2, {COMMAND}, runs next
(step) s
  #10 cuMemcpyDtoH_v2 = CUDA_SUCCESS
  - command 2, {COMMAND}
#11 cuMemFree_v2(dptr=memory 3)
  next: ends memory 3; other mappings of the same bytes stay.
(step) map
  memory:
    memory 1, CUmemGenericAllocationHandle #1: 4 MiB without an address
    memory 2, CUexternalMemory #1: 4 MiB without an address; the bytes of memory 1
    {BUFFER}(step) objects
  objects:
    CUcontext #1
(step) print queues
  queued:
    nothing
(step) c
""" + OUT)

# The same commands from the standard input and from a file; empty lines; the end of the input.
r = step(SHARE, commands="until cuMemset*\n\nbogus\nnext 0\nnext x\n")
assert r.returncode == 3 and "#9 cuMemsetD8_v2(" in r.stdout, r
assert r.stdout.endswith("the program has ended before cuMemset*\n"), r
r = step(SHARE, commands="until cuMemset*\nnext 9\n")
assert r.returncode == 0 and r.stdout.endswith("the program has ended\n"), r
r = step(SHARE, commands="until cuMemset*\nbogus\nnext 0\nnext x\nnext\n\n")
assert r.returncode == 0 and "until NAME, u" in r.stdout, r
assert "0 is not a number from 1" in r.stdout and "x is not a number from 1" in r.stdout, r
assert "#11 cuMemFree_v2" in r.stdout and "the program has ended" not in r.stdout, r
with tempfile.TemporaryDirectory() as folder:
    script, output = os.path.join(folder, "script"), os.path.join(folder, "output")
    with open(script, "w", encoding="utf-8") as f:
        f.write("until memset\nmap\nquit\n")
    r = step("--commands", script, "--output", output, SHARE)
    assert r.returncode == 130 and r.stdout == "", r
    with open(output, encoding="utf-8") as f:
        text = f.read()
    assert "command 1, legacy stream: memset: writes 4128768 bytes at memory 3\n" in text, text

# A name that does not come, in a program that is stepped and in one that makes no call.
r = step("--do", "until cuMemset*; until cuNothing", SHARE)
assert r.returncode == 3 and r.stdout.endswith("\nthe program has ended before cuNothing\n"), r
assert "made no call" not in r.stderr, r
r = step("--do", "until cuInit", "false")
assert r.returncode == 1, r

# Diagnostics: one by its id, and any.
for name in ("B01", "diagnostic"):
    r = step("--do", f"until {name}; n; c", SHARE)
    assert r.returncode == 0, r
    assert "\ndiagnostic [B01] offset (65536) + size (4194304) exceeds" in r.stdout, r
    assert "#8 cuExternalMemoryGetMappedBuffer(devPtr=address, extMem=CUexternalMemory #1, " \
           "bufferDesc={offset=65536, size=4128768, flags=0x0})" in r.stdout, r
    assert "shows 4128768 bytes of CUexternalMemory #1, from byte 65536 on" in r.stdout, r

# A function of the runtime.
r = step("--do", "until cudaFree; c", RUNTIME, "runtime")
assert re.search(r"\(step\) until cudaFree\n(  .*\n)*cudaFree\(devPtr=", r.stdout), r

# Independent memory of one kind is not the same memory.
r = step("--do", "until cuMemFree*; map; c", TRACED, "threads")
assert " at ADDRESS" in r.stdout and "the bytes of" not in r.stdout, r

# Threads, waits between streams, and more stops than a person would make.
r = step("--do", "; ".join(["s"] * 500), TRACED, "threads")
assert r.returncode == 0 and len(set(re.findall(r"^thread (\d+) #", r.stdout, re.M))) > 1, r
assert re.search(r"^  thread [2-9] #\d+ \w+ = CUDA_SUCCESS$", r.stdout, re.M), r
r = step("--do", "until cuMemcpyDtoHAsync; queues; until cuArrayDestroy; objects; c", TRACED,
         CARDLESS_POLICY="lazy")
assert "CUarray #1: 64 x 32 texels, in memory 2" in r.stdout, r
assert """  queued:
    command 1, CUstream #1: memset: writes 4096 bytes at memory 1, waits
    command 2, CUstream #1: event record, waits
    command 3, CUstream #2: event wait, waits
""" in r.stdout, r.stdout

# Only the first process stops; a program without calls; one that a signal ends.
r = step("--do", "n; n; c", "sh", "-c", f"{shlex.quote(SHARE)} && {shlex.quote(SHARE)}")
assert r.returncode == 0 and r.stdout.count(OUT) == 2 and r.stdout.count("cuInit(") == 1, r
r = step("--do", "c", "true")
assert r.returncode == 3 and "has made no call of the driver" in r.stderr, r
r = step("--do", "c", "sh", "-c", "kill -9 $$")
assert r.returncode == -9, r
for wrong in (["--do", "n", "--warp", "1"], ["--interactive", "--commands", "x"]):
    r = step(*wrong, SHARE)
    assert r.returncode == 2 and "for calls" in r.stderr, r
assert step("--commands", "/nonexistent", SHARE).returncode == 126
assert step("--do", "c", "/nonexistent").returncode == 127

# If the tool is killed, the program runs on.
if not WRAPPER:
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([TOOL, "step", SHARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": folder})
        line = p.stdout.readline()
        assert b"cuInit" in line, line
        p.send_signal(signal.SIGKILL)
        p.wait()
        assert p.stdout.read().endswith(OUT.encode())  # the program has the pipe, too
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([TOOL, "step", "--do", "c", SHARE], capture_output=True, check=True,
                           env={**os.environ, "TMPDIR": folder})
        assert not os.listdir(folder), os.listdir(folder)

# Every argument of a sentence is an argument of the calls that it is for.
with open(os.path.join(ROOT, "tools/cardless/step_effects.def"), encoding="utf-8") as f:
    rows = re.findall(r'^X\("(.*?)", "(.*?)"\)$', re.sub(r'"\n +"|(?<=,)\n +', " ", f.read())
                      .replace('",  "', '", "'), re.M)
calls = {}
for name, prefix in (("driver", "cu"), ("cardless", "cardless")):
    with open(os.path.join(ROOT, f"api/table/{name}.def"), encoding="utf-8") as f:
        table = re.sub(r"\n {4,}", " ", f.read())
    for line in table.split("\n"):
        cells = [c.strip() for c in line.split("|")]
        if len(cells) > 4 and cells[1].startswith(prefix):
            calls[cells[1]] = set(re.findall(r"\w+", cells[-1]))
assert len(rows) > 60 and len(calls) > 400, (len(rows), len(calls))
seen = set()
for pattern, sentence in rows:
    names = {n for n in calls if re.fullmatch(pattern.replace("*", ".*"), n)} - seen
    seen |= names
    newest = sorted(names)[-1:]
    assert newest, f"{pattern}: no such call"
    for argument in re.findall(r"{(\w+)", sentence) + re.findall(r"\*(\w+)", sentence):
        assert any(argument in calls[n] for n in names), (pattern, argument, newest)
print("cardless step answers for calls")
