#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `cardless step`: traces, commands, exit statuses, and refusals.

  step.py CARDLESS STEPPED_PROGRAM"""
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
TOOL, PROGRAM = sys.argv[1:3]
RIGHT = "0 words are wrong\n"


def step(*arguments, commands="", **environment):
    r = subprocess.run([*WRAPPER, TOOL, "step", *arguments], capture_output=True, text=True,
                       timeout=60, input=commands, env={**os.environ, **environment})
    base = re.search(r"%rd1 = (0x[0-9a-f]+)$", r.stdout, re.M)
    if base:  # sanitizers have device memory at other addresses
        moved = 0xa0000000000 - int(base[1], 16)
        r.stdout = re.sub("0x[0-9a-f]{9,}", lambda m: hex(int(m[0], 16) + moved), r.stdout)
    return r


def expect(r, out, status=0, err=""):
    assert r.returncode == status, r
    assert err in r.stderr and bool(err) == bool(r.stderr), r
    assert r.stdout == out, f"got:\n{r.stdout}\nexpected:\n{out}"


# Both sides of a branch, a call, and the place where the sides meet.
HEAD = """kernel odd, launch 1, block (0,0,0), warp 0: lanes 0 to 31 are threads (0,0,0) to (31,0,0)
 line  lanes 0 to 31                     instruction
"""
R2 = """                                         %r2 = 0, 1, 0, 1, 0, 1, 0, 1,
                                               0, 1, 0, 1, 0, 1, 0, 1,
                                               0, 1, 0, 1, 0, 1, 0, 1,
                                               0, 1, 0, 1, 0, 1, 0, 1
"""
RD1 = " " * 41 + "%rd1 = 0xa0000000000, 0xa0000000004, 0xa0000000008 … 0xa000000007c\n"
ODD = HEAD + """       odd.cu:3
   16  ################################  ld.param.u64 %rd1, [data];
                                         %rd1 = 0xa0000000000
   17  ################################  mov.u32 %r1, %tid.x;
                                         %r1 = 0, 1, 2 … 31
   18  ################################  mul.wide.u32 %rd2, %r1, 4;
                                         %rd2 = 0, 4, 8 … 124
   19  ################################  add.s64 %rd1, %rd1, %rd2;
""" + RD1 + """   20  ################################  and.b32 %r2, %r1, 1;
""" + R2 + """   21  ################################  setp.eq.u32 %p, %r2, 0;
       #o#o#o#o#o#o#o#o#o#o#o#o#o#o#o#o  %p is true in #
       odd.cu:4
   23  #o#o#o#o#o#o#o#o#o#o#o#o#o#o#o#o  @%p bra EVEN;
       #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  these are at line 28
   24  .#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#  mul.lo.u32 %r3, %r1, 100;
                                         %r3 = 100, 300, 500 … 3100
   25  .#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#  bra.uni STORE;
       odd.cu:6
       .#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#  these are at line 31
   28  #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  call (%r3), twice, (%r1);
    7  #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  add.s32 out, in, in;
   28  #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  call (%r3), twice, (%r1);
                                         %r3 = 0, 4, 8 … 60
       odd.cu:7
   31  ################################  st.global.u32 [%rd1], %r3;
   32  ################################  ret;
       the warp has ended
"""
expect(step("--kernel", "odd", PROGRAM), ODD + RIGHT)
expect(step("--kernel", "o*d", PROGRAM, CARDLESS_POLICY="parallel"), ODD + RIGHT)
expect(step("--kernel", "odd", "--launch", "2", PROGRAM),
       ODD.replace("launch 1", "launch 2") + RIGHT)

# Another block, a warp that is not full, floats, a guard that is false, an instruction for all
# lanes of a warp.
expect(step("--kernel", "meet", "--block", "1,0,0", "--warp", "1", "--lines", "45-51", PROGRAM),
       "kernel meet, launch 1, block (1,0,0), warp 1: "
       """lanes 0 to 7 are threads (32,0,0) to (39,0,0)
 line  lanes 0 to 31                     instruction
   45  ########                          shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;
                                         %r2 = 33, 32, 35, 34, 37, 36, 39, 38
   46  ########                          bar.sync 0;
   47  ########                          cvt.rn.f32.u32 %f1, %r2;
                                         %f1 = 33, 32, 35, 34, 37, 36, 39, 38
   48  ########                          div.rn.f32 %f2, %f1, 0f40000000;
                                         %f2 = 16.5, 16, 17.5, 17, 18.5, 18, 19.5, 19
   49  ########                          setp.lt.u32 %p, %r1, 4;
       oooooooo                          %p is true in #
   50  oooooooo                          @%p mov.f32 %f2, 0f3e800000;
   51  ########                          mul.f32 %f2, %f2, 0f40800000;
                                         %f2 = 66, 64, 70, 68, 74, 72, 78, 76
""" + RIGHT)
r = step("--kernel", "meet", "--lines", "50", PROGRAM)
assert "   50  ####oooooooooooooooooooooooooooo  @%p mov.f32" in r.stdout, r
assert "%f2 = 0.25 in lanes 0-3\n" in r.stdout, r

# Lanes that wait at the barrier of the cluster, while others have not arrived.
r = step("--kernel", "late", "--lines", "82", PROGRAM, "late")
assert r.returncode == 0, r
assert "       #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  these wait at line 79, barrier of the cluster\n" \
       in r.stdout, r

# The last instruction of a kernel that fails is the one that fails.
r = step("--kernel", "out_of_bounds", PROGRAM, "out_of_bounds")
assert r.returncode == 1 and "K01" in r.stderr and "line 61" in r.stderr, r
assert r.stdout.split("\n")[-3].startswith("   61  ################################  ld.global"), r

# Commands. `next` passes the other side of the branch, and the call.
expect(step("--kernel", "odd", "--interactive", "--lines", "20-23", PROGRAM,
            commands="step 2\nlanes\nprint %r3 %rd2 %x\n\nnext\nstep 0\n c 31\noff\n"),
       HEAD + """       odd.cu:3
   20  ################################  and.b32 %r2, %r1, 1;
(step) step 2
""" + R2 + """       odd.cu:4
   23  #o#o#o#o#o#o#o#o#o#o#o#o#o#o#o#o  @%p bra EVEN;
(step) lanes
   23  #o#o#o#o#o#o#o#o#o#o#o#o#o#o#o#o  @%p bra EVEN;
(step) print %r3 %rd2 %x
                                         %r3 = 0
                                         %rd2 = 0, 4, 8 … 124
the kernel has no register %x
(step) 
                                         %r3 = 0
                                         %rd2 = 0, 4, 8 … 124
the kernel has no register %x
(step) next
       #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.  these are at line 28
   24  .#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#  mul.lo.u32 %r3, %r1, 100;
(step) step 0
0 is not a number from 1
(step)  c 31
                                         %r3 = 100, 300, 500 … 3100
       odd.cu:7
   31  ################################  st.global.u32 [%rd1], %r3;
(step) off
""" + RIGHT)
r = step("--kernel", "odd", "--interactive", "--lines", "28", PROGRAM, commands="n\nn\n")
assert f"(step) n\n{' ' * 41}%r3 = 0, 4, 8 … 60\n" in r.stdout, r
assert r.stdout.count("call (%r3)") == 2 and "add.s32" not in r.stdout, r
assert r.returncode == 0 and r.stdout.endswith("(step) \n" + RIGHT), r  # the end of the input
r = step("--kernel", "odd", "--interactive", PROGRAM, commands="continue\nhelp\nq\n")
assert r.returncode == 130 and "launch 2" in r.stdout and "draw which lanes" in r.stdout, r
assert RIGHT not in r.stdout, r

# A failed allocation fails a call, or the launch; the last ones are those of the launch.
ended = refused = 0
for n in range(100, 400):
    r = step("--kernel", "meet", "--warp", "1", PROGRAM, CARDLESS_FAIL_ALLOC=str(n))
    assert r.returncode in (0, 1, 2, 3), (n, r)
    refused += "out of host memory for the registers of a block" in r.stderr
    ended = "the process ended before this allocation" in r.stderr
    if ended:
        break
assert ended and refused, (n, refused)

# Refusals, and the exit status of the program.
expect(step("--kernel", "even", PROGRAM), RIGHT, 3,
       "no such warp has run: launch 1 of the kernel even, block (0,0,0), warp 0\n")
expect(step("--warp", "2", PROGRAM), RIGHT, 3, "warp 2")
expect(step("--lines", "1-3", PROGRAM), RIGHT, 3, "lines 1 to 3")
for wrong, says in ((["--lines", "5-2"], "the first and the last one, A-B, not 5-2"),
                    (["--lines", "-2"], "not -2"), (["--block", "0,x"], "X,Y,Z, not 0,x"),
                    (["--launch", "0"], "a number from 1, not 0"), (["--warp", "w"], "not w"),
                    (["--kernel", "a,b"], "the name of a kernel"), (["--bogus"], "bogus")):
    r = step(*wrong, PROGRAM)
    assert r.returncode == 2 and says in r.stderr and not r.stdout, (wrong, r)
assert step().returncode == 2
assert step("/nonexistent").returncode == 127

# The program inherits only the copies of the command's files, from number 200 on.
output = os.path.join(tempfile.mkdtemp(), "trace")
r = step("--output", output, "--interactive", sys.executable, "-c",
         "import os; print(*sorted(map(int, os.listdir('/proc/self/fd'))))")
inherited = [int(n) for n in r.stdout.split()]
assert r.returncode == 3 and sum(n >= 200 for n in inherited) == 3, r
assert set(inherited) <= {0, 1, 2, 3} | {n for n in inherited if n >= 200}, r  # 3: the folder
shutil.rmtree(os.path.dirname(output))


def step_with_files(most):
    """With all numbers below 200 in use, and at most `most` files."""
    def use_all():
        for number in range(3, 200):
            os.dup2(2, number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return subprocess.run([TOOL, "step", "--interactive", PROGRAM], capture_output=True, text=True,
                          timeout=60, input="", preexec_fn=use_all, close_fds=False,
                          # LeakSanitizer needs files at the end.
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})


if not WRAPPER:
    for most, action in ((201, "make a file in memory"), (202, "pass a file on to the program"),
                         (203, "pass a file on to the program"),
                         (204, "give the program an empty standard input")):
        r = step_with_files(most)
        assert r.returncode == 126 and r.stderr.count("\n") == 1, (most, r)
        assert f"cardless step: cannot {action}: Too many open files" in r.stderr, (most, r)

r = step("sh", "-c", "kill -9 $$")
assert r.returncode == -9, r
r = subprocess.run([*WRAPPER, TOOL, "run", PROGRAM], capture_output=True, text=True, timeout=60,
                   env={**os.environ, "CARDLESS_STEP": "kernel=odd,line=3"})
expect(r, RIGHT, 0, "CARDLESS_STEP=kernel=odd,line=3 is ignored, because line is unknown")
r = subprocess.run([*WRAPPER, TOOL, "step", "--help"], capture_output=True, text=True, timeout=60)
assert r.returncode == 0 and r.stdout.startswith("usage: cardless step"), r
print("cardless step answers")
