// SPDX-License-Identifier: MIT
// The state of a thread, and messages about rows without a body.
#include "thread.h"

#include "entry.h"

__thread struct rt_thread rt_this_thread;

void rt_thread_start(struct rt_thread *self)
{
    const bool named = rt_driver_is_loaded() && rt_cardless.cardlessThisCaller;
    const bool located = named && rt_cardless.cardlessThisCallSite;
    self->call_site = located ? rt_cardless.cardlessThisCallSite() : &self->nowhere;
    atomic_signal_fence(memory_order_seq_cst); // rt_begin looks at `caller`
    self->caller =
        named ? (const struct rt_entry **)rt_cardless.cardlessThisCaller() : &self->unnamed;
}

cudaError_t rt_unsupported(const struct rt_entry *entry, bool *said)
{
    if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
        return cudaErrorNotSupported;
    return rt_fail(cudaErrorNotSupported, "Cardless does not implement %s", entry->name);
}
