// SPDX-License-Identifier: MIT
// Records arrays and their layouts (record.h). To be called only if em_recording is set.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_storage;

void em_record_array(uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                     const struct em_storage *storage, uint32_t level) __attribute__((cold));
// Records the bytes of an array's memory. `call` is the call that ends it, or 0. To be called only
// if em_recording_contents is set. Precondition: em_lock held.
void em_record_texels(const struct em_storage *storage, uint64_t call) __attribute__((cold));
// The same for all arrays that the run leaves behind. Takes the lock.
void em_record_texels_left(void) __attribute__((cold));
