#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds coefficients for data/functions/coefficients.txt from a card's results.

    fit_segments.py RESULTS SEGMENTS [--exponent N] [--digits N]

RESULTS has the results of an f32 function for the 2^23 arguments of one exponent, in their order,
as little-endian words. SEGMENTS is the power of two of segments that these arguments have. Results
are multiplied by 2^exponent first; they should then be below 2. The first argument, which is a
power of two, is left out because it is often an exception. Needs numpy.

A result is cut off to an f32, and to `digits` after the point if that is less (36 for lg2), so it
says between which two numbers the interpolated value lies. For
a pair of c1 and c2, each result thus bounds c0. A segment is explained if one c0 is within all
bounds; with the right squarer there is one pair, or a few neighbours. Writes the rows of the table,
and the values of ROUNDING (function_tables.py) with which the rows give all results.
"""
import argparse
import itertools
import sys

import numpy

X_BITS, UNIT = 17, 41  # digits of x; values are in 2^-41, see kernels/lanes/interpolate.inc.h
NEAR = 6  # how far from the estimate c1 and c2 are looked for
C0 = 1 << 15  # a unit of c0


def square(x):
    """kn_square: the partial products of x * x that the card adds up."""
    total = numpy.zeros(len(x), numpy.int64)
    for i in range(2, X_BITS):
        least = max(i + 1, 18 - i)
        row = (x & (0x1ffff >> least << least)) >> max(18 - i, 0)
        own = 1 << (2 * i - 19) if 2 * i >= 19 else 0
        total += numpy.where(x >> i & 1, row + own, 0)
    return total


def bounds(words, exponent, digits):
    """The least value of each result, and the first one that is too large."""
    least = numpy.ldexp(words.view('<f4').astype(numpy.float64), UNIT + exponent)
    width = numpy.ldexp(1.0, (words >> 23 & 255).astype(int) - 127 - 23 + UNIT + exponent)
    least, end = least.astype(numpy.int64), numpy.maximum(width, 1 << (UNIT - digits))
    end = least + end.astype(numpy.int64)
    least[0], end[0] = -1 << 60, 1 << 60
    return least, end


def fit(least, end, x):
    """All (c1, c2, first c0, c0 that is too large), in units of the value."""
    squares = square(x)
    columns = numpy.stack([numpy.ones(len(x)), 2.0 * x, 4.0 * squares], 1)
    middle = (least[1:] + end[1:]) / 2
    estimate = numpy.linalg.lstsq(columns[1:], middle - middle[0], rcond=None)[0]
    found = []
    near = range(-NEAR, NEAR + 1)
    for d1, d2 in itertools.product(near, near):
        c1, c2 = round(estimate[1]) + d1, round(estimate[2]) + d2
        for step in (97, 1):  # most pairs fail for some arguments already
            rest = 2 * c1 * x[::step] + 4 * c2 * squares[::step]
            first, last = (least[::step] - rest).max(), (end[::step] - rest).min()
            if first >= last:
                break
        else:
            found.append((c1, c2, int(first), int(last)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('results')
    parser.add_argument('segments', type=int)
    parser.add_argument('--exponent', type=int, default=0)
    parser.add_argument('--digits', type=int, default=UNIT)
    arguments = parser.parse_args()
    segments = arguments.segments
    words = numpy.fromfile(arguments.results, '<u4')
    size = len(words) // segments
    places = numpy.arange(size, dtype=numpy.int64)
    x = places << X_BITS >> (size.bit_length() - 1)
    least, end = bounds(words, arguments.exponent, arguments.digits)
    rows, rounding = [], numpy.ones(C0, bool)
    for n in range(segments):
        part = slice(n * size, (n + 1) * size)
        found = fit(least[part], end[part], x)
        if not found:
            sys.exit(f'segment {n}: no coefficients give all results')
        # The pair that leaves c0 the widest range.
        c1, c2, first, last = max(found, key=lambda row: row[3] - row[2])
        possible = numpy.zeros(C0, bool)
        possible[numpy.arange(first, min(last, first + C0)) % C0] = True
        rounding &= possible
        rows.append((c1, c2, first, last))
    if not rounding.any():
        sys.exit('the segments need different rounding constants')
    values = numpy.flatnonzero(rounding)
    print('# ROUNDING:', ' '.join(str(v) for v in values), f'(or these less {C0})')
    for c1, c2, first, last in rows:
        print(-(-(first - int(values[0])) // C0), c1, c2)


if __name__ == '__main__':
    main()
