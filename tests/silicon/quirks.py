#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows that each row of quirks.def does what its recording shows, in both personalities.

usage: quirks.py QUIRKS.def FOLDER-OF-PROGRAMS

A row names a recording, a group and a case (or a pattern of cases). Under `driver-580` these cases
must come out as recorded; with the row switched to the manual at least one of them must not. Under
`manual` at least one must change if the row is switched to the driver.
"""
import concurrent.futures
import fnmatch
import functools
import os
import re
import sys

import compare

FOLDER = os.path.dirname(os.path.abspath(__file__))
STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
# Cases that only some machines can run: pattern, and what is missing elsewhere.
NEEDS = {"x_extmem import_fd/dmabuf": "/dev/udmabuf"}
# A row that shows only while another one follows the driver.
RESTS_ON = {"STAGED_COPY_FAILS_LATER": "PLANES_FAULT"}
# A row that is about what earlier cases of its group leave, so all of them run.
NEEDS_GROUP = {"LINK_ERROR_STAYS_UNKNOWN"}


def read_rows(path):
    """Name and recording of each row."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^\s*//.*$", "", f.read(), flags=re.M)
    rows = re.findall(r"EM_QUIRK\(\s*(\w+)\s*,\s*" + r"\s*,\s*".join([STRING] * 4) + r"\s*\)", text)
    assert len(rows) == text.count("EM_QUIRK("), "a row of quirks.def does not parse"
    return [(row[0], "".join(re.findall(r'"([^"]*)"', row[4]))) for row in rows]


def cases(outcomes, pattern):
    return {case: outcomes[case] for case in outcomes if fnmatch.fnmatchcase(case, pattern)}


@functools.lru_cache(maxsize=None)
def run(program, pattern, personality, switch=None):
    more = {"CARDLESS_QUIRKS": switch} if switch else {}
    return compare.run(program, (pattern.split("/")[0],), CARDLESS_DIAGNOSTICS="off",
                       RECORD_CASES=pattern, CARDLESS_PERSONALITY=personality, **more)[0]


def check_row(quirk, recording, programs):
    """What is wrong with a row, and what was not run: two lists of sentences."""
    missing = NEEDS.get(recording)
    if missing and not os.path.exists(missing):
        return [], [f"not run, because there is no {missing}"]
    name, _, pattern = recording.partition(" ")
    program = os.path.join(programs, name)
    if not os.path.exists(os.path.join(FOLDER, name + ".txt.gz")):
        return ["there is no such recording in tests/silicon"], []
    if not os.path.exists(program):
        return [], [f"not run, because {name} was not built"]
    card = cases(compare.read_recording(os.path.join(FOLDER, name + ".txt.gz")), pattern)
    if not card:
        return ["no such case is recorded"], []
    chosen = pattern.split("/")[0] + "/*" if quirk in NEEDS_GROUP else pattern
    ours = run(program, chosen, "driver-580")
    wrong = [f"{case}\n  card {outcome}\n  ours {ours.get(case)}"
             for case, outcome in card.items() if not compare.agrees(outcome, ours.get(case))]
    without = run(program, chosen, "driver-580", "-" + quirk)
    if all(without.get(case) == ours.get(case) for case in card):
        wrong.append("the recorded cases come out the same without it")
    base = RESTS_ON.get(quirk)
    manual = run(program, chosen, "manual", base)
    switched = run(program, chosen, "manual", f"{base},{quirk}" if base else quirk)
    if all(manual.get(case) == switched.get(case) for case in card):
        wrong.append("it changes nothing under the personality `manual`")
    return wrong, []


def main():
    path, programs = sys.argv[1:]
    rows = read_rows(path)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # the programs often sleep
        results = list(pool.map(lambda row: check_row(*row, programs), rows))
    for (quirk, recording), (wrong, not_run) in zip(rows, results):
        for sentence in wrong + not_run:
            print(f"{quirk} ({recording}): {sentence}")
    return 1 if any(wrong for wrong, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
