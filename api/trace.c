// SPDX-License-Identifier: MIT
// Names of handles for the trace.
#include <cuda.h>
#include <stdio.h>

#include "describe.h"
#include "function.h"
#include "object.h"
#include "trace_handles.h"

bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size)
{
    if (type == EM_STREAM && handle == (uintptr_t)CU_STREAM_LEGACY) {
        snprintf(out, size, "CU_STREAM_LEGACY");
        return true;
    }
    if (type == EM_STREAM && handle == (uintptr_t)CU_STREAM_PER_THREAD) {
        snprintf(out, size, "CU_STREAM_PER_THREAD");
        return true;
    }
    if ((type == EM_FUNCTION || type == EM_KERNEL) && em_function_text(handle, out, size))
        return true;
    return em_handle_name(handle, out, size);
}
