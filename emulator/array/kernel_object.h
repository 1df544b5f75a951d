// SPDX-License-Identifier: MIT
// Textures and surfaces for kernels, which name them by handles, or by the names of references.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kn_lanes.h"
#include "object.h"

struct em_access;
struct em_texture;

// All here have the precondition: em_lock held.

// Returns the texture or surface that a kernel of `context` means by a handle, or NULL if there is
// no such object, or if kernels cannot access its memory. Callers that keep it should take a
// reference to em_kernel_object_base().
struct em_texture *em_kernel_object(const struct em_context *context, enum kn_object_kind kind,
                                    uint64_t handle);
struct em_object *em_kernel_object_base(struct em_texture *texture);
// The struct kn_texture or kn_image that describes it.
const void *em_kernel_object_model(const struct em_texture *texture);
// Whether no object has or had this handle, and a card takes it for an object without memory. The
// model of such an object, which has no elements.
bool em_kernel_handle_is_empty(uint64_t handle);
const void *em_kernel_object_empty(enum kn_object_kind kind);
// Writes a sentence about a handle that em_kernel_object has not found.
void em_kernel_object_text(const struct em_context *context, enum kn_object_kind kind,
                           uint64_t handle, char *out, size_t size_B);

// Fills in the accesses of a kernel to the object's memory, one for each level, and returns their
// number. If `to` is NULL, only counts them.
unsigned em_kernel_object_accesses(struct em_texture *texture, bool writes, struct em_access *to);
// The same for all textures and surfaces of a context whose memory is watched: for kernels that
// read handles from memory. Surfaces are written if `writes` is set.
unsigned em_kernel_object_watched(const struct em_context *context, bool writes,
                                  struct em_access *to);

// Makes a texture or surface of what a reference is bound to now. It has no handle, and *out holds
// its one reference; NULL if the reference is bound to nothing that kernels can access.
CUresult em_kernel_reference(enum kn_object_kind kind, uint64_t handle, struct em_object **out);
