# SPDX-License-Identifier: MIT
"""Compares cuComplex.h and math_constants.h with those of an installed CUDA toolkit: a program is
compiled with each pair of headers, and must print the same numbers.

    small_abi.py INCLUDE [--toolkit INCLUDE]

Exit status 77: no toolkit is installed.
"""
import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import abi

HEAD = '''#include <cuComplex.h>
#include <math_constants.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static inline float __int_as_float(unsigned v) { float f; memcpy(&f, &v, 4); return f; }
static inline double __longlong_as_double(unsigned long long v)
{ double d; memcpy(&d, &v, 8); return d; }
static void bits(const char *name, const void *value, size_t size)
{
    uint64_t v = 0;
    memcpy(&v, value, size);
    printf("%s %zu %llx\\n", name, size, (unsigned long long)v);
}
#define SHOW(name) { __typeof__(name) v = name; bits(#name, &v, sizeof v); }
#define PART(name, value) { __typeof__(value) v = value; if (v == v) bits(name, &v, sizeof v); \\
    else printf("%s NaN\\n", name); }
#define BOTH(name, z) PART(name, (z).x) PART(name, (z).y)
'''
CALLS = '''
static uint64_t state = 1;
static double draw(void)
{
    static const double few[] = {0, -0.0, 1, -1, 1e-30, 1e30, 3, -0.5};
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned top = (unsigned)(state >> 33);
    return top % 4 ? few[top / 4 % 8] : (double)(int)top / 65536 - 8192;
}
static void complex_numbers(void)
{
    for (int i = 0; i < 4000; i++) {
        cuDoubleComplex a = make_cuDoubleComplex(draw(), draw());
        cuDoubleComplex b = make_cuDoubleComplex(draw(), draw());
        cuDoubleComplex c = make_cuDoubleComplex(draw(), draw());
        cuFloatComplex p = cuComplexDoubleToFloat(a), q = cuComplexDoubleToFloat(b);
        cuComplex r = make_cuComplex((float)c.x, (float)c.y);
        BOTH("make", make_cuFloatComplex(cuCrealf(p), cuCimagf(q)))
        BOTH("conj", cuConj(a)) BOTH("conjf", cuConjf(p))
        BOTH("add", cuCadd(a, b)) BOTH("addf", cuCaddf(p, q))
        BOTH("sub", cuCsub(a, b)) BOTH("subf", cuCsubf(p, q))
        BOTH("mul", cuCmul(a, b)) BOTH("mulf", cuCmulf(p, q))
        BOTH("div", cuCdiv(a, b)) BOTH("divf", cuCdivf(p, q))
        BOTH("fma", cuCfma(a, b, c)) BOTH("fmaf", cuCfmaf(p, q, r))
        BOTH("widen", cuComplexFloatToDouble(p)) PART("parts", cuCreal(a) + cuCimag(b))
        printf("abs %.17g\\nabs %.17g\\n", cuCabs(a), cuCabsf(p));
    }
}
'''


def printed(include, names, folder):
    source, program = folder / 'small.c', folder / 'small'
    source.write_text(HEAD + CALLS + 'int main(void)\n{\n' +
                      ''.join(f'SHOW({n})\n' for n in names) + 'complex_numbers();\n}\n')
    subprocess.run(['cc', '-w', '-ffp-contract=off', f'-I{include}', source, '-o', program, '-lm'],
                   check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split('\n')


def same(theirs, ours):
    """Magnitudes may differ in their last bits."""
    if theirs.startswith('abs ') and ours.startswith('abs '):
        x, y = float(theirs[4:]), float(ours[4:])
        return abs(x - y) <= 3e-7 * abs(x)
    return theirs == ours


def main():
    p = argparse.ArgumentParser()
    p.add_argument('include')
    p.add_argument('--toolkit')
    a = p.parse_args()
    toolkit = a.toolkit or abi.find_toolkit()
    if not toolkit or not (Path(toolkit) / 'cuComplex.h').exists():
        abi.skip(f'no CUDA toolkit of version {abi.VERSION} with cuComplex.h is installed')
    text = (Path(toolkit) / 'math_constants.h').read_text(encoding='utf-8')
    names = re.findall(r'#define (CUDART_\w+)', text)
    with tempfile.TemporaryDirectory() as folder:
        theirs = printed(toolkit, names, Path(folder))
        ours = printed(a.include, names, Path(folder))
    found = [f'line {i}: toolkit {x}, ours {y}' for i, (x, y) in enumerate(zip(theirs, ours))
             if not same(x, y)]
    print('\n'.join(found[:20]))
    print(f'# compared {len(names)} constants and {len(theirs)} lines')
    raise SystemExit(bool(found) or len(theirs) != len(ours))


main()
