#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the names of the driver API that have a counterpart in the runtime API, so that messages
about a call of the runtime can use its names: runtime_names.py DRIVER.def RUNTIME.def INCLUDE OUT

- One name abbreviates another if it has a beginning of each word of it; one word may be missing.
  Prefixes and suffixes that only mark the API do not count: MemPool abbreviates memoryPool.
- Two types correspond if both are enumerations, or both are handles, and the one name abbreviates
  the other. Every name has one counterpart at most: the one whose length is closest.
- Two constants correspond if they have the same value in enumerations that correspond, or if they
  have the same value and the one name abbreviates the other: CUDA_ARRAY3D_SPARSE, cudaArraySparse.
- Two functions have the same name, but "MemAlloc" is "Malloc" and "Mem" may be missing:
  cuMemAllocManaged, cudaMallocManaged. RENAMED lists others."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from apigen.table import Table, write  # noqa: E402

# Functions whose names no rule relates.
RENAMED = {
    'cuCtxSynchronize': 'cudaDeviceSynchronize',
    'cuCtxGetLimit': 'cudaDeviceGetLimit',
    'cuCtxSetLimit': 'cudaDeviceSetLimit',
    'cuCtxEnablePeerAccess': 'cudaDeviceEnablePeerAccess',
    'cuCtxDisablePeerAccess': 'cudaDeviceDisablePeerAccess',
    'cuLaunchKernelEx': 'cudaLaunchKernelExC',
    'cuArrayCreate': 'cudaMallocArray',
    'cuArray3DCreate': 'cudaMalloc3DArray',
    'cuArrayDestroy': 'cudaFreeArray',
    'cuMipmappedArrayCreate': 'cudaMallocMipmappedArray',
    'cuMipmappedArrayDestroy': 'cudaFreeMipmappedArray',
    'cuTexObjectCreate': 'cudaCreateTextureObject',
    'cuTexObjectDestroy': 'cudaDestroyTextureObject',
    'cuSurfObjectCreate': 'cudaCreateSurfaceObject',
    'cuSurfObjectDestroy': 'cudaDestroySurfaceObject',
    'cuDeviceGetUuid': 'cudaGetDeviceProperties',
}
# Types likewise.
RENAMED_TYPES = {'CUfilter_mode': 'cudaTextureFilterMode',
                 'CUaddress_mode': 'cudaTextureAddressMode'}
# The same value means another type of memory in the runtime API.
DIFFERENT = {'CU_MEMORYTYPE_ARRAY'}


def bare(name):
    """A name without the prefix and the suffix that only mark the API."""
    name = re.sub(r'^(CUDA_|CU_MEM(?=HOST)|CU_|CU|cuda|cu)', '', name).replace('LDST', 'LOAD_STORE')
    return re.sub(r'(_t|_st|_enum)$', '', name)


def letters(name):
    return bare(name).replace('_', '').lower()


def words(name):
    name = bare(name)
    if name.isupper():
        return name.lower().split('_')
    return [w.lower() for w in re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+', name)]


def abbreviates(text, full, missing=1):
    """Whether `text` has a beginning of each of the words `full`, of which some may be missing."""
    if not text or not full:
        return not text and len(full) <= missing
    most = 0
    while most < min(len(text), len(full[0])) and text[most] == full[0][most]:
        most += 1
    return any(abbreviates(text[n:], full[1:], missing) for n in range(most, 0, -1)) or \
        bool(missing) and abbreviates(text, full[1:], missing - 1)


class Header:
    """The enumerations, handles and constants of header files."""

    def __init__(self, files):
        text = '\n'.join(open(f, encoding='utf-8').read() for f in files)
        text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S)
        self.values, self.enums, self.handles = {}, {}, set()
        for m in re.finditer(r'#\s*define\s+(\w+)\s+([^\n]+)', text):
            self.define(m[1], m[2])
        for m in re.finditer(r'\benum\s*(\w*)\s*\{(.*?)\}\s*(\w*)', text, re.S):
            self.enums[m[3] or m[1]] = self.read_constants(m[2])
        for m in re.finditer(r'\btypedef\s+(?:struct\s+\w+\s*\*|unsigned long long\s)\s*(\w+)\s*;',
                             text):
            self.handles.add(re.sub(r'_v\d$', '', m[1]))

    def define(self, name, expression):
        try:
            plain = re.sub(r'\b(0x[0-9a-fA-F]+|\d+)[uUlL]+', r'\1', expression)
            plain = re.sub(r'\((?:CUstream|cudaStream_t)\)', '', plain)
            # The headers are ours: arithmetic, and constants that were defined before.
            value = eval(plain, {'__builtins__': {}}, self.values)  # pylint: disable=eval-used
        except (SyntaxError, NameError, TypeError):
            return None
        if isinstance(value, int):
            self.values[name] = value & 0xffffffff
        return value

    def read_constants(self, text):
        following, names = 0, []
        for item in text.split(','):
            m = re.match(r'\s*(\w+)\s*(?:=(.*))?$', item, re.S)
            if m:
                value = self.define(m[1], m[2] if m[2] else str(following))
                following = (value if isinstance(value, int) else following) + 1
                names.append(m[1])
        return names


def pair(ours, theirs, may=lambda a, b: True):
    """Names of one API with those of the other that abbreviate them, or that they abbreviate."""
    found = []
    for a in ours:
        for b in theirs:
            if may(a, b) and letters(a)[0] == letters(b)[0] and \
                    (abbreviates(letters(b), words(a)) or abbreviates(letters(a), words(b))):
                found.append((abs(len(letters(a)) - len(letters(b))), a, b))
    pairs = {}
    for _, a, b in sorted(found):
        if a not in pairs and b not in pairs.values():
            pairs[a] = b
    return pairs


def constants(driver, runtime, enums):
    pairs = {}
    for a, b in enums.items():
        for name in driver.enums[a]:
            value = driver.values.get(name)
            same = [n for n in runtime.enums[b] if value == runtime.values.get(n, '')]
            pairs |= {name: same[0]} if len(same) == 1 and name not in DIFFERENT else {}
    of_runtime = [n for n in runtime.values if n.startswith('cuda')]
    of_driver = [n for n in driver.values
                 if re.match(r'CU_|CUDA_[A-Z]', n) and not n.startswith('CUDA_ERROR')]
    same_value = pair([n for n in of_driver if n not in pairs], of_runtime,
                      lambda a, b: driver.values[a] == runtime.values[b])
    return same_value | pairs


def families(driver, runtime, enums):
    """The beginning that all constants of an enumeration share."""
    shared = {}
    for a, b in enums.items():
        ours, theirs = os.path.commonprefix(driver.enums[a]), os.path.commonprefix(runtime.enums[b])
        if len(driver.enums[a]) > 1 and ours.endswith('_') and len(theirs) > len('cuda'):
            shared[ours] = theirs
    return shared


def functions(driver, runtime):
    names = {r.name for r in runtime.rows}
    assert names.issuperset(RENAMED.values())
    yield from RENAMED.items()
    for row in driver.rows:
        name = re.sub(r'_v\d+$', '', row.name)
        for change in ('', ''), ('MemAlloc', 'Malloc'), ('Mem', ''):
            other = 'cuda' + name[2:].replace(*change, 1)
            if name.startswith('cu') and other in names:
                yield name, other
                break


def main():
    driver_table, runtime_table, include, out = sys.argv[1:]
    driver = Header(sorted(glob.glob(os.path.join(include, 'cardless/abi/*.h'))))
    runtime = Header(sorted(glob.glob(os.path.join(include, 'cardless/runtime/*.h')) +
                            glob.glob(os.path.join(include, '*_types.h'))))
    enums = pair([n for n in driver.enums if n.startswith('CU')],
                 [n for n in runtime.enums if n.startswith('cuda')])
    pairs = enums | pair([n for n in driver.handles if n.startswith('CU')],
                         [n for n in runtime.handles if n.startswith('cuda')])
    assert RENAMED_TYPES.keys() <= driver.enums.keys()
    assert set(RENAMED_TYPES.values()) <= runtime.enums.keys()
    enums |= RENAMED_TYPES
    pairs |= enums
    pairs |= constants(driver, runtime, enums) | families(driver, runtime, enums)
    pairs |= dict(functions(Table(driver_table), Table(runtime_table)))
    text = '// SPDX-License-Identifier: MIT\n// Made by runtime_names.py. Do not edit.\n' \
        '#include "thread.h"\n\nconst char *const rt_names[] = {\n'
    text += ''.join(f'    "{d}", "{r}",\n' for d, r in sorted(pairs.items()))
    write(out, text + '    NULL,\n};\n')


main()
