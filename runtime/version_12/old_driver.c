// SPDX-License-Identifier: MIT
// Finds old forms of the driver's functions.
#include "old_driver.h"

#include <pthread.h>

#include "../rt.h"

static struct rt12_old functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static CUresult old_form_missing(void)
{
    return (CUresult)cudaErrorCallRequiresNewerDriver;
}

static void find_functions(void)
{
    void *symbol;
#define RT12_OLD(name, version)                                                                    \
    symbol = rt_driver_symbol(#name);                                                              \
    functions.old_##name = (PFN_##name##_v##version)(symbol ? symbol : (void *)old_form_missing);
    RT12_OLD_FUNCTIONS
#undef RT12_OLD
}

const struct rt12_old *rt12_old(void)
{
    pthread_once(&once, find_functions);
    return &functions;
}
