#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a recorded program as driver 580 and compares each line it prints with the card's answer.

usage: compare.py PROGRAM RECORDING.txt.gz [GROUP...]
       compare.py OURS.txt.gz RECORDING.txt.gz     compares two recordings; rows are named OURS

A line may differ only if a row of differs.txt excuses it, and only as often as the row says. If the
card's driver crashed in a case, ours must go on and print a line for it, whatever the line says.
"""
import collections
import gzip
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
SHOWN = 12

Row = collections.namedtuple("Row", "recording most pattern reason")


def parse(text, groups=()):
    """The outcome of each case, in order, optionally of some groups only."""
    cases = {}
    for line in text.splitlines():
        case, bar, outcome = line.partition(" |")
        if bar and (not groups or case.split("/")[0] in groups):
            cases[case.strip()] = outcome.strip()
    return cases


def read_recording(path, groups=()):
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        return parse(f.read(), groups)


def read_differs(recording=None):
    """The rows of differs.txt, of one recording or of all."""
    rows = []
    with open(os.path.join(FOLDER, "differs.txt"), encoding="utf-8") as f:
        for line in f:
            if not line.strip() or line.startswith("#"):
                continue
            name, most, pattern, reason = (field.strip() for field in line.split(" ; "))
            if recording in (None, name):
                rows.append(Row(name, int(most), re.compile(pattern), reason))
    return rows


def run(program, groups=(), **environment):
    """What a program prints, and its exit code."""
    done = subprocess.run([program, *groups], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=dict(os.environ, **environment),
                          check=False)
    return parse(done.stdout.decode("utf-8", "replace"), groups), done.returncode


def agrees(card, ours):
    """Whether our line is the card's, or an answer in a case that crashed the card's driver."""
    return ours == card or ("CRASH" in card and ours is not None and "CRASH" not in ours)


def main():
    program, path, groups = sys.argv[1], sys.argv[2], sys.argv[3:]
    card = read_recording(path, groups)
    if program.endswith(".gz"):
        ours, code = read_recording(program), 0
        path = program
    else:
        ours, code = run(program, groups, CARDLESS_PERSONALITY="driver-580",
                         CARDLESS_DIAGNOSTICS="off")
    rows = read_differs(os.path.basename(path).split(".")[0])
    used = collections.Counter()
    wrong = 0
    for case, outcome in card.items():
        if agrees(outcome, ours.get(case)):
            continue
        row = next((r for r in rows if r.pattern.search(f"{case} | {outcome}")), None)
        used[row] += 1
        if row and used[row] <= row.most:
            continue
        wrong += 1
        if wrong <= SHOWN:
            print(f"{case}\n  card {outcome}\n  ours {ours.get(case, '(missing)')}")
    for row in rows:
        if used[row]:
            print(f"{used[row]} of at most {row.most} lines differ: {row.reason}")
    differ = sum(used.values())
    print(f"{len(card) - differ} of {len(card)} lines agree, {differ - wrong} differ as known, "
          f"{wrong} are wrong")
    return 1 if wrong or code or not card else 0


if __name__ == "__main__":
    sys.exit(main())
