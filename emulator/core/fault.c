// SPDX-License-Identifier: MIT
// What a fault in memory of the device means for the command that met it.
#include "fault.h"

#include "error.h"

CUresult em_device_fault(const char *what, const struct dm_fault *fault, bool may_fault)
{
    const char *why = "device memory went away meanwhile";
    char text[160];
    if (fault->kind == DM_FAULT_TRUNCATED)
        why = "the file behind this memory has been truncated by whoever made it";
    else if (may_fault && fault->write && fault->kind == DM_FAULT_PROTECTED)
        why = "the descriptor of this imported memory was open for reading only, or sealed against "
              "writes";
    dm_fault_text(fault, text, sizeof text);
    return em_fail(CUDA_ERROR_ILLEGAL_ADDRESS, "%s met with a fault: %s: %s", what, text, why);
}
