// SPDX-License-Identifier: MIT
// Reports a fault in device memory.
#include "fault.h"

#include "error.h"

CUresult em_device_fault(const char *operation, const struct dm_fault *fault, bool may_fault)
{
    const char *why = "the device memory became inaccessible during the operation";
    char text[160];
    if (fault->kind == DM_FAULT_TRUNCATED)
        why = "its exporter has truncated the file of this imported memory";
    else if (may_fault && fault->write && fault->kind == DM_FAULT_PROTECTED)
        why = "the file of this imported memory is open for reading only, or sealed against writes";
    dm_fault_text(fault, text, sizeof text);
    return em_fail(CUDA_ERROR_ILLEGAL_ADDRESS, "%s caused a fault: %s: %s", operation, text, why);
}
