// SPDX-License-Identifier: MIT
// The functions of cardless.h for kernels that are functions of the host. Kernels call most of
// them, so these are not calls of the driver: they are neither counted nor traced.
#include <cardless.h>

#include "call.h"
#include "host_kernel.h"
#include "host_table.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cardlessModuleRegister(const cardlessModuleDesc *table)
{
    static const struct em_entry entry = {.name = "cardlessModuleRegister"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    CUresult r = em_permitted(self);
    if (!r)
        r = table ? em_host_table_register(table) : em_null("table");
    return em_end(self, outer, r);
}

EXPORT CUresult cardlessModuleUnregister(const cardlessModuleDesc *table)
{
    static const struct em_entry entry = {.name = "cardlessModuleUnregister"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    CUresult r = em_permitted(self);
    if (!r)
        r = table ? em_host_table_unregister(table) : em_null("table");
    return em_end(self, outer, r);
}

EXPORT const cardlessThread *cardlessThisThread(void)
{
    return em_host_thread();
}

EXPORT void cardlessBarrier(void)
{
    em_host_barrier(false);
}

EXPORT void cardlessGridBarrier(void)
{
    em_host_barrier(true);
}

EXPORT void *cardlessVariable(unsigned index)
{
    return em_host_variable(index);
}

EXPORT void cardlessTrap(void)
{
    em_host_trap();
}

EXPORT void cardlessAssertFailed(const char *assertion, const char *file, unsigned line,
                                 const char *function)
{
    em_host_assert(assertion, file, line, function);
}
