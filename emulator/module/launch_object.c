// SPDX-License-Identifier: MIT
// Textures and surfaces of launches.
#include "launch_object.h"

#include <string.h>

#include "kernel_object.h"
#include "lock.h"
#include "program.h"

static CUresult find(const struct em_function *f, const struct px_object_use *use,
                     const unsigned char *arguments, struct em_launch_object *out)
{
    *out = (struct em_launch_object){.kind = use->kind};
    if (use->variable != PX_NONE) {
        out->handle = EM_REFERENCE_NUMBER(use->variable);
        return em_kernel_reference(use->kind, f->module->references[use->variable], &out->object);
    }
    memcpy(&out->handle, arguments + use->argument_B, sizeof out->handle);
    struct em_texture *t = em_kernel_object(f->object.context, use->kind, out->handle);
    if (t) {
        out->object = em_kernel_object_base(t);
        em_object_ref(out->object);
    }
    return CUDA_SUCCESS;
}

CUresult em_launch_objects(const struct em_function *f, const unsigned char *arguments,
                           struct em_launch_object *out)
{
    em_assert_locked();
    const struct px_object_uses *uses = f->code->objects;
    for (uint32_t i = 0; i < uses->count; i++) {
        CUresult r = find(f, &uses->list[i], arguments, &out[i]);
        if (r) {
            em_launch_objects_drop(out, i);
            return r;
        }
    }
    return CUDA_SUCCESS;
}

void em_launch_objects_drop(struct em_launch_object *list, unsigned count)
{
    em_assert_locked();
    for (unsigned i = 0; i < count; i++)
        if (list[i].object)
            em_object_unref(list[i].object);
}

unsigned em_launch_object_accesses(const struct em_function *f,
                                   const struct em_launch_object *objects, struct em_access *to)
{
    em_assert_locked();
    const struct px_object_uses *uses = f->code->objects;
    unsigned count = 0;
    for (uint32_t i = 0; i < uses->count; i++)
        if (objects[i].object)
            count += em_kernel_object_accesses((struct em_texture *)objects[i].object,
                                               uses->list[i].writes, to ? to + count : NULL);
    if (uses->other)
        count +=
            em_kernel_object_watched(f->object.context, uses->other_writes, to ? to + count : NULL);
    return count;
}
