// SPDX-License-Identifier: MIT
// The map of all memory that the driver knows: which allocation is at an address, which call
// created it, and what the program may do with it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "context.h"
#include "physical.h"

// The kinds of memory, each with its name in messages. The list is closed.
#define EM_MEMORY_KINDS(X)                                                                         \
    X(DEVICE, "device memory")               /* cuMemAlloc, cuMemAllocPitch */                     \
    X(HOST, "page-locked host memory")       /* cuMemHostAlloc, cuMemAllocHost */                  \
    X(REGISTERED, "registered host memory")  /* cuMemHostRegister */                               \
    X(MANAGED, "managed memory")             /* cuMemAllocManaged */                               \
    X(VIRTUAL, "a mapping made by cuMemMap") /* virtual memory management */                       \
    X(IMPORTED, "a mapped external buffer")  /* cuExternalMemoryGetMappedBuffer */                 \
    X(IPC, "memory of another process")      /* cuIpcOpenMemHandle */                              \
    X(POOLED, "pool memory")                 /* cuMemAllocAsync, cuMemAllocFromPoolAsync */        \
    X(GRAPHICS, "a mapped graphics buffer")  /* cuGraphicsResourceGetMappedPointer */              \
    X(GLOBAL, "a module's variable")         // cuModuleGetGlobal

enum em_memory_kind {
#define X(name, text) EM_MEMORY_##name,
    EM_MEMORY_KINDS(X)
#undef X
};

// Addresses are unified: a host address that the driver knows is the device address of the same
// bytes, so that one map finds both.
struct em_allocation {
    uint64_t base, size; // device addresses; size in bytes as the user asked
    uint64_t host; // host address of `base` for HOST, REGISTERED, MANAGED and VIRTUAL on the host;
                   // else 0
    enum em_memory_kind kind;
    struct em_context *context; // that owns it; NULL: none (virtual memory, pools)
    int device;                 // ordinal
    unsigned flags;             // of the creating call
    unsigned access; // CU_MEM_ACCESS_FLAGS_*: what the device may do; em_memory_enter sets it but
                     // for VIRTUAL
    unsigned handle_types; // CU_MEM_HANDLE_TYPE_*: how it may be exported
    uint64_t id;           // CU_POINTER_ATTRIBUTE_BUFFER_ID
    uint64_t block_id;     // CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID; 0: em_memory_enter takes `id`
    bool sync_memops;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; em_memory_enter sets it as the card does
                       // for the kind
    bool read_only;    // REGISTERED: the program promised that the device will only read
    bool rdma_capable; // CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE; em_memory_enter sets it
                       // for DEVICE
    uint64_t mapping_base,
        mapping_size;  // the block that it is cut from; size 0: em_memory_enter takes base and size
    uint32_t ipc_slot; // in the table of what other processes may open (ipc_shared.h); 0: none
    uint64_t born_call;
    const char *born_by;
    struct em_advice_map *advice; // MANAGED: what was advised for which pages, or NULL
    struct em_object *pool;       // POOLED: the pool, else NULL
    struct dm_physical *physical; // the bytes behind it where there is one object for it, else NULL
    uint64_t physical_offset;
    void *owner; // what `release` needs
    void (*release)(struct em_allocation
                        *); // undoes the mapping and frees the struct; precondition: em_lock held
    // cuMemFree of an address in it, where several mappings share one allocation; NULL: the base
    // frees it.
    CUresult (*free_at)(struct em_allocation *, uint64_t address);
    const struct em_watch_ops *watch;      // of commands that access it; NULL: nobody watches
    struct em_allocation *previous, *next; // in the context's list
};

// Whether it is a mapping of something that was imported or registered in one context. Silicon:
// such memory is filled, and has an address range, in that context alone; copies reach it from any
// (recorded: x_extmem, tests/silicon random_graphics).
static inline bool em_memory_is_context_bound(const struct em_allocation *a)
{
    return a->kind == EM_MEMORY_IMPORTED || a->kind == EM_MEMORY_GRAPHICS;
}

// Whether these bytes may go away meanwhile: a file of someone else, who may truncate it (what
// calls itself an export of ours may be a forgery), or the program's own pages that it has
// registered.
static inline bool em_memory_may_fault(const struct em_allocation *a)
{
    return a->kind == EM_MEMORY_IMPORTED || a->kind == EM_MEMORY_IPC ||
           a->kind == EM_MEMORY_REGISTERED || (a->physical && a->physical->may_shrink);
}

// Makes `access` one of [address, address + size), which begins in `a`. It holds no reference: if
// the memory is freed before the command is submitted, nobody is told. To the watchers of an
// allocation access->owner is that allocation. Precondition: em_lock held.
void em_memory_access(struct em_access *access, struct em_allocation *a, uint64_t address,
                      uint64_t size_B, enum em_access_mode mode);

// Enters `a` (caller-filled) into the map and its context's list; sets id, born_*.
// CUDA_ERROR_OUT_OF_MEMORY without host memory, CUDA_ERROR_INVALID_VALUE if it overlaps what is
// there; then `a` is the caller's. Precondition: em_lock held.
CUresult em_memory_enter(struct em_allocation *a);
// Removes `a` from the map, keeps its history for messages, and calls a->release.
// Precondition: em_lock held.
void em_memory_leave(struct em_allocation *a);
// Registers an observer of the end of contexts, which ends their allocations. Called when the
// driver starts. Precondition: em_lock NOT held.
void em_memory_start(void);

// Returns the allocation that contains [address, address + size), or NULL.
// Precondition: em_lock held.
struct em_allocation *em_memory_find(uint64_t address, uint64_t size);

// Returns the first allocation that has a byte in [address, address + size), or NULL.
// Precondition: em_lock held.
struct em_allocation *em_memory_touches(uint64_t address, uint64_t size);

// As em_memory_find, but explains: "0x7f… is 512 bytes past the end of device memory 0x7f…+4096
// (cuMemAlloc_v2, call 12)", "… was freed by cuMemFree_v2 in call 34". `what` names the argument.
// Precondition: em_lock held.
CUresult em_memory_get(uint64_t address, uint64_t size, const char *what, CUresult code,
                       struct em_allocation **out);

// As em_memory_get for a range that the device reads or writes (`access`:
// CU_MEM_ACCESS_FLAGS_PROT_READ or …_READWRITE): mappings made by cuMemMap that lie side by side
// count as one range. `context` is the one that the work runs in, or NULL where any will do: a
// mapped external buffer is reachable by fills in its own context only (recorded: x_extmem
// twoctx/map-in-other), by copies in every one. Precondition: em_lock held.
struct em_reach {
    struct em_allocation *first;
    bool may_fault; // em_memory_may_fault holds for one of the mappings in the range
};
CUresult em_memory_reach(struct em_context *context, uint64_t address, uint64_t size,
                         unsigned access, const char *what, CUresult code, struct em_reach *out);

// Address ranges reserved by cuMemAddressReserve; what is mapped inside them is a VIRTUAL
// allocation. Precondition: em_lock held.
CUresult em_reservation_enter(uint64_t base, uint64_t size, void *owner);
void em_reservation_leave(uint64_t base);
// Returns the owner of the reservation that contains `address`, or NULL. If there is one, sets base
// and size (either may be NULL).
void *em_reservation_find(uint64_t address, uint64_t *base, uint64_t *size);

// Describes in words what is at this address. Precondition: em_lock held.
const char *em_memory_text(uint64_t address, char *out, size_t room);

const char *em_memory_kind_text(enum em_memory_kind kind);
