# SPDX-License-Identifier: MIT
"""Public headers of the driver API: prototypes, and types of pointers to the functions."""
import re

from .about import About

# A program built for per-thread default streams gets per-thread functions from cuGetProcAddress
# unless it asks for the others.
PROC_ADDRESS = '''#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && \\
    !defined(__CUDA_API_VERSION_INTERNAL)
/* A program built for per-thread default streams gets per-thread functions unless it asks for the
 * others. */
static inline CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
                                                cuuint64_t flags,
                                                CUdriverProcAddressQueryResult *symbolStatus)
{
    if (!(flags & (CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz
#endif'''

DEPRECATED = '''#if defined(__CUDA_API_VERSION_INTERNAL) || defined(CUDA_ENABLE_DEPRECATED)
#define CARDLESS_DEPRECATED
#elif defined(__GNUC__)
#define CARDLESS_DEPRECATED __attribute__((deprecated))
#else
#define CARDLESS_DEPRECATED
#endif
'''


# Default values of arguments, for C++ only.
DEFAULT = '''#ifdef __cplusplus
#define CARDLESS_DEFAULT(value) = value
#else
#define CARDLESS_DEFAULT(value)
#endif
'''


def prototype(table, row, name, prefix=''):
    return f'{prefix}{row.result}{name}({row.public_arguments()});'


def public(table, header):
    """The function half of a public header."""
    everything = [r for r in table.rows + table.declared if r.header == header and r.is_public]
    rows = [r for r in everything if 'old' not in r.flags]
    guard = 'CARDLESS_' + re.sub(r'\W', '_', header.upper()) + '_FUNCTIONS'
    internal = table.dialect.one('internal')
    out = [table.notice() + f'#ifndef {guard}', f'#define {guard}']
    out += ([f'#ifndef {internal}'] if internal else []) + ['', DEPRECATED]
    defaults = any(a.default for r in rows for a in r.arguments)
    out += [DEFAULT] if defaults else []
    # A name stands for its newest form; with CUDA_API_PER_THREAD_DEFAULT_STREAM for the twin of
    # that form.
    moved = [(r.flags['is'], r) for r in rows if 'is' in r.flags]
    plain = [(r.name, r) for r in rows if 'is' not in r.flags and r.twin]
    out += ['#if defined(__CUDA_API_VERSION_INTERNAL)', '/* Every form under its own name. */']
    out += ['#else', '#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)']
    out += [f'#define {name} {r.exported()[-1][0]}' for name, r in moved + plain]
    out += ['#else'] + [f'#define {name} {r.name}' for name, r in moved] + ['#endif', '#endif', '']
    out += ['#ifdef __cplusplus', 'extern "C" {', '#endif']
    out += ['#if defined(__CUDA_API_VERSION_INTERNAL)']
    if header == 'cuda.h':
        out += ['#include "cardless/abi/old_types.h"']
    out += [prototype(table, r, name) for r in everything if not r.unknown
            for name, _ in r.exported()] + ['#else']
    about, before = About(table), None
    for r in rows:
        if not before or r.chapter != before.chapter:
            out += ['', f'/* ---- {r.chapter} */', '']
        out += about.comment(r.name, before and before.chapter == r.chapter and before.name)
        before = r
        deprecated = 'CARDLESS_DEPRECATED ' if 'deprecated' in r.flags else ''
        out.append(prototype(table, r, r.flags.get('is') or r.name, deprecated))
    out += ['#endif', '#ifdef __cplusplus', '}', '#endif', '']
    if header == 'cuda.h':
        out.append(PROC_ADDRESS)
    out += ['#undef CARDLESS_DEFAULT'] if defaults else []
    out += ['#undef CARDLESS_DEPRECATED', '#endif'] + (['#endif'] if internal else [])
    return '\n'.join(out + [''])


def typedefs(table, header):
    """Types of pointers to the functions, for programs that use cuGetProcAddress.

    Each form of a function has a type named after the CUDA version that introduced it,
    PFN_cuMemAlloc_v3020, and one for its twin, PFN_cuMemcpyHtoD_v7000_ptds.
    """
    rows = [r for r in table.rows + table.declared
            if r.header == header and r.since and not r.unknown]
    first_twin = int(table.dialect.one('firsttwin'))

    def lines(row):
        out = []
        for _, twin in row.exported():
            version = max(row.since, first_twin) if twin else row.since
            name = f'PFN_{row.base}_v{version}' + (f'_{twin}' if twin else '')
            out.append(f'typedef CUresult (CUDAAPI *{name})({row.c_arguments()});')
        return out

    guard = f'{header.removesuffix(".h").upper()}TYPEDEFS_H'
    out = [table.notice() + f'#ifndef {guard}', f'#define {guard}', f'#include "{header}"', '']
    out += ['#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    out += [line for r in rows if not is_narrow(r) for line in lines(r)]
    old = [line for r in rows if is_narrow(r) for line in lines(r)]
    if old:
        out += ['', '/* The CUDA 3.1 forms. */', '#ifdef __CUDA_API_VERSION_INTERNAL'] + old
        out += ['#endif']
    return '\n'.join(out + ['', '#ifdef __cplusplus', '}', '#endif', '#endif', ''])


def is_narrow(row):
    """Whether it is a CUDA 3.1 form: its types are those of cardless/abi/old_types.h."""
    old = r'\b(CUdeviceptr|CUDA_MEMCPY[23]D|CUDA_ARRAY(3D)?_DESCRIPTOR)_v1\b'
    return row.answer == 'narrow' or re.search(old, row.c_arguments())
