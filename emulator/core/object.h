// SPDX-License-Identifier: MIT
// Objects and their handles. A handle looks like a pointer, but nothing dereferences it (object.c).
// So a stale, foreign or random handle is detected, and the message explains it. A destroyed object
// leaves its history in its slot until the slot is reused, which happens as late as possible.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "lock.h"

struct em_context;

// The complete list of object types: the name in enum em_type, and the name in the manual.
#define EM_TYPES(X)                                                                                \
    X(CONTEXT, "CUcontext")                                                                        \
    X(STREAM, "CUstream")                                                                          \
    X(EVENT, "CUevent")                                                                            \
    X(ARRAY, "CUarray")                                                                            \
    X(MIPMAP, "CUmipmappedArray")                                                                  \
    X(EXTERNAL_MEMORY, "CUexternalMemory")                                                         \
    X(EXTERNAL_SEMAPHORE, "CUexternalSemaphore")                                                   \
    X(GRAPHICS, "CUgraphicsResource")                                                              \
    X(PHYSICAL, "CUmemGenericAllocationHandle")                                                    \
    X(POOL, "CUmemoryPool")                                                                        \
    X(TEXTURE, "CUtexObject")                                                                      \
    X(SURFACE, "CUsurfObject")                                                                     \
    X(TEXTURE_REFERENCE, "CUtexref")                                                               \
    X(SURFACE_REFERENCE, "CUsurfref")                                                              \
    X(MODULE, "CUmodule")                                                                          \
    X(FUNCTION, "CUfunction")                                                                      \
    X(LIBRARY, "CUlibrary")                                                                        \
    X(KERNEL, "CUkernel")                                                                          \
    X(KERNEL_HEAP, "the heap of kernels")                                                          \
    X(LINK, "CUlinkState")                                                                         \
    X(GRAPH, "CUgraph")                                                                            \
    X(GRAPH_NODE, "CUgraphNode")                                                                   \
    X(GRAPH_EXEC, "CUgraphExec")                                                                   \
    X(GRAPH_CONDITIONAL, "CUgraphConditionalHandle")                                               \
    X(USER_OBJECT, "CUuserObject")                                                                 \
    X(LOG_CALLBACK, "CUlogsCallbackHandle")                                                        \
    X(ASYNC_CALLBACK, "CUasyncCallbackHandle")                                                     \
    X(VIRTUAL_BUFFER, "cardlessBuffer")                                                            \
    X(VIRTUAL_TEXTURE, "cardlessTexture")                                                          \
    X(VIRTUAL_SEMAPHORE, "cardlessSemaphore")                                                      \
    X(EGL_STREAM, "EGLStreamKHR")                                                                  \
    X(EGL_CONNECTION, "CUeglStreamConnection")                                                     \
    X(EGL_FRAME, "CUgraphicsResource of an EGLStreamKHR")

enum em_type {
    EM_NO_TYPE,
#define X(name, text) EM_##name,
    EM_TYPES(X)
#undef X
        EM_TYPE_COUNT
};

// The reason why an object ended. Code should decide by this reason, and not by the name of the
// call.
enum em_end_reason {
    EM_END_NONE,    // the object is alive or unknown
    EM_END_CALL,    // the call that destroys objects of its type
    EM_END_CONTEXT, // the end of its context
    EM_END_MIPMAP,  // a mip level ends with its mipmapped array
    EM_END_UNMAP,   // an array of a graphics resource ends with its mapping or registration
};

// Calls pin an object without the lock, by a word that contains the generation of its slot (24
// bits), a bit that is set while the handle is valid, and the number of calls that are using the
// object (39 bits).
#define EM_PIN_VALID (UINT64_C(1) << 39)
#define EM_PIN_COUNT (EM_PIN_VALID - 1)

// Embedded at the start of every object.
struct em_object {
    uint64_t handle;
    enum em_type type;
    uint32_t references; // the table has one while the handle is valid, and so has each command or
                         // object that uses this object
    uint64_t *pins;      // in its slot: see em_object_pin
    uint32_t number;     // the 12 in "CUarray #12"; counts the objects of a type from 1
    uint64_t born_call;  // the call that created the object (em_call_now)
    const char *born_by; // the entry point of that call
    struct em_context *context;
    struct em_object *previous, *next;  // in the list of the context, or of those without one
    void (*finish)(struct em_object *); // frees the object; called after the last reference is gone
};

// Gives `object` a handle and one reference, and adds it to the list of `context`, unless that is
// NULL. em_object_retire should end it later. Returns CUDA_ERROR_OUT_OF_MEMORY and leaves the
// object unchanged if it cannot get a slot. Precondition: em_lock held.
CUresult em_object_start(struct em_object *object, enum em_type type, struct em_context *context,
                         void (*finish)(struct em_object *));

// Makes the handle invalid, keeps its history, and drops the table's reference. Precondition:
// em_lock held.
void em_object_end(struct em_object *object, enum em_end_reason reason);
// em_object_end for the reason EM_END_CALL.
void em_object_retire(struct em_object *object);

// A reference keeps an object's memory alive, but not its handle. Precondition: em_lock held.
void em_object_ref(struct em_object *object);
void em_object_unref(struct em_object *object);

// The same for a shared call. em_object_unref_shared does nothing and returns false for the last
// reference. Precondition: em_lock held or shared.
void em_object_ref_shared(struct em_object *object);
bool em_object_unref_shared(struct em_object *object);

// Finds the object of a handle; `out` points to a pointer to the struct that embeds the object. If
// the handle is invalid, fails with `code` and a message that explains the number: NULL, an object
// of another type, an object that a call has destroyed, or not a handle at all. Precondition:
// em_lock held.
#define em_object_get(type, handle, code, out)                                                     \
    em_object_get_((type), (uint64_t)(uintptr_t)(handle), (code),                                  \
                   (struct em_object **)(void *)(out))
CUresult em_object_get_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out);

// As em_object_get, but without the lock. The object stays valid until em_object_unpin, even if
// another thread destroys it meanwhile. Each of the two functions costs one atomic operation, or
// zero if the process has a single thread. A pin should not outlast the call. Precondition: em_lock
// NOT held.
#define em_object_pin(type, handle, code, out)                                                     \
    em_object_pin_((type), (uint64_t)(uintptr_t)(handle), (code),                                  \
                   (struct em_object **)(void *)(out))
CUresult em_object_pin_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out);
// For a thread that uses one object again and again: notes an object, which is pinned, or of which
// the handle is valid and em_lock held.
static inline void em_object_note(struct em_pin_again *again, struct em_object *object)
{
    const uint64_t pins = __atomic_load_n(object->pins, __ATOMIC_RELAXED);
    *again = (struct em_pin_again){object->handle, (pins | EM_PIN_VALID) / EM_PIN_VALID,
                                   object->pins, object};
}
// Pins it without a search. Returns false if em_object_pin should search. Precondition: em_lock NOT
// held.
static inline bool em_object_pin_again(const struct em_pin_again *again, uint64_t handle)
{
    em_assert_unlocked();
    if (again->handle != handle || !handle)
        return false;
    uint64_t pins = __atomic_load_n(again->pins, __ATOMIC_ACQUIRE);
    if (pins / EM_PIN_VALID != again->alive)
        return false;
    if (!em_is_single_threaded())
        return __atomic_compare_exchange_n(again->pins, &pins, pins + 1, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    __atomic_store_n(again->pins, pins + 1, __ATOMIC_RELAXED);
    return true;
}

// Whether the handle is that of the object, and still valid. em_lock need not be held: then the
// answer may be out of date at once.
static inline bool em_object_is_again(const struct em_pin_again *again, uint64_t handle)
{
    return again->handle == handle && handle &&
           __atomic_load_n(again->pins, __ATOMIC_ACQUIRE) / EM_PIN_VALID == again->alive;
}

// Returns the object without a search, or NULL if it has another handle or is not alive any more.
// Precondition: em_lock held.
static inline struct em_object *em_object_again(const struct em_pin_again *again, uint64_t handle)
{
    em_assert_locked();
    return em_object_is_again(again, handle) ? again->object : NULL;
}

// Frees an object that em_object_unpin has found to be the last user of.
void em_object_free_unpinned(struct em_object *object) __attribute__((cold));
static inline __attribute__((always_inline)) void em_object_unpin(struct em_object *object)
{
    em_assert_unlocked();
    const uint64_t before = em_count(object->pins, (uint64_t)-1);
    if (__builtin_expect(!(before & EM_PIN_VALID || (before & EM_PIN_COUNT) > 1), 0))
        em_object_free_unpinned(object);
}

// Returns the object of a handle, or NULL without a report, for callers that only want to know
// whether a number is a handle. Precondition: em_lock held or shared.
struct em_object *em_object_peek(enum em_type type, uint64_t handle);

// Writes "CUarray #12 (cuArray3DCreate, call 7)".
const char *em_object_text(const struct em_object *object, char *out, size_t size);

// Describes a number for messages: "CUarray #12, which cuArrayDestroy destroyed in call 345".
// Precondition: em_lock held.
const char *em_handle_text(uint64_t handle, char *out, size_t size);

// Writes only the object's name: "CUarray #12", or "CUarray #12 (destroyed)" if an earlier call
// destroyed it. Returns false if the number is not a known handle. Precondition: em_lock NOT held.
bool em_handle_name(uint64_t handle, char *out, size_t size);

// Returns true if the number was the handle of an object that has ended. Precondition: em_lock
// held.
bool em_handle_was(uint64_t handle);

// Returns the reason why the object of this type and handle ended, or EM_END_NONE if its history is
// gone because its slot was reused. Precondition: em_lock held.
enum em_end_reason em_handle_end(enum em_type type, uint64_t handle);

const char *em_type_name(enum em_type type);

// Returns true if the number is or was the handle of an object of this type. Precondition: em_lock
// held.
bool em_handle_like(enum em_type type, uint64_t handle);

// Counts the live objects of a type, for reports and leak tests. Precondition: em_lock held.
uint64_t em_object_count(enum em_type type);

// Returns the next live object of a type, for reports and tests, or NULL at the end. *position
// should be 0 at first. Precondition: em_lock held.
struct em_object *em_object_next(enum em_type type, uint32_t *position);
// Returns the object at this position in the list of those that belong to no context, of all types,
// the newest first, or NULL at the end. Precondition: em_lock held.
struct em_object *em_object_without_context(uint32_t position);
