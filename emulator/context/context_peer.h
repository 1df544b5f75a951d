// SPDX-License-Identifier: MIT
// Peer access: the permission of one context to use the memory of another.
#pragma once
#include <cuda.h>

struct em_context;

// cuCtxEnablePeerAccess and cuCtxDisablePeerAccess, for the current context.
// Precondition: em_lock NOT held.
CUresult em_context_enable_peer(CUcontext peer);
CUresult em_context_disable_peer(CUcontext peer);

// Removes every permission that a context has or has given, because it ends.
// Precondition: em_lock held.
void em_context_forget_peers(struct em_context *context);
