// SPDX-License-Identifier: MIT
// Texts about objects and handles, and the questions that messages ask about handles that are not
// valid.
#include <stdio.h>

#include "call.h"
#include "describe.h"
#include "error.h"
#include "lock.h"
#include "object_facts.h"

const char *em_type_name(enum em_type type)
{
    static const char *const names[EM_TYPE_COUNT] = {"no type",
#define X(name, text) text,
                                                     EM_TYPES(X)
#undef X
    };
    return (unsigned)type < EM_TYPE_COUNT ? names[type] : "no type";
}

const char *em_object_text(const struct em_object *object, char *out, size_t size)
{
    char born[64];
    em_call_text(object->born_call, born, sizeof born);
    snprintf(out, size, "%s #%u (%s, %s)", em_type_name(object->type), object->number,
             object->born_by, born);
    return out;
}

const char *em_handle_text(uint64_t handle, char *out, size_t size)
{
    em_assert_locked();
    struct em_handle_facts f;
    char when[64];
    if (!handle) {
        snprintf(out, size, "NULL");
    } else if (!em_handle_facts(handle, &f)) {
        snprintf(out, size, "%#llx, which is not a handle of this driver",
                 (unsigned long long)handle);
    } else if (f.object) {
        em_object_text(f.object, out, size);
    } else if (f.is_last) {
        em_call_text(f.died_call, when, sizeof when);
        snprintf(out, size, "%s #%u, which %s destroyed in %s", em_type_name(f.type), f.number,
                 f.died_by, when);
    } else {
        snprintf(out, size, "%#llx, a %s that was destroyed long ago", (unsigned long long)handle,
                 em_type_name(f.named_type));
    }
    return out;
}

bool em_handle_name(uint64_t handle, char *out, size_t size)
{
    em_assert_unlocked();
    em_lock_briefly();
    struct em_handle_facts f;
    const bool known = em_handle_facts(handle, &f) && (f.object || f.is_last);
    if (known) {
        const bool ended_before = !f.object && f.died_call != em_call_now();
        snprintf(out, size, "%s #%u%s", em_type_name(f.object ? f.object->type : f.type),
                 f.object ? f.object->number : f.number, ended_before ? " (destroyed)" : "");
    }
    em_unlock();
    return known;
}

CUresult em_object_get_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out)
{
    em_assert_locked();
    struct em_object *object = em_object_peek(type, handle);
    if (!object) {
        char text[256];
        const char *name = em_self.entry ? em_describe_handle_name(em_self.entry, type) : NULL;
        return em_fail_of(em_type_name(type), code, "%s (%s) is not a valid %s",
                          name ? name : "the handle", em_handle_text(handle, text, sizeof text),
                          em_type_name(type));
    }
    *out = object;
    return CUDA_SUCCESS;
}

bool em_handle_like(enum em_type type, uint64_t handle)
{
    em_assert_locked();
    struct em_handle_facts f;
    return em_handle_facts(handle, &f) && f.named_type == type;
}

bool em_handle_was(uint64_t handle)
{
    em_assert_locked();
    struct em_handle_facts f;
    return em_handle_facts(handle, &f) && !f.object;
}

enum em_end_reason em_handle_end(enum em_type type, uint64_t handle)
{
    em_assert_locked();
    struct em_handle_facts f;
    const bool known = em_handle_facts(handle, &f) && f.is_last && f.type == type;
    return known ? f.end : EM_END_NONE;
}
