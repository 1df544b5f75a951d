// SPDX-License-Identifier: MIT
// Objects and their handles. A handle looks like a pointer, but is only a name (object.c): a
// stale, foreign or random one is detected and explained. A destroyed object leaves its history in
// its slot until the slot is used again, which is as late as possible.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_context;

// The closed list of object types: enum name, the name that users know, the manual's creating call
// in general.
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
    X(GRAPH, "CUgraph")                                                                            \
    X(GRAPH_NODE, "CUgraphNode")                                                                   \
    X(GRAPH_EXEC, "CUgraphExec")                                                                   \
    X(USER_OBJECT, "CUuserObject")                                                                 \
    X(VIRTUAL_BUFFER, "cardlessBuffer")                                                            \
    X(VIRTUAL_TEXTURE, "cardlessTexture")                                                          \
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

// How an object ended. Decisions are made on this, not on the name of the call.
enum em_end_reason {
    EM_END_NONE,    // it is alive, or nothing is known of it
    EM_END_CALL,    // by the call that destroys objects of its type
    EM_END_CONTEXT, // with its context
    EM_END_MIPMAP,  // a level: with its mipmapped array
    EM_END_UNMAP,   // an array of a graphics resource: with its mapping or registration
};

// Embedded at the start of every object.
struct em_object {
    uint64_t handle;
    enum em_type type;
    uint32_t references; // one of the table's while the handle is valid, one of each command or
                         // object that uses it
    uint32_t number;     // "CUarray #12": counts the objects of a type from 1
    uint64_t born_call;  // em_call_now() of its creation
    const char *born_by; // entry point that made it
    struct em_context *context;
    struct em_object *previous, *next;  // in the context's list of objects
    void (*finish)(struct em_object *); // frees what it holds and the object itself, when the last
                                        // reference goes
};

// Gives `object` a handle and one reference, and puts it into `context`'s list (may be NULL:
// belongs to none). Afterwards em_object_retire ends it. CUDA_ERROR_OUT_OF_MEMORY if no slot can be
// had; then the object is untouched. Precondition: em_lock held.
CUresult em_object_start(struct em_object *object, enum em_type type, struct em_context *context,
                         void (*finish)(struct em_object *));

// Makes the handle invalid, keeps its history, and drops the table's reference. Precondition:
// em_lock held.
void em_object_end(struct em_object *object, enum em_end_reason reason);
// The same for EM_END_CALL.
void em_object_retire(struct em_object *object);

// References keep an object's memory, not its handle. Precondition: em_lock held.
void em_object_ref(struct em_object *object);
void em_object_unref(struct em_object *object);

// Finds the object of a handle: *out (a pointer to a pointer to the struct that embeds it), or
// fails with `code` and a sentence that says what the number is instead: NULL, destroyed when and
// by what, an object of another type, a device address, no handle at all. Precondition: em_lock
// held.
#define em_object_get(type, handle, code, out)                                                     \
    em_object_get_((type), (uint64_t)(uintptr_t)(handle), (code),                                  \
                   (struct em_object **)(void *)(out))
CUresult em_object_get_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out);

// As em_object_get, without the lock: the object stays valid until em_object_unpin, even if another
// thread destroys it meanwhile. Each costs one atomic operation, or none in a process with one
// thread. Pins are for the duration of a call. Precondition: em_lock not held.
#define em_object_pin(type, handle, code, out)                                                     \
    em_object_pin_((type), (uint64_t)(uintptr_t)(handle), (code),                                  \
                   (struct em_object **)(void *)(out))
CUresult em_object_pin_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out);
void em_object_unpin(struct em_object *object);

// The object, or NULL without a word, for those who ask whether a number is a handle. Precondition:
// em_lock held.
struct em_object *em_object_peek(enum em_type type, uint64_t handle);

// "CUarray #12 (cuArray3DCreate, call 7)".
const char *em_object_text(const struct em_object *object, char *out, size_t room);

// What this number is, in words, for sentences: "CUarray #12, which cuArrayDestroy destroyed in
// call 345". Precondition: em_lock held.
const char *em_handle_text(uint64_t handle, char *out, size_t room);

// The object's name alone: "CUarray #12", or "CUarray #12 (destroyed)" if an earlier call destroyed
// it. Returns false if the number is no handle. Precondition: em_lock NOT held.
bool em_handle_name(uint64_t handle, char *out, size_t size);

// Whether this number was the handle of an object that is no more. Precondition: em_lock held.
bool em_handle_was(uint64_t handle);

// How the object of this type ended that had this handle; EM_END_NONE if that is not known any
// more. Precondition: em_lock held.
enum em_end_reason em_handle_end(enum em_type type, uint64_t handle);

const char *em_type_name(enum em_type type);

// Whether a number is or was the handle of an object of this type. Precondition: em_lock held.
bool em_handle_like(enum em_type type, uint64_t handle);

// Live objects of a type, for reports and leak tests. Precondition: em_lock held.
uint64_t em_object_count(enum em_type type);

// Goes through the live objects of a type, for reports and tests: start with *position = 0. NULL at
// the end. Precondition: em_lock held.
struct em_object *em_object_next(enum em_type type, uint32_t *position);
