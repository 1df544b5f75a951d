// SPDX-License-Identifier: MIT
// Finds the textures and surfaces that kernels use.
#include "kernel_object.h"

#include <stdio.h>

#include "array_storage.h"
#include "lock.h"
#include "texture_object.h"

static enum em_type type_of(enum kn_object_kind kind)
{
    return kind == KN_OBJECT_TEXTURE ? EM_TEXTURE : EM_SURFACE;
}

const void *em_kernel_object(const struct em_context *context, enum kn_object_kind kind,
                             uint64_t handle, struct em_object **object)
{
    em_assert_locked();
    struct em_texture *t = (struct em_texture *)em_object_peek(type_of(kind), handle);
    if (!t || t->object.context != context || !t->usable ||
        (t->storage && t->storage->poison_reason))
        return NULL;
    em_object_ref(&t->object);
    *object = &t->object;
    return kind == KN_OBJECT_SURFACE ? (const void *)&t->image : &t->sampled;
}

void em_kernel_object_text(const struct em_context *context, enum kn_object_kind kind,
                           uint64_t handle, char *out, size_t size_B)
{
    em_assert_locked();
    char text[160];
    const struct em_texture *t = (struct em_texture *)em_object_peek(type_of(kind), handle);
    em_handle_text(handle, text, sizeof text);
    if (t && t->object.context != context)
        snprintf(out, size_B, "%s belongs to another context", text);
    else if (t && t->storage && t->storage->poison_reason)
        snprintf(out, size_B, "%s shows %s", text, t->storage->poison_reason);
    else
        snprintf(out, size_B, "%s", text);
}
