// SPDX-License-Identifier: MIT
// Copies of structs that the program passes to a submission, with everything that they point to.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

// Everything that was copied for one batch.
struct vl_copies {
    struct vl_copy *first;
    bool failed; // memory ran out
};

// Returns a copy of an array; NULL if it is empty, or if memory runs out, which `copies` notes.
void *vl_copy(struct vl_copies *copies, const void *from, size_t count, size_t size);
void vl_copies_free(struct vl_copies *copies);

// Replaces a pointer to an array by one to a copy.
#define VL_COPY(copies, pointer, count)                                                            \
    ((pointer) = vl_copy(copies, pointer, count, sizeof *(pointer)))

// Replaces a pNext chain by a copy. Structs that the layer does not know are left out, which is
// reported once. The order of the structs changes.
void vl_copy_chain(struct vl_copies *copies, const void **chain);
