// SPDX-License-Identifier: MIT
// Textures and surfaces for kernels, which name them by handles.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kn_lanes.h"
#include "object.h"

// Finds the object that a kernel of `context` means by a handle. Returns the struct kn_texture or
// kn_image that describes it, and takes a reference to *object, which keeps it valid. Returns NULL
// if there is no such object, or if kernels cannot access its memory. Precondition: em_lock held.
const void *em_kernel_object(const struct em_context *context, enum kn_object_kind kind,
                             uint64_t handle, struct em_object **object);
// Writes a sentence about a handle that em_kernel_object has not found. Precondition: em_lock held.
void em_kernel_object_text(const struct em_context *context, enum kn_object_kind kind,
                           uint64_t handle, char *out, size_t size_B);
