// SPDX-License-Identifier: MIT
// The state of a thread, and messages about rows without a body.
#include "thread.h"

#include <stdatomic.h>

#include "entry.h"

__thread struct rt_thread rt_this_thread;

void rt_thread_start(struct rt_thread *self)
{
    const struct rt_entry **(*this_caller)(void) =
        (const struct rt_entry **(*)(void))rt_driver_symbol("cardlessThisCaller");
    const void **(*this_call_site)(void) =
        (const void **(*)(void))rt_driver_symbol("cardlessThisCallSite");
    self->call_site = this_call_site ? this_call_site() : &self->nowhere;
    atomic_signal_fence(memory_order_seq_cst);
    self->caller = this_caller ? this_caller() : &self->unnamed; // last: rt_begin looks at this one
}

cudaError_t rt_unsupported(const struct rt_entry *entry, bool *said)
{
    if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
        return cudaErrorNotSupported;
    return rt_fail(cudaErrorNotSupported, "Cardless does not implement %s", entry->name);
}
