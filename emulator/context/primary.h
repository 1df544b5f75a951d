// SPDX-License-Identifier: MIT
// Primary contexts. Each device has one, with a usage count. Its handle stays the same until the
// process exits.
#pragma once
#include "context.h"

// Precondition of all but the last: em_lock NOT held.
CUresult em_primary_retain(struct em_device *device, CUcontext *out);
// Returns CUDA_ERROR_INVALID_CONTEXT if the primary context is not retained.
CUresult em_primary_release(struct em_device *device);
bool em_primary_retained(struct em_device *device);
CUresult em_primary_reset(struct em_device *device);
// The caller has checked the flags.
CUresult em_primary_set_flags(struct em_device *device, unsigned flags);
void em_primary_state(struct em_device *device, unsigned *flags, int *active);

// Ends an active primary context. Precondition: em_lock held, which is released meanwhile.
void em_primary_end(struct em_context *context);
