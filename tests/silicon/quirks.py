#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows that each row of quirks.def does what its recording shows, in both personalities.

usage: quirks.py QUIRKS.def FOLDER-OF-PROGRAMS

A row names a recording, a group and a case (or a pattern of cases). Under `driver-580` these cases
must come out as recorded; with the row switched to the manual at least one of them must not. Under
`manual` at least one must change if the row is switched to the driver.
"""
import fnmatch
import functools
import os
import re
import sys

import compare

FOLDER = os.path.dirname(os.path.abspath(__file__))
STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
# Cases that only some machines can run: pattern, and what is missing elsewhere.
NEEDS = {"x_extmem import_fd/dmabuf": "/dev/udmabuf",
         # No file: software Vulkan lacks this extension. tests/mistakes shows the row.
         "x_extmem vksem/types-of-binary": "VK_KHR_external_semaphore_fd"}
# A row that shows only while another one follows the driver.
RESTS_ON = {"STAGED_COPY_FAILS_LATER": "PLANES_FAULT"}


def read_rows(path):
    """Name and recording of each row."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^\s*//.*$", "", f.read(), flags=re.M)
    rows = re.findall(r"EM_QUIRK\(\s*(\w+)\s*,\s*" + r"\s*,\s*".join([STRING] * 4) + r"\s*\)", text)
    assert len(rows) == text.count("EM_QUIRK("), "a row of quirks.def does not parse"
    return [(row[0], "".join(re.findall(r'"([^"]*)"', row[4]))) for row in rows]


def cases(outcomes, pattern):
    return {case: outcomes[case] for case in outcomes if fnmatch.fnmatchcase(case, pattern)}


def main():
    path, programs = sys.argv[1:]

    @functools.lru_cache(maxsize=None)
    def run(name, group, personality, switch=None):
        more = {"CARDLESS_QUIRKS": switch} if switch else {}
        return compare.run(os.path.join(programs, name), (group,), CARDLESS_DIAGNOSTICS="off",
                           CARDLESS_PERSONALITY=personality, **more)[0]

    bad = 0
    for quirk, recording in read_rows(path):
        def complain(text):
            print(f"{quirk} ({recording}): {text}")
            return 1
        missing = NEEDS.get(recording)
        if missing and not os.path.exists(missing):
            print(f"{quirk}: not run, because there is no {missing}")
            continue
        name, _, pattern = recording.partition(" ")
        group = pattern.split("/")[0]
        if not os.path.exists(os.path.join(FOLDER, name + ".txt.gz")):
            bad += complain("there is no such recording in tests/silicon")
            continue
        if not os.path.exists(os.path.join(programs, name)):
            print(f"{quirk}: not run, because {name} was not built")
            continue
        card = cases(compare.read_recording(os.path.join(FOLDER, name + ".txt.gz")), pattern)
        if not card:
            bad += complain("no such case is recorded")
            continue
        ours = run(name, group, "driver-580")
        for case, outcome in card.items():
            if not compare.agrees(outcome, ours.get(case)):
                bad += complain(f"{case}\n  card {outcome}\n  ours {ours.get(case)}")
        without = run(name, group, "driver-580", "-" + quirk)
        if all(without.get(case) == ours.get(case) for case in card):
            bad += complain("the recorded cases come out the same without it")
        base = RESTS_ON.get(quirk)
        manual = run(name, group, "manual", base)
        switched = run(name, group, "manual", f"{base},{quirk}" if base else quirk)
        if all(manual.get(case) == switched.get(case) for case in card):
            bad += complain("it changes nothing under the personality `manual`")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
