#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `cardless layout`: the figures of a known array, refusals, and a PNG file that decodes."""
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib

TOOL = [*shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")), sys.argv[1]]


def run(*arguments):
    return subprocess.run([*TOOL, "layout", *arguments], capture_output=True, text=True, timeout=30)


def decode_png(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, chunks = 8, {}
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        (crc,) = struct.unpack_from(">I", data, at + 8 + size)
        assert crc == zlib.crc32(kind + body), kind
        chunks[kind] = chunks.get(kind, b"") + body
        at += size + 12
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    assert b"IEND" in chunks
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)
    return width, height


with tempfile.TemporaryDirectory() as folder:
    png = os.path.join(folder, "level.png")
    # Without libpng, --png is refused with the reason.
    has_png = "it has no libpng" not in run("--help").stdout
    if not has_png:
        r = run("4x4", "--png", png)
        assert r.returncode == 2 and "libpng-dev" in r.stderr and not os.path.exists(png), r
    r = run("100x75", "--format", "rgba8", "--levels", "all", *(["--png", png] if has_png else []))
    assert r.returncode == 0, r
    for line in ("    0  100x75                      0       448        57344  1x8x1      "
                 "7x16x1 = 112",
                 "bytes in use   80384 = 157 GOBs", "memory         131072, aligned to 65536"):
        assert line in r.stdout, (line, r.stdout)
    if has_png:
        assert decode_png(png) == (1600, 1200)
        # A whole picture of 2048 x 2048 pixels is compressed: 12.6 MB as it is.
        r = run("256x256", "--format", "rgba8", "--png", png)
        assert r.returncode == 0 and decode_png(png) == (2048, 2048), r
        assert os.path.getsize(png) < 500_000, os.path.getsize(png)

    r = run("100x50", "--layout", "llvmpipe", "--levels", "7", "--no-picture")
    assert r.returncode == 0 and "33024" in r.stdout, r
    r = run("64x64", "--cubemap", "--layout", "swiftshader")
    assert r.returncode == 0, r
    r = run("256x256x64", "--format", "bc7", "--level", "2", "--levels", "3", "--slice", "9")
    assert r.returncode == 0, r

    for wrong in ([], ["0x4"], ["x"], ["-1"], ["4x4x4x4"], ["4x4", "--levels", "4"],
                  ["4x4", "--level", "1"], ["4x4", "--format", "nv12"],
                  ["4x4", "--format", "rgba8", "--channels", "3"], ["4x5", "--cubemap"],
                  ["99999999999999999999"], ["16777216x16777216x16777216"], ["4", "--png", folder]):
        r = run(*wrong)
        assert r.returncode in (1, 2) and r.stderr, (wrong, r)
    # A refusal names the option and what it takes.
    for option, value, takes in (("--format", "bogus", "--help"), ("--levels", "99", "1 to 20"),
                                 ("--layout", "x", "swiftshader"),
                                 ("--channels", "5", "1, 2, 3 or 4"),
                                 ("--pitch", "-1", "a whole number")):
        r = run("4x4", option, value)
        assert r.returncode == 2 and takes in r.stderr, r
        assert f"cardless layout: {option} does not take '{value}'" in r.stderr, r
    assert run("4x4", "--bogus").stderr.startswith("cardless layout: "), run("4x4", "--bogus")

# Lost output is an error.
with open("/dev/full", "w") as full:
    r = subprocess.run([*TOOL, "layout", "4x4"], stdout=full, stderr=subprocess.PIPE, text=True,
                       timeout=30)
    assert r.returncode == 1 and "could not be written" in r.stderr, r
print("cardless layout answers")
