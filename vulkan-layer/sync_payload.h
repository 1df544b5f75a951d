// SPDX-License-Identifier: MIT
// Payloads: the state of semaphores and fences that this layer provides, in memory that processes
// share (shared_semaphore.h). A semaphore, a fence or a pending submission holds references.
#pragma once
#include <vulkan/vulkan.h>

#include "import.h"
#include "shared_semaphore.h"

struct vl_payload {
    struct dm_semaphore semaphore;
    struct dm_fd_identity file; // exported as duplicates of this descriptor
    unsigned references;        // atomic
};

// Creates a payload with one reference. A fence is a binary payload.
VkResult vl_payload_create(enum dm_semaphore_kind kind, uint64_t value, struct vl_payload **out);
// Opens the payload of a descriptor. On success the descriptor belongs to the layer, which has
// closed it. Returns VK_ERROR_INVALID_EXTERNAL_HANDLE if it is not a payload of this kind.
VkResult vl_payload_import(int fd, enum dm_semaphore_kind kind, struct vl_payload **out);
// Returns a new descriptor, which belongs to the caller.
VkResult vl_payload_export(const struct vl_payload *payload, int *fd);

// Take and drop references. NULL is allowed.
struct vl_payload *vl_payload_take(struct vl_payload *payload);
void vl_payload_drop(struct vl_payload *payload);
