// SPDX-License-Identifier: MIT
// Reports a fault in memory that the driver knows.
#include "memory_fault.h"

#include "error.h"
#include "lock.h"
#include "memory.h"

// Precondition: em_lock held.
static const char *fault_reason(const struct dm_fault *fault, bool may_fault)
{
    em_assert_locked();
    const struct em_allocation *a = em_memory_find(fault->address, 1);
    if (a && a->kind == EM_MEMORY_REGISTERED)
        return "the program has unmapped, protected or truncated this registered memory; keep it "
               "until cuMemHostUnregister";
    // Arrays are in no allocation.
    if (fault->kind == DM_FAULT_TRUNCATED)
        return a && !em_memory_may_fault(a)
                   ? "the host is out of memory for it"
                   : "its exporter has truncated the file of this imported memory";
    const bool is_imported = a ? em_memory_may_fault(a) : may_fault;
    if (is_imported && fault->write && fault->kind == DM_FAULT_PROTECTED)
        return "the file of this imported memory is open for reading only, or sealed against "
               "writes";
    return "the device memory became inaccessible during the operation";
}

CUresult em_device_fault(const char *operation, const struct dm_fault *fault, bool may_fault)
{
    em_assert_unlocked();
    char text[160];
    em_lock();
    const char *reason = fault_reason(fault, may_fault);
    em_unlock();
    dm_fault_text(fault, text, sizeof text);
    return em_fail(CUDA_ERROR_ILLEGAL_ADDRESS, "%s caused a fault: %s: %s", operation, text,
                   reason);
}
