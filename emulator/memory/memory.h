// SPDX-License-Identifier: MIT
// The map of all memory that the driver knows: which allocation is at an address, which call
// created it, and how the program may access it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "context.h"
#include "physical.h"
#include "written.h"

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
    uint64_t base, size; // device addresses; the size in bytes that the user asked for
    uint64_t host; // host address of `base` for HOST, REGISTERED, managed memory, and VIRTUAL and
                   // POOLED on the host; else 0
    enum em_memory_kind kind;
    struct em_context *context; // its owner; NULL for virtual memory and pools
    int device;                 // ordinal
    unsigned flags;             // of the creating call
    unsigned access; // CU_MEM_ACCESS_FLAGS_* of the device; em_memory_enter sets it unless the
                     // kind is VIRTUAL
    unsigned handle_types; // CU_MEM_HANDLE_TYPE_*: how it may be exported
    uint64_t id;           // CU_POINTER_ATTRIBUTE_BUFFER_ID
    uint64_t block_id;     // CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID; if 0, em_memory_enter uses `id`
    bool is_variable;      // MANAGED: of a module, so that cuMemFree must not free it
    bool of_managed_pool;  // POOLED: managed memory
    bool sync_memops;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; em_memory_enter sets the card's default
                       // for the kind
    bool read_only;    // REGISTERED: the program promised that the device will only read
    bool rdma_capable; // CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE; em_memory_enter sets it
                       // for DEVICE
    uint64_t mapping_base,
        mapping_size;  // the block that contains it; if 0, em_memory_enter uses base and size
    uint32_t ipc_slot; // in the table of shared allocations (ipc_shared.h); 0 if not shared
    uint64_t born_call;
    const char *born_by;
    struct em_advice_map *advice; // managed memory: the advice for its pages, or NULL
    struct em_object *pool;       // POOLED: the pool, else NULL
    struct dm_physical *physical; // its bytes if they are in a single object, else NULL
    uint64_t physical_offset;
    struct em_written *written; // bytes that have a value; NULL: all. em_memory_enter sets it
    void *owner;                // for `release`
    // Undoes the mapping and frees the struct. Precondition: em_lock held.
    void (*release)(struct em_allocation *);
    // cuMemFree of an address inside, if several mappings share one allocation. If NULL, cuMemFree
    // takes the base.
    CUresult (*free_at)(struct em_allocation *, uint64_t address);
    const struct em_watch_ops *watch;      // observer of commands that access it, or NULL
    struct em_allocation *previous, *next; // in the context's list
};

// Returns whether this is a mapping of an object that was imported or registered in one context.
// The driver fills such memory, and returns its address range, in that context only; copies may use
// it in every context (recorded: x_extmem, tests/silicon random_graphics).
static inline bool em_memory_is_context_bound(const struct em_allocation *a)
{
    return a->kind == EM_MEMORY_IMPORTED || a->kind == EM_MEMORY_GRAPHICS;
}

// Returns whether an access to these bytes may fault although they are mapped: another process may
// truncate their file if no seal forbids it, the program may have exported it for reading only, and
// it may unmap pages that it has registered.
static inline bool em_memory_may_fault(const struct em_allocation *a)
{
    return a->kind == EM_MEMORY_IPC || a->kind == EM_MEMORY_REGISTERED ||
           (a->physical && (a->physical->may_shrink || !a->physical->writable));
}

static inline bool em_memory_is_managed(const struct em_allocation *a)
{
    return a->kind == EM_MEMORY_MANAGED || a->of_managed_pool;
}

// Where the bytes of memory are, from the one that the host sees least to the one it sees most. A
// call that is not asynchronous waits for its work if the host could see that it has not ended
// (manual, "API synchronization behavior").
enum em_residence { EM_ON_DEVICE, EM_ON_BOTH, EM_ON_HOST };

static inline enum em_residence em_memory_residence(const struct em_allocation *a)
{
    return em_memory_is_managed(a) ? EM_ON_BOTH : a->host ? EM_ON_HOST : EM_ON_DEVICE;
}

// Fills `access` for [address, address + size), which begins in `a`. It takes no reference, so a
// command whose memory is freed before it is submitted gives no diagnostic. access->owner is the
// allocation, for the allocation's watchers. Precondition: em_lock held or shared.
void em_memory_access(struct em_access *access, struct em_allocation *a, uint64_t address,
                      uint64_t size_B, enum em_access_mode mode);

// Enters `a`, which the caller has filled, into the map and its context's list; sets id and born_*.
// Returns CUDA_ERROR_OUT_OF_MEMORY if host memory runs out, CUDA_ERROR_INVALID_VALUE if another
// allocation overlaps. On failure the caller keeps `a`. Precondition: em_lock held.
CUresult em_memory_enter(struct em_allocation *a);
// Removes `a` from the map, keeps its history for messages, and calls a->release.
// Precondition: em_lock held.
void em_memory_remove(struct em_allocation *a);
// The same without a->release, which the caller calls when nothing uses the bytes any more. The
// context is not the allocation's owner afterwards. Precondition: em_lock held.
void em_memory_leave(struct em_allocation *a);
// Registers an observer of the end of contexts, which ends their allocations. Called when the
// driver starts. Precondition: em_lock NOT held.
void em_memory_start(void);

// Returns the allocation that contains [address, address + size), or NULL.
// Precondition: em_lock held.
struct em_allocation *em_memory_find(uint64_t address, uint64_t size);

// The same for a shared call. Precondition: em_lock held or shared.
struct em_allocation *em_memory_find_shared(uint64_t address, uint64_t size);
// The same if the device may access the range as `access` says and nothing else needs attention:
// nobody watches the memory, nobody can take it away, and its writes are not noted. Returns NULL
// otherwise. Precondition: em_lock held or shared.
struct em_allocation *em_memory_find_plain(uint64_t address, uint64_t size, unsigned access);
// The same, but others may take the memory away. Precondition: em_lock held.
struct em_allocation *em_memory_find_unwatched(uint64_t address, uint64_t size, unsigned access);

// Returns the first allocation that has a byte in [address, address + size), or NULL.
// Precondition: em_lock held or shared.
struct em_allocation *em_memory_overlapping(uint64_t address, uint64_t size);

// As em_memory_find, but explains: "0x7f… is 512 bytes past the end of device memory 0x7f…+4096
// (cuMemAlloc_v2, call 12)", "… was freed by cuMemFree_v2 in call 34". `name` is the argument's.
// Precondition: em_lock held.
CUresult em_memory_get(uint64_t address, uint64_t size, const char *name, CUresult code,
                       struct em_allocation **out);

// Checks a range that the device is about to read or write (`access`:
// CU_MEM_ACCESS_FLAGS_PROT_READ or …_READWRITE), and explains a failure like em_memory_get.
// Adjacent mappings made by cuMemMap count as one range. `context` is the context of the work, or
// NULL if every context will do: fills may use a mapped external buffer in its own context only
// (recorded: x_extmem twoctx/map-in-other), copies in every context.
// Precondition: em_lock held.
struct em_pointer_range {
    struct em_allocation *first;
    bool may_fault;              // em_memory_may_fault holds for one of the mappings in the range
    enum em_residence residence; // the greatest of the mappings in the range
};
CUresult em_memory_check(struct em_context *context, uint64_t address, uint64_t size,
                         unsigned access, const char *name, CUresult code,
                         struct em_pointer_range *out);

// Address ranges reserved by cuMemAddressReserve. Mappings inside them are VIRTUAL allocations.
// Precondition: em_lock held.
CUresult em_reservation_enter(uint64_t base, uint64_t size, void *owner);
void em_reservation_remove(uint64_t base);
// Returns the owner of the reservation that contains `address`, or NULL. If there is one, sets base
// and size (either may be NULL).
void *em_reservation_find(uint64_t address, uint64_t *base, uint64_t *size);
// Finds the first reservation of this owner that begins at *base or above. Precondition: em_lock
// held.
bool em_reservation_next(const void *owner, uint64_t *base, uint64_t *size);

// Describes the memory at this address in words. Precondition: em_lock held.
const char *em_memory_text(uint64_t address, char *out, size_t size_B);

const char *em_memory_kind_text(enum em_memory_kind kind);
