// SPDX-License-Identifier: MIT
// A library with thread-local state of its own, which thread_state.c loads in several ways.
#include "thread_state_library.h"

#include <errno.h>

#include "guard.h"
#include "thread_state.h"

struct state {
    long value;
};
DM_DECLARE_THREAD_STATE(struct state, library_thread)
DM_DEFINE_THREAD_STATE(struct state, library_thread)

static void read_nothing(void *address)
{
    (void)*(volatile char *)address;
}

bool library_try(long value, bool *found)
{
    struct dm_fault fault = {0};
    struct state *state = library_thread();
    if (state->value)
        return false; // of another thread
    state->value = value;
#if defined(__x86_64__)
    *found = library_thread_offset;
    if (library_thread_by_descriptor() != state)
        return false;
#else
    *found = false;
#endif
    return !dm_guard_init() && dm_guarded(read_nothing, (void *)16, &fault) == -EFAULT &&
           fault.address == 16 && library_thread()->value == value;
}
