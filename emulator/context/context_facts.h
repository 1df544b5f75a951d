// SPDX-License-Identifier: MIT
// What can be asked and set of a context. A NULL handle means the current one, which there is.
#pragma once
#include "context.h"

// Precondition of all: em_lock NOT held.
CUresult em_context_device(CUcontext handle, CUdevice *out);
CUresult em_context_id(CUcontext handle, unsigned long long *out);
CUresult em_context_api_version(CUcontext handle, unsigned *out);
// CU_CTX_* of the current context. Whether host memory can be mapped, and whether there are core
// dumps, is settled when the context is made: those bits stay as they are.
unsigned em_context_flags(void);
void em_context_set_flags(unsigned flags);
CUfunc_cache em_context_cache_config(void);
void em_context_set_cache_config(CUfunc_cache config);
