// SPDX-License-Identifier: MIT
// Finds old forms of the driver's functions.
#include "old_driver.h"

#include "../rt.h"

static struct rt12_old functions;
static bool found;

static CUresult old_form_missing(void)
{
    return (CUresult)cudaErrorCallRequiresNewerDriver;
}

// Takes no lock, so that a signal handler may look the functions up as well. Threads that do it at
// the same time find the same ones.
static void find_functions(void)
{
    void *symbol;
#define RT12_OLD(name, version)                                                                    \
    symbol = rt_driver_symbol(#name);                                                              \
    __atomic_store_n(&functions.old_##name,                                                        \
                     (PFN_##name##_v##version)(symbol ? symbol : (void *)old_form_missing),        \
                     __ATOMIC_RELAXED);
    RT12_OLD_FUNCTIONS
#undef RT12_OLD
    __atomic_store_n(&found, true, __ATOMIC_RELEASE);
}

const struct rt12_old *rt12_old(void)
{
    if (!__atomic_load_n(&found, __ATOMIC_ACQUIRE))
        find_functions();
    return &functions;
}
