// SPDX-License-Identifier: MIT
// The properties of a context that a program can get and set. A NULL handle means the current
// context; the caller has checked that a context is current.
#pragma once
#include "context.h"

// Precondition of all: em_lock NOT held.
CUresult em_context_device(CUcontext handle, CUdevice *out);
CUresult em_context_id(CUcontext handle, unsigned long long *out);
CUresult em_context_api_version(CUcontext handle, unsigned *out);
// CU_CTX_* of the current context. The bits for mapped host memory and for core dumps cannot be
// changed after a context was created.
unsigned em_context_flags(void);
void em_context_set_flags(unsigned flags);
CUfunc_cache em_context_cache_config(void);
void em_context_set_cache_config(CUfunc_cache config);
