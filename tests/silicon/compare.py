#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program of this folder as driver 580 and compares what it prints with what a card printed, line by line.

usage: compare.py PROGRAM RECORDING.txt.gz [GROUP...]

Lines may differ where differs.txt says so, and no more of them than it says.
"""
import gzip
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
SHOWN = 12


def parse(text, groups):
    """The outcome of each case, in order."""
    cases = {}
    for line in text.splitlines():
        case, bar, outcome = line.partition(" |")
        if bar and (not groups or case.split("/")[0] in groups):
            cases[case.strip()] = outcome.strip()
    return cases


def exceptions(recording):
    """Rows of differs.txt for this recording: pattern, how many lines at most, reason."""
    rows = []
    with open(os.path.join(FOLDER, "differs.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, most, pattern, reason = (field.strip() for field in line.split(" ; "))
                if name == recording:
                    rows.append([re.compile(pattern), int(most), reason, 0])
    return rows


def excused(rows, line):
    for row in rows:
        if row[0].search(line):
            row[3] += 1
            return row[3] <= row[1]
    return False


def main():
    program, recording, groups = sys.argv[1], sys.argv[2], sys.argv[3:]
    with gzip.open(recording, "rt", encoding="utf-8") as f:
        card = parse(f.read(), groups)
    environment = dict(os.environ, CARDLESS_PERSONALITY="driver-580")
    run = subprocess.run([program, *groups], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=False)
    ours = parse(run.stdout.decode("utf-8", "replace"), groups)
    rows = exceptions(os.path.basename(recording).split(".")[0])
    known = wrong = 0
    for case, outcome in card.items():
        if ours.get(case) == outcome:
            continue
        if excused(rows, f"{case} | {outcome}"):
            known += 1
            continue
        wrong += 1
        if wrong <= SHOWN:
            print(f"{case}\n  card {outcome}\n  ours {ours.get(case, '(missing)')}")
    for pattern, most, reason, found in rows:
        print(f"{found} of at most {most} lines differ: {reason}")
    print(f"{len(card) - known - wrong} of {len(card)} lines agree, {known} differ as known, {wrong} are wrong")
    return 1 if wrong or run.returncode or not card else 0


if __name__ == "__main__":
    sys.exit(main())
