// SPDX-License-Identifier: MIT
// The backend of OpenGL, for the files that register objects. The functions implement
// em_graphics_ops, whose comments say when they are called.
#pragma once
#include "gl_shadow.h"
#include "graphics.h"

struct em_gl_old;

// The owner of a graphics resource.
struct em_gl_resource {
    struct em_gl_shadow *shadow; // a reference
    bool mapped;
    struct em_gl_old *old; // of the calls of CUDA 2, or NULL
};

enum em_graphics_status em_gl_resource_check(void *owner);
const char *em_gl_resource_text(void *owner, char *out, size_t capacity);
CUresult em_gl_resource_acquire(void *owner, uint64_t sequence, unsigned flags);
void em_gl_resource_written(void *owner, const struct em_graphics_part *part, CUresult result);
void em_gl_resource_make_resident(void *owner, const struct em_graphics_part *part,
                                  enum em_access_mode mode);
bool em_gl_resource_copy_directly(void *owner, const struct em_graphics_part *part, bool write,
                                  const struct em_rows *rows);
bool em_gl_resource_discard(void *owner);
CUresult em_gl_resource_release(void *owner, uint64_t sequence, bool write_back);
bool em_gl_resource_is_clean(void *owner);
void em_gl_resource_copied(void *owner, uint64_t *to_cuda_B, uint64_t *to_graphics_B);
void em_gl_resource_close(void *owner);

// The operations that all registered objects share.
#define EM_GL_RESOURCE_OPS                                                                         \
    .check = em_gl_resource_check, .text = em_gl_resource_text, .acquire = em_gl_resource_acquire, \
    .make_resident = em_gl_resource_make_resident, .written = em_gl_resource_written,              \
    .copy_directly = em_gl_resource_copy_directly, .discard = em_gl_resource_discard,              \
    .release = em_gl_resource_release, .is_clean = em_gl_resource_is_clean,                        \
    .copied = em_gl_resource_copied, .close = em_gl_resource_close

// Registers an open object with the core. Takes ownership of the object, also on failure. Takes
// em_lock.
CUresult em_gl_resource_enter(const struct em_graphics_ops *ops, struct em_gl_object *object,
                              struct em_graphics_shape *shape, unsigned flags,
                              CUgraphicsResource *out);
// How CUDA shows an image that is registered for a target.
struct em_graphics_shape em_gl_resource_shape_of(const struct em_gl_image *image, unsigned target);
