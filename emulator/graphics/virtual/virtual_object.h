// SPDX-License-Identifier: MIT
// Buffers and textures of the virtual graphics API, for the files that make them, work on them and
// register them.
#pragma once
#include <stdbool.h>

#include "lock.h"
#include "object.h"
#include "virtual_graphics.h"
#include "virtual_storage.h"

struct em_virtual_object {
    struct em_object object; // type EM_VIRTUAL_BUFFER or EM_VIRTUAL_TEXTURE
    struct em_virtual_storage *storage;
};

static inline enum em_type em_virtual_type(enum em_virtual_kind kind)
{
    return kind == EM_VIRTUAL_BUFFER_OBJECT ? EM_VIRTUAL_BUFFER : EM_VIRTUAL_TEXTURE;
}

// Precondition: em_lock held.
static inline CUresult em_virtual_get(enum em_virtual_kind kind, uint64_t handle,
                                      struct em_virtual_object **out)
{
    em_assert_locked();
    return em_object_get(em_virtual_type(kind), handle, CUDA_ERROR_INVALID_HANDLE, out);
}

// Whether the use of mapped objects is reported: under `manual`, not under `driver-580`.
bool em_virtual_is_strict(void);
