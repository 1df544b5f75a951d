// SPDX-License-Identifier: MIT
// The map of all memory that the driver knows: which allocation is at an address, how it came there, what may be done with it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "context.h"

struct dm_physical;

// What kind of memory an address is. The closed list; a text for sentences beside each.
#define EM_MEMORY_KINDS(X)                                                                                                       \
    X(DEVICE, "device memory")               /* cuMemAlloc, cuMemAllocPitch */                                                    \
    X(HOST, "page-locked host memory")       /* cuMemHostAlloc, cuMemAllocHost */                                                 \
    X(REGISTERED, "registered host memory")  /* cuMemHostRegister */                                                              \
    X(MANAGED, "managed memory")             /* cuMemAllocManaged */                                                              \
    X(VIRTUAL, "a mapping made by cuMemMap") /* virtual memory management */                                                      \
    X(IMPORTED, "a mapped external buffer")  /* cuExternalMemoryGetMappedBuffer */                                                \
    X(IPC, "memory of another process")      /* cuIpcOpenMemHandle */                                                             \
    X(POOLED, "pool memory")                 /* cuMemAllocAsync, cuMemAllocFromPoolAsync */                                       \
    X(GRAPHICS, "a mapped graphics buffer")  /* cuGraphicsResourceGetMappedPointer */                                             \
    X(GLOBAL, "a module's variable")         /* cuModuleGetGlobal */

enum em_memory_kind {
#define X(name, text) EM_MEMORY_##name,
    EM_MEMORY_KINDS(X)
#undef X
};

struct em_allocation {
    uint64_t base, size;   // device addresses; size in bytes as the user asked
    uint64_t host;         // host address of `base` for HOST, REGISTERED, MANAGED; else 0
    enum em_memory_kind kind;
    struct em_context *context;   // that owns it; NULL: none (virtual memory)
    int device;                   // ordinal
    unsigned flags;               // of the creating call
    uint64_t id;                  // CU_POINTER_ATTRIBUTE_BUFFER_ID
    bool sync_memops;             // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    uint64_t born_call;
    const char *born_by;
    struct dm_physical *physical; // the bytes behind it where there is one object for it, else NULL
    uint64_t physical_offset;
    void *owner;                  // what `release` needs
    void (*release)(struct em_allocation *); // undoes the mapping and frees the struct; precondition: em_lock held
    struct em_allocation *previous, *next;   // in the context's list
};

// Enters `a` (caller-filled) into the map and its context's list; sets id, born_*. CUDA_ERROR_OUT_OF_MEMORY without host memory.
// Precondition: em_lock held.
CUresult em_memory_enter(struct em_allocation *a);
// Takes `a` out of the map, keeps its history for sentences, calls a->release. Precondition: em_lock held.
void em_memory_leave(struct em_allocation *a);

// The allocation that holds [address, address + size), or NULL. Precondition: em_lock held.
struct em_allocation *em_memory_find(uint64_t address, uint64_t size);

// As em_memory_find, but explains: "0x7f… is 512 bytes past the end of device memory 0x7f…+4096 (cuMemAlloc_v2, call 12)", "… was freed by
// cuMemFree_v2 in call 34". `what` names the argument. Precondition: em_lock held.
CUresult em_memory_get(uint64_t address, uint64_t size, const char *what, CUresult code, struct em_allocation **out);

// What is at this address, in words. Precondition: em_lock held.
const char *em_memory_text(uint64_t address, char *out, size_t room);

const char *em_memory_kind_text(enum em_memory_kind kind);
