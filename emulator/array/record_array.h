// SPDX-License-Identifier: MIT
// Records arrays and their layouts (record.h). To be called only if em_recording is set.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_storage;

void em_record_array(uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                     const struct em_storage *storage, uint32_t level) __attribute__((cold));
