// SPDX-License-Identifier: MIT
// CARDLESS_VULKAN_MEMORY=noncoherent: presents host-coherent memory types as non-coherent ones,
// then lists the original types once more. Memory of the non-coherent types behaves accordingly:
// host writes reach it with vkFlushMappedMemoryRanges, and other writes reach the host with
// vkInvalidateMappedMemoryRanges.
#pragma once
#include "record.h"

// Converts the index of a memory type that the program saw to the driver's. Sets *noncoherent if
// the type was presented as non-coherent.
uint32_t vl_memory_type(const struct vl_device *device, uint32_t shown, bool *noncoherent);
// Finds the first range of unflushed host writes inside [offset, offset + size). Precondition:
// vl_record_lock held.
bool vl_shadow_unflushed(const struct vl_shadow *shadow, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end);
void vl_shadow_finish(struct vl_shadow *shadow);
