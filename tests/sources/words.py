#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts words that show how the English of comments and documents reads.

usage: words.py FOLDER [PART...]        checks the project in FOLDER, or parts of it (paths)
       words.py --count FOLDER          prints the figures of any project in C

The table has a word (or several), the figure of libuv per 1,000 words of comment, and on which side
of it ours must stay: at most twice the figure, or at least half of it.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

# Programs that are kept exactly as they were when a card answered them.
LEFT_OUT = ("tests/silicon/probes/",)
MARKDOWN_CODE = re.compile(r"^```.*?^```|^ {4}.*?$|`[^`]*`|^\|.*?$|\]\([^)]*\)|<[^>]*>",
                           re.M | re.S)


def files(folder, parts, endings):
    listed = subprocess.run(["git", "-C", folder, "ls-files", "-z"], stdout=subprocess.PIPE,
                            check=True).stdout.decode().split("\0")
    for name in listed:
        if name.endswith(endings) and name.startswith(parts) and not name.startswith(LEFT_OUT):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as f:
                    yield name, f.read()


def c_comments(text):
    """The text of all comments but licences; strings and character constants are skipped."""
    out = []
    token = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.S)
    for match in token.finditer(text):
        comment = match.group()
        if comment.startswith(("//", "/*")) and "Copyright" not in comment:
            out.append(comment)
    return "\n".join(out)


def count(texts):
    words = collections.Counter()
    for text in texts:
        text = re.sub(r"\"[^\"]*\"", " ", text)  # quotations, of the manual for the most part
        # Neither identifiers nor capitals: CU_MEM_NONE is not a word.
        found = re.findall(r"(?<![\w/.-])[A-Za-z][a-z']*(?![\w])", text)
        words.update(word.lower() for word in found)
    return words


def per_thousand(words, names):
    total = sum(words.values())
    return 1000 * sum(words[n] for n in names) / total if total else 0


def corpora(folder, parts):
    yield "comments", count(c_comments(t) for _, t in files(folder, parts, (".c", ".h", ".def")))
    yield "documents", count(MARKDOWN_CODE.sub(" ", t) for _, t in files(folder, parts, (".md",)))


def read_table(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.partition("#")[0].strip()
            if line:
                names, figure, side = (field.strip() for field in line.split("|"))
                yield names.split(), float(figure), side


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--table", default=os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                   "words.txt"))
    p.add_argument("--count", action="store_true")
    p.add_argument("folder")
    p.add_argument("parts", nargs="*", default=[""])
    a = p.parse_args()
    bad = 0
    for name, words in corpora(a.folder, tuple(a.parts)):
        print(f"{name}: {sum(words.values())} words")
        for names, figure, side in read_table(a.table):
            ours = per_thousand(words, names)
            limit = 2 * figure if side == "most" else figure / 2
            if name == "documents" and side == "least":
                continue
            good = a.count or (ours <= limit if side == "most" else ours >= limit)
            bad += not good
            print(f"  {' '.join(names):32} {ours:6.2f}"
                  + ("" if a.count else f"  at {side} {limit:.2f}{'' if good else '   <<<'}"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
