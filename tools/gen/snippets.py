#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong and right snippets of the diagnostics, cut out of the tests that provoke them.

A region of a test is marked with a comment line that names diagnostics, and ends with another one:

    // [B01 B02 wrong]
    EXPECT_ERROR(try_buffer(m, 4096, EXTERNAL_B, 0), CUDA_ERROR_INVALID_VALUE);
    // [end]

The test's macros are taken off: EXPECT_OK(call) becomes the call, EXPECT_ERROR(call, CODE) the call
with the code as a comment.
"""

import collections
import os
import re
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = [
    'tests/mistakes/import.c',
    'tests/mistakes/buffers.c',
    'tests/mistakes/images.c',
    'tests/mistakes/graphics.c',
    'tests/mistakes/semaphores.c',
    'tests/mistakes/deadlocks.c',
    'tests/mistakes/order.c',
    'tests/mistakes/kernels.c',
    'tests/mistakes/vulkan.c',
    'tests/mistakes/vulkan_host_writes.c',
    'tests/mistakes/vulkan_order.c',
    'tests/gl/test_gl_mistakes.c',
]
# Functions of the tests that the snippets call, for the reader.
HELPERS = {
    'vks_submit(batch)': '`vkQueueSubmit` of one batch with these semaphores and values',
    'import(fd, size, flags)': (
        '`cuImportExternalMemory` of type `OPAQUE_FD`; returns the `CUexternalMemory`'
    ),
    'opaque(fd, size)': 'the descriptor for that call',
    'own_fd(size)': 'a descriptor of new device memory, from `cuMemExportToShareableHandle`',
    'plain_memfd(size)': 'a descriptor of an ordinary memory file',
    'mesa_memfd(size)': (
        "a descriptor of memory as Mesa's Vulkan exports it, with that allocation size"
    ),
    'import_d3d(flags)': '`cuImportExternalMemory` of type `D3D12_RESOURCE` with these flags',
    'import_on_device(n)': (
        'imports memory that device 0 exported, with a context of device n current'
    ),
    'export(types)': (
        '`cuMemCreate` with `requestedHandleTypes = types`, then '
        '`cuMemExportToShareableHandle`'
    ),
    'memory()': 'imports 4 MiB of device memory',
    'dedicated(w, h, n, levels)': (
        'imports memory that Vulkan allocated for one image of that extent, with n layers'
    ),
    'map_buffer(m, offset, size)': '`cuExternalMemoryGetMappedBuffer`; returns the pointer',
    'try_buffer(m, offset, size, flags)': 'the same, then `cuMemFree`; returns the result code',
    'image(w, h, depth, flags, levels)': 'a mipmapped array descriptor of format RGBA8',
    'try_image(m, desc)': (
        '`cuExternalMemoryGetMappedMipmappedArray`, then `cuMipmappedArrayDestroy`; '
        'returns the result code'
    ),
    'surface_of_level_0(m, flags)': (
        'maps an image with these array flags and calls `cuSurfObjectCreate` on its level '
        '0'
    ),
    'vk_image_info(w, h, layers, levels)': 'a `VkImageCreateInfo` of format RGBA8, optimal tiling',
    'share(info)': 'creates that image, exports its memory and imports it (`.cuda`)',
    'host_memory(coherent, memory)': (
        'a Vulkan buffer in host-visible memory, written by the host and imported; '
        "returns CUDA's pointer"
    ),
    'whole(memory)': 'a `VkMappedMemoryRange` of all of it',
    'read_one(p, at)': 'the byte that `cuMemcpyDtoH` reads at p + at',
    'test_context()': 'makes a context of device 0 current',
    'kernel(text)': '`cuModuleLoadData`, then `cuModuleGetFunction` of its kernel `k`',
    'KERNEL(name, body)': (
        'the PTX of a kernel with a pointer `p`: `%r0` is the index of the thread, `%x0` is p, '
        '`%x2` the word of the thread there, `%r2` its word in shared memory and `%r3` that of a '
        'thread of the other warp'
    ),
    'texture_of_floats()': '`cuTexObjectCreate` of a one-dimensional array',
    'fetching_kernel()': 'a kernel whose argument is a texture, from which it fetches',
    'buffer()': 'registers a new buffer of 4096 bytes',
    'texture()': 'registers a new 16 x 16 texture of two levels',
    'virtual_buffer(size)': '`cardlessBufferCreate`: a buffer of the virtual graphics API',
    'virtual_texture(kind, …)': '`cardlessTextureCreate`',
    'registered(buffer, flags)': '`cardlessRegisterBuffer`; returns the resource',
    'registered_texture(texture, flags)': '`cardlessRegisterTexture`; returns the resource',
    'mapped_pointer(r)': '`cuGraphicsMapResources`, then `cuGraphicsResourceGetMappedPointer`',
    'gl_buffer(size, data)': 'an OpenGL buffer',
    'gl_texture_2d(format, levels, w, h)': 'an OpenGL texture',
    'gl_use(context)': 'makes that OpenGL context current',
    'semaphore_of(kind)': 'a descriptor of a new semaphore, from `cardlessSemaphoreExport`',
    'try_semaphore(type, fd)': (
        '`cuImportExternalSemaphore`, then `cuDestroyExternalSemaphore`; returns the result code'
    ),
    'timeline(value)': 'a timeline semaphore, imported (`.cuda`)',
    'cu_signal(s, value, stream)': '`cuSignalExternalSemaphoresAsync` of one semaphore',
    'cu_wait(s, value, stream)': '`cuWaitExternalSemaphoresAsync` of one semaphore',
    'signal_params(value)': 'the parameters of a signal: all zero but `params.fence.value`',
    'wait_params(value)': 'the parameters of a wait: all zero but `params.fence.value`',
    'context_of_device(n)': 'makes the primary context of device n current',
}
MARK = re.compile(r'^( *)// \[((?:[A-Z]\d\d )+)(wrong|right)\]\n(.*?)^ *// \[end\]$', re.M | re.S)
Snippet = collections.namedtuple('Snippet', 'code path test')


def close_of(text, opening):
    """The index of the parenthesis that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if not depth:
            return i
    raise ValueError(f'no closing parenthesis: {text[opening:]}')


def last_comma(text):
    """The index of the last comma outside parentheses."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ')') - (text[i] == '(')
        if text[i] == ',' and not depth:
            return i
    raise ValueError(f'no comma: {text}')


def without_macros(code):
    """The snippet as a program would have it."""
    for macro in ('EXPECT_OK', 'MUST', 'VK', 'EXPECT_ERROR', 'EXPECT_EQ'):
        while found := re.search(rf'\b{macro}\(', code):
            end = close_of(code, found.end() - 1)
            inner = code[found.end() : end]
            after = re.match(r';( *//[^\n]*)?', code[end + 1 :])
            if macro in ('EXPECT_ERROR', 'EXPECT_EQ'):
                comma = last_comma(inner)
                value = inner[comma + 1 :].strip()
                note = ';' if value == '0' else f'; // {value}'
                more = (after[1] or "") if after else ""
                if '//' in note:
                    more = re.sub(' *//', ',', more, count=1)
                inner, note = inner[:comma], note + more
            else:
                note = after[0] if after else ''
            rest = code[end + 1 + (len(after[0]) if after else 0) :]
            inner = re.sub(r'\s*\n\s*', ' ', inner.strip())
            code = code[: found.start()] + inner + note + rest
    return re.sub(r'^ *EXPECT(_NO_DIAGNOSTIC|_DIAGNOSTIC)?\(.*?\);[^\n]*\n', '', code, flags=re.M)


def read():
    """{(id, 'wrong' or 'right'): Snippet} of all marked regions."""
    found = {}
    for path in SOURCES:
        with open(os.path.join(ROOT, path), encoding='utf-8') as f:
            text = f.read()
        if len(MARK.findall(text)) != len(re.findall(r'^ *// \[end\]$', text, re.M)):
            raise ValueError(f'{path}: a marked region does not parse')
        for m in MARK.finditer(text):
            test = re.findall(
                r'^(?:TEST\(|static .*?\b)(\w+)\)?(?:\(.*\))?\n\{', text[: m.start()], re.M
            )
            code = without_macros(textwrap.dedent(m[4])).strip()
            for name in m[2].split():
                if (name, m[3]) in found:
                    raise ValueError(f'{path}: a second snippet for {name} {m[3]}')
                found[name, m[3]] = Snippet(code, path, test[-1])
    return found


def helpers_of(snippets):
    """The helpers that the snippets call; fails if one is not described."""
    known = {h.split('(')[0]: h for h in HELPERS}
    used = set()
    for s in snippets.values():
        code = re.sub(r'//[^\n]*', '', s.code)
        used |= {
            f
            for f in re.findall(r'\b([a-z_]\w*) ?\(', code)
            if not re.match(r'(cu|vk|gl|cardless)[A-Z]', f)
        }
    unknown = used - set(known) - {'if', 'for', 'sizeof', 'close', 'dup', 'eventfd', 'memset'}
    if unknown:
        raise ValueError(f'tools/gen/snippets.py does not describe: {sorted(unknown)}')
    return {h: text for h, text in HELPERS.items() if h.split('(')[0] in used}
