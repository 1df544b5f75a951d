// SPDX-License-Identifier: MIT
// Textures and surfaces of launches.
#include "launch_object.h"

#include <string.h>

#include "kernel_object.h"
#include "lock.h"
#include "program.h"

unsigned em_launch_references_count(const struct em_code *code)
{
    em_assert_locked();
    unsigned count = 0;
    for (uint32_t i = 0; i < code->objects->count; i++)
        count += code->objects->list[i].variable != PX_NONE;
    return count;
}

CUresult em_launch_references(const struct em_function *f, struct em_launch_reference *out)
{
    em_assert_locked();
    const struct px_object_uses *uses = f->code->objects;
    unsigned count = 0;
    for (uint32_t i = 0; i < uses->count; i++) {
        const uint32_t variable = uses->list[i].variable;
        if (variable == PX_NONE)
            continue;
        out[count] = (struct em_launch_reference){.number = EM_REFERENCE_NUMBER(variable)};
        CUresult r = em_kernel_reference(uses->list[i].kind, f->module->references[variable],
                                         &out[count].object);
        if (r) {
            em_launch_references_drop(out, count);
            return r;
        }
        count++;
    }
    return CUDA_SUCCESS;
}

void em_launch_references_drop(struct em_launch_reference *list, unsigned count)
{
    em_assert_locked();
    for (unsigned i = 0; i < count; i++)
        if (list[i].object)
            em_object_unref(list[i].object);
}

// The object that an argument names, or NULL.
static struct em_texture *named_object(const struct em_function *f, const struct px_object_use *use,
                                       const unsigned char *arguments)
{
    uint64_t handle;
    memcpy(&handle, arguments + use->argument_B, sizeof handle);
    return em_kernel_object(f->object.context, use->kind, handle);
}

unsigned em_launch_objects(const struct em_function *f, const unsigned char *arguments,
                           const struct em_launch_reference *references, struct em_access *to)
{
    em_assert_locked();
    const struct px_object_uses *uses = f->code->objects;
    unsigned count = 0;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct px_object_use *use = &uses->list[i];
        struct em_texture *t = use->variable == PX_NONE
                                   ? named_object(f, use, arguments)
                                   : (struct em_texture *)(references++)->object;
        if (t)
            count += em_kernel_object_accesses(t, use->writes, to ? to + count : NULL);
    }
    if (uses->other)
        count +=
            em_kernel_object_watched(f->object.context, uses->other_writes, to ? to + count : NULL);
    return count;
}
