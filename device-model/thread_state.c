// SPDX-License-Identifier: MIT
// Finds out whether thread-local state has the same offset in all threads.
#include "thread_state.h"

#if defined(__x86_64__)

ptrdiff_t dm_thread_offset(dm_descriptor_fn *by_descriptor)
{
    const char *thread_pointer;
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
    struct dm_thread_address address = by_descriptor();
    ptrdiff_t offset = address.state - thread_pointer;
    // In a program that contains this library, the linker has put the offset in place of the
    // descriptor.
    if ((ptrdiff_t)address.descriptor == offset)
        return offset;
    // A descriptor is two words: a resolver and its argument. The argument is the offset if it is
    // the same in all threads, and otherwise a pointer. Only an offset can equal `offset`, because
    // a pointer plus the thread pointer is no valid address.
    return address.descriptor[1] == offset ? offset : 0;
}

#endif
