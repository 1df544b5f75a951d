// SPDX-License-Identifier: MIT
// CARDLESS_VULKAN_MEMORY=noncoherent: shows host-coherent memory types as non-coherent ones (and,
// after them, as what they are), and makes them so: what the host writes reaches the memory with
// vkFlushMappedMemoryRanges, what others wrote reaches the host with
// vkInvalidateMappedMemoryRanges.
#pragma once
#include "record.h"

// The index in the driver's table for one of the table that the program saw; *noncoherent: it was
// shown as that.
uint32_t vl_memory_type(const struct vl_device *device, uint32_t shown, bool *noncoherent);
// The first range of unflushed host writes inside [offset, offset + size). Precondition:
// vl_record_lock held.
bool vl_shadow_unflushed(const struct vl_shadow *shadow, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end);
void vl_shadow_finish(struct vl_shadow *shadow);
