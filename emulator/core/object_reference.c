// SPDX-License-Identifier: MIT
// References to objects, which keep their memory alive after their handles have ended.
#include "context_base.h"
#include "lock.h"
#include "object.h"

void em_object_ref(struct em_object *object)
{
    em_assert_locked();
    object->references++;
}

void em_object_unref(struct em_object *object)
{
    em_assert_locked();
    if (--object->references)
        return;
    struct em_context *context = object->context;
    object->finish(object);
    if (context)
        em_object_unref(&em_context_base(context)->object);
}

void em_object_ref_shared(struct em_object *object)
{
    em_assert_readable();
    __atomic_fetch_add(&object->references, 1, __ATOMIC_RELAXED);
}

bool em_object_unref_shared(struct em_object *object)
{
    em_assert_readable();
    uint32_t before = __atomic_load_n(&object->references, __ATOMIC_RELAXED);
    while (before > 1)
        if (__atomic_compare_exchange_n(&object->references, &before, before - 1, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    return false;
}
