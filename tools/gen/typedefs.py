#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a header of function pointer types from the driver's table of entry points, for programs that use cuGetProcAddress.

    typedefs.py --table FILE HEADER OUTPUT

Each form of a function has a type named after the CUDA version that introduced it, PFN_cuMemAlloc_v3020, and its twin for
per-thread default streams, PFN_cuMemcpyHtoD_v7000_ptds."""
import argparse
import re

from driver_table import FIRST_TWIN, GENERATED, Table, write


def typed(row, twin=None):
    version = max(row.since, FIRST_TWIN) if twin else row.since
    return f'PFN_{row.base}_v{version}' + (f'_{twin}' if twin else '')


def narrow(row):
    """Whether it is a CUDA 3.1 form: its types are those of cardless/abi/old_types.h."""
    return re.search(r'\b(CUdeviceptr|CUDA_MEMCPY[23]D|CUDA_ARRAY(3D)?_DESCRIPTOR)_v1\b', row.c_arguments()) or row.answer == 'narrow'


def typedef_lines(row):
    return [f'typedef CUresult (CUDAAPI *{typed(row, twin)})({row.c_arguments()});' for twin in ([None, row.twin] if row.twin else [None])]


def typedefs(table, header):
    rows = [r for r in table.rows + table.declared if r.header == header and r.since and not r.unknown]
    stem = header.removesuffix('.h')
    guard = f'{stem.upper()}TYPEDEFS_H'
    out = [GENERATED.replace('driver_table.py', 'typedefs.py') + f'#ifndef {guard}', f'#define {guard}', f'#include "{header}"']
    out += ['', '#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    for r in rows:
        if not narrow(r):
            out += typedef_lines(r)
    old = [line for r in rows if narrow(r) for line in typedef_lines(r)]
    if old:
        out += ['', '/* The CUDA 3.1 forms. */', '#ifdef __CUDA_API_VERSION_INTERNAL'] + old + ['#endif']
    out += ['', '#ifdef __cplusplus', '}', '#endif', '#endif', '']
    return '\n'.join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--table', required=True)
    p.add_argument('header')
    p.add_argument('output')
    a = p.parse_args()
    write(a.output, typedefs(Table(a.table), a.header))


if __name__ == '__main__':
    main()
