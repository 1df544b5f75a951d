#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which tests of a build folder tools/check runs, or which targets they need.

usage: checked_tests.py FOLDER plain|quick|asan|tsan|aarch64 [--long] [--targets]

A name stands on each line. Nothing is printed if all tests run and all targets are built. --long
leaves out only what cannot run. The lists below say what else is left out, and why.
"""
import json
import re
import sys


def names(text):
    return {' '.join(name.split()) for name in text.split(';')}


# The plain build runs what no sanitizer can find anything in: documents, generated files, programs
# of other people, and what a card answered. It does not repeat the cases with failing allocations,
# because AddressSanitizer finds more in them. `long` is for tests that install a lot.
PLAIN_SUITES_OUT = {'failures', 'long'}

# AddressSanitizer and UndefinedBehaviorSanitizer: what reaches code that no other test reaches. The
# recordings are compared in the plain build. They make the calls of tests/api with other arguments,
# so three are kept, which run each instruction, fetch and surface access. A million nodes find no
# more than a hundred do.
ASAN_SUITES_OUT = {'docs', 'exports', 'long', 'silicon', 'slow'}
ASAN_KEPT = {'recorded, x_ptx', 'recorded, x_surf', 'recorded, x_tex'}
# The same programs as for `manual`; the answers of the driver differ, and not the drawing. One
# program whose kernels draw is enough. Approximate functions are compared with a card's results.
# The pages of `cardless trace` and `cardless step` are written by the code that other tests run.
ASAN_NAMES_OUT = re.compile(r'(gl )?(one_process|two_processes|one_thread|two_threads|kernel_draws)'
                            r' driver-580|gl kernel_draws manual|approximate functions'
                            r'|cardless trace, runtime|cardless step, calls')

# ThreadSanitizer: programs that start threads, and those for which the driver does.
TSAN_TESTS = names('''
    device-model guard; device-model lock_order; device-model shared_semaphore; scheduler;
    scheduler-threads; workers; host-kernels; accesses; prepared-commands; lock; share;
    share-threads; context-end; thread state, inside; vulkan queues of a pretended driver;
    vulkan losses of a pretended driver; vulkan payloads of a pretended driver;
    vulkan presents of a pretended driver; vulkan memory of a pretended driver; array_map;
    calls-before-init; capture; contention; context; copy_large; egl_stream; external_semaphore;
    free_async; graph_conditional; graph_launch; graph_loop; graphics_order; graphics_random;
    host_waits; init; kernel; kernel_endless; kernel_exit; kernel_memory; module; order;
    order graph; order objects; order outside; order random; policy; ptx_async;
    ptx_cluster; ptx_deadlock; schedule; semaphore_processes; shared_event; stream_memory;
    streams; truncated;
    virtual_graphics; vmm; wild_pointers; spin; mistakes deadlocks; mistakes semaphores;
    mistakes vulkan order; gl two_threads manual; vulkan layer; vulkan semaphores;
    vulkan submissions; vulkan fences; vulkan processes; vulkan window; gl_between; gl_contexts;
    gl_direct_ends; gl_lifecycle; gl_order; gl_progress; gl_threads; gl_waiting; glx; runtime calls;
    runtime memory; runtime memory, per-thread; runtime registration; own_threads''')

# AArch64 under qemu-user: its differences from x86-64, which are SIMD code, signal handlers and
# its switches between stacks.
AARCH64_TESTS = names('''
    checkasm; cpu mask; device-model alloc; device-model guard; device-model pkey;
    device-model rangemap; device-model fiber; memory requirements; layout properties; tiling''')
# With --long also the driver on top of it. Qemu cannot start a second process (tests of ipc,
# import, vmm) or read its own memory through the kernel (calls-before-init). It needs minutes for
# the 80 GiB of addresses that each test of the heap, of pools and of all memory takes.
AARCH64_LONG_TESTS = AARCH64_TESTS | names('''
    format numbers; cardless layout; virtual-failures; scheduler; scheduler-scale; exported-names;
    proc-address; context; device; init; host; memset; managed; copy; copy_array; copy_batch;
    stream_memory; streams; mistakes import; mistakes buffers; mistakes images''')

# What tests load without depending on it: with AddressSanitizer a library, and Vulkan's layer with
# the file by which Vulkan finds it.
LOADED = {'keep_loaded', 'VkLayer_cardless', 'VkLayer_cardless.json'}


def read(folder, what):
    with open(f'{folder}/meson-info/intro-{what}.json', encoding='utf-8') as f:
        return json.load(f)


def runs(test, build, long=False):
    """Whether `build` runs a test."""
    name, suites = test['name'], {suite.split(':')[-1] for suite in test['suite']}
    if build == 'plain':
        return not suites & PLAIN_SUITES_OUT
    if build == 'asan':
        return name in ASAN_KEPT or not (suites & ASAN_SUITES_OUT or
                                         ASAN_NAMES_OUT.fullmatch(name))
    if build == 'tsan':
        return name in TSAN_TESTS
    return name in (AARCH64_LONG_TESTS if long else AARCH64_TESTS)


def main():
    folder, build = sys.argv[1:3]
    long = '--long' in sys.argv
    if build == 'quick' or (build != 'aarch64' and long):
        return
    tests = [test for test in read(folder, 'tests') if runs(test, build, long)]
    if '--targets' not in sys.argv:
        missing = {'tsan': TSAN_TESTS, 'aarch64': AARCH64_TESTS}.get(build, set()) - {
            test['name'] for test in tests}
        if missing:
            print(f'{build}: not built here:', *sorted(missing), file=sys.stderr)
        print('\n'.join(test['name'] for test in tests))
    elif build != 'plain':
        needed = {target for test in tests for target in test['depends']}
        for target in read(folder, 'targets'):
            if target['id'] in needed or (build != 'aarch64' and target['name'] in LOADED):
                print(target['filename'][0].removeprefix(f'{folder}/'))


if __name__ == '__main__':
    main()
