// SPDX-License-Identifier: MIT
// The table of objects, which finds the object of a handle.
#include "object_facts.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "call.h"
#include "context_base.h"
#include "counter.h"
#include "lock.h"
#include "record.h"
#include "space.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct dm_mutex em_mutex = DM_MUTEX_INITIALIZER(EMULATOR);

// The type of most handles is a pointer, so they look like pointers: positive as signed 64-bit
// numbers, below 2^47, multiples of 16. Each is an address in a range that the process has reserved
// without access, so it never points to anything:
//
//     base + 16 * (type << 34 | generation << 24 | slot)
//
// Texture and surface objects are small numbers, as on a card (recorded: x_arrays texdesc/handles):
// (generation << 24 | slot) + 1. Generations begin at 0 in a handle. A slot is not reused after its
// last generation, so a stale handle never names a later object.
enum { GENERATION_BITS = 10, TYPE_SHIFT = 34, HANDLE_SHIFT = 4 };
enum { LAST_GENERATION = 1 << GENERATION_BITS };
#define HANDLES_B (UINT64_C(1) << 44)
// The preferred base. It lies between the program and the libraries of an ordinary process, and
// outside the shadows and heaps of the sanitizers: AddressSanitizer's heap ends with some pages at
// 0x640000000000. 64 TiB below the program stay free, because cuMemAddressReserve can return as
// much (recorded: x_vmm reserve/size-400000000000). Handles use this base even if the range cannot
// be reserved (under ulimit -v, or under valgrind, which would take minutes), because nobody maps
// memory there without asking for this very address.
#define HANDLES_BASE UINT64_C(0x641000000000)
_Static_assert(EM_TYPE_COUNT <= 1 << 6, "a handle has 6 bits for the type");
static uint64_t base; // of all handles; 0 until the first object
enum {
    SLOT_BITS = 24,
    CHUNK_BITS = 10,
    CHUNK_SLOTS = 1 << CHUNK_BITS,
    CHUNKS = 1 << (SLOT_BITS - CHUNK_BITS)
};
enum {
    NO_SLOT = UINT32_MAX,
    NO_CHUNK = UINT32_MAX,
    REST_BEFORE_REUSE = 4096,
    EMPTY_CHUNKS_KEPT = 64 // with the histories of their objects, which messages quote
};

struct slot {
    struct em_object *object; // NULL if the slot is free. Written atomically
    uint64_t pins;            // em_object_pin and em_object_unpin change it without the lock
    uint32_t generation;
    enum em_type type; // the type of the current object, or of the last one
    uint32_t number;
    enum em_end_reason end;
    uint64_t born_call, died_call;
    const char *born_by, *died_by;
};

_Static_assert(sizeof(struct slot) == 64, "a slot fills a cache line");

// A chunk of slots never moves, because em_object_pin reads it without the lock. After a peak, the
// memory of chunks without live objects is given back; their slots then read as zero.
static struct chunk {
    struct slot *slots;
    uint32_t *next_free; // one for each slot
    uint32_t live;       // the number of slots in use
    uint32_t ended;      // objects that ended in the chunk since its memory was given back
    uint32_t generation; // the highest generation of a slot when the memory was given back
    uint32_t highest;    // of all slots
    uint32_t next_empty;
    bool is_listed; // as empty
} chunks[CHUNKS];

static struct {
    uint32_t used;                  // slots that were ever used
    uint32_t free_first, free_last; // a queue, so that histories stay readable as long as possible
    uint32_t free_count;
    // Chunks that had no live object when they entered this queue.
    uint32_t empty_first, empty_last, empty_count;
    uint32_t numbers[EM_TYPE_COUNT];
    uint64_t live[EM_TYPE_COUNT];
} table = {
    .free_first = NO_SLOT, .free_last = NO_SLOT, .empty_first = NO_CHUNK, .empty_last = NO_CHUNK};
static struct em_object *without_context; // the newest one; guarded by em_lock

static struct slot *slot_at(uint32_t index)
{
    return &chunks[index >> CHUNK_BITS].slots[index & (CHUNK_SLOTS - 1)];
}

static uint32_t *next_free(uint32_t index)
{
    return &chunks[index >> CHUNK_BITS].next_free[index & (CHUNK_SLOTS - 1)];
}

static bool is_number(enum em_type type)
{
    return type == EM_TEXTURE || type == EM_SURFACE;
}

static uint64_t handle_of(enum em_type type, uint32_t generation, uint32_t index)
{
    uint64_t name = (uint64_t)(generation - 1) << SLOT_BITS | index;
    if (is_number(type))
        return name + 1;
    return base + (((uint64_t)type << TYPE_SHIFT | name) << HANDLE_SHIFT);
}

static uint32_t index_of(const struct em_object *object)
{
    uint64_t name =
        is_number(object->type) ? object->handle - 1 : (object->handle - base) >> HANDLE_SHIFT;
    return name & ((1 << SLOT_BITS) - 1);
}

static bool looks_like_pointer(uint64_t handle)
{
    return handle >= base && handle - base < HANDLES_B && handle % (1 << HANDLE_SHIFT) == 0;
}

// Returns the slot in a handle that looks like a pointer, for any generation and type, or NULL.
// Takes no lock.
static struct slot *slot_of_pointer(uint64_t handle)
{
    // `used` is published last, so a reader that finds the slot counted sees `base` and the chunk.
    uint32_t used = __atomic_load_n(&table.used, __ATOMIC_ACQUIRE);
    if (!used || !looks_like_pointer(handle))
        return NULL;
    uint32_t index = (handle - base) >> HANDLE_SHIFT & ((1 << SLOT_BITS) - 1);
    return index < used ? slot_at(index) : NULL;
}

// Returns the type in a handle that looks like a pointer.
static enum em_type type_in(uint64_t handle)
{
    return (enum em_type)((handle - base) >> HANDLE_SHIFT >> TYPE_SHIFT);
}

// Returns the slot of a handle of either form, for any generation, or NULL. Precondition: em_lock
// held or shared.
static struct slot *slot_of(uint64_t handle)
{
    em_assert_readable();
    uint32_t index = (handle - 1) & ((1 << SLOT_BITS) - 1);
    if (handle >> (SLOT_BITS + GENERATION_BITS) || !handle)
        return slot_of_pointer(handle);
    if (index >= table.used || !is_number(slot_at(index)->type))
        return NULL;
    return (handle - 1) >> SLOT_BITS < slot_at(index)->generation ? slot_at(index) : NULL;
}

static bool is_current(const struct slot *slot, uint64_t handle)
{
    return slot && slot->object && slot->object->handle == handle;
}

// Returns the handle of the last object in `slot`, which is the slot of `handle`.
static uint64_t last_handle(uint64_t handle, const struct slot *slot)
{
    uint64_t name = looks_like_pointer(handle) ? (handle - base) >> HANDLE_SHIFT : handle - 1;
    return handle_of(slot->type, slot->generation, name & ((1 << SLOT_BITS) - 1));
}

// A function of LeakSanitizer, if the program is linked with it. LeakSanitizer does not search
// mappings for references, so it would take the objects in the table for leaks.
void __lsan_register_root_region(const void *start, size_t size) __attribute__((weak));

static bool make_chunk(struct chunk *chunk)
{
    uint64_t address;
    if (!chunk->next_free)
        chunk->next_free = dm_calloc(CHUNK_SLOTS, sizeof *chunk->next_free);
    if (!chunk->next_free)
        return false;
    // All pages at once: a page fault for every 64 objects would take as long as creating them. But
    // most programs use only the first pages of the first chunk.
    const int populate = chunk == chunks ? 0 : MAP_POPULATE;
    if (dm_sys_mmap(0, CHUNK_SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0, &address))
        return false;
    chunk->slots = (struct slot *)(uintptr_t)address;
    if (__lsan_register_root_region)
        __lsan_register_root_region(chunk->slots, CHUNK_SLOTS * sizeof(struct slot));
    return true;
}

static void give_back(struct chunk *chunk)
{
    chunk->generation = chunk->highest;
    chunk->ended = 0;
    dm_sys_discard((uintptr_t)chunk->slots, CHUNK_SLOTS * sizeof(struct slot));
}

// Keeps the memory of the chunks that became empty last, and gives back that of the oldest. A chunk
// is kept until as many objects have ended in it as it has slots: otherwise a program that creates
// and destroys one object again and again after a peak would give a chunk back each time.
static void list_empty(uint32_t index)
{
    struct chunk *chunk = &chunks[index];
    if (chunk->is_listed || chunk->ended < CHUNK_SLOTS)
        return;
    chunk->is_listed = true;
    chunk->next_empty = NO_CHUNK;
    if (table.empty_last == NO_CHUNK)
        table.empty_first = index;
    else
        chunks[table.empty_last].next_empty = index;
    table.empty_last = index;
    if (++table.empty_count <= EMPTY_CHUNKS_KEPT)
        return;
    struct chunk *oldest = &chunks[table.empty_first];
    table.empty_first = oldest->next_empty;
    table.empty_count--;
    oldest->is_listed = false;
    if (!oldest->live)
        give_back(oldest);
}

static void reserve_handles(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (base)
        return;
    if (dm_is_valgrind() || (dm_sys_mmap(HANDLES_BASE, HANDLES_B, PROT_NONE,
                                         flags | MAP_FIXED_NOREPLACE, -1, 0, &base) &&
                             dm_sys_mmap(0, HANDLES_B, PROT_NONE, flags, -1, 0, &base)))
        base = HANDLES_BASE;
}

// The generation of the last object in a slot. A slot that was given back reads as zero.
static uint32_t generation_of(uint32_t index)
{
    uint32_t slot = slot_at(index)->generation, chunk = chunks[index >> CHUNK_BITS].generation;
    return slot > chunk ? slot : chunk;
}

static uint32_t take_free_slot(void)
{
    uint32_t index = table.free_first;
    table.free_first = *next_free(index);
    if (table.free_first == NO_SLOT)
        table.free_last = NO_SLOT;
    table.free_count--;
    return index;
}

static CUresult take_slot(uint32_t *out)
{
    reserve_handles();
    bool full = table.used == (uint32_t)CHUNKS << CHUNK_BITS;
    while (table.free_first != NO_SLOT && (table.free_count > REST_BEFORE_REUSE || full)) {
        *out = take_free_slot();
        if (generation_of(*out) < LAST_GENERATION)
            return CUDA_SUCCESS;
    }
    if (full)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of handles: %u objects are alive",
                       table.used);
    struct chunk *chunk = &chunks[table.used >> CHUNK_BITS];
    if (!chunk->slots && !make_chunk(chunk))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while growing the table by %d objects", CHUNK_SLOTS);
    *out = table.used;
    __atomic_store_n(&table.used, table.used + 1, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

// The list that the object is in.
static struct em_object **list_of(const struct em_object *object)
{
    return object->context ? &em_context_base(object->context)->objects : &without_context;
}

struct em_object *em_object_without_context(uint32_t position)
{
    em_assert_locked();
    struct em_object *object = without_context;
    while (object && position--)
        object = object->next;
    return object;
}

CUresult em_object_start(struct em_object *object, enum em_type type, struct em_context *context,
                         void (*finish)(struct em_object *))
{
    em_assert_locked();
    uint32_t index;
    // Another thread may have destroyed the context since this call found it alive.
    if (context && em_context_error_state(context) == EM_DESTROYED)
        return em_context_error(context);
    CUresult r = take_slot(&index);
    if (r)
        return r;
    struct slot *slot = slot_at(index);
    struct chunk *chunk = &chunks[index >> CHUNK_BITS];
    chunk->live++;
    slot->generation = generation_of(index) + 1;
    assert(slot->generation <= LAST_GENERATION);
    if (slot->generation > chunk->highest)
        chunk->highest = slot->generation;
    *object = (struct em_object){
        .handle = handle_of(type, slot->generation, index),
        .type = type,
        .references = 1,
        .pins = &slot->pins,
        .number = ++table.numbers[type],
        .born_call = em_call_now(),
        .born_by = em_entry_name(),
        .context = context,
        .finish = finish,
    };
    if (context)
        em_object_ref(&em_context_base(context)->object);
    slot->type = type;
    slot->number = object->number;
    slot->born_call = object->born_call;
    slot->born_by = object->born_by;
    __atomic_store_n(&slot->object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->pins, (uint64_t)slot->generation << 40 | EM_PIN_VALID,
                     __ATOMIC_RELEASE);
    table.live[type]++;
    struct em_object **list = list_of(object);
    object->next = *list;
    if (object->next)
        object->next->previous = object;
    *list = object;
    if (em_unlikely(em_recording))
        em_record_object(object);
    return CUDA_SUCCESS;
}

static void queue_slot(uint32_t index)
{
    *next_free(index) = NO_SLOT;
    if (table.free_last == NO_SLOT)
        table.free_first = index;
    else
        *next_free(table.free_last) = index;
    table.free_last = index;
    table.free_count++;
}

// Lets another object use the slot, and drops the table's reference to the object.
static void free_slot(struct em_object *object, uint32_t index)
{
    struct chunk *chunk = &chunks[index >> CHUNK_BITS];
    if (em_likely(slot_at(index)->generation < LAST_GENERATION))
        queue_slot(index);
    chunk->ended++;
    if (--chunk->live == 0)
        list_empty(index >> CHUNK_BITS);
    em_object_unref(object);
}

void em_object_end(struct em_object *object, enum em_end_reason reason)
{
    em_assert_locked();
    uint32_t index = index_of(object);
    struct slot *slot = slot_at(index);
    uint64_t pins = em_count(&slot->pins, -EM_PIN_VALID); // clears the bit, because it is set
    __atomic_store_n(&slot->object, NULL, __ATOMIC_RELEASE);
    slot->died_call = em_call_now();
    slot->died_by = em_entry_name();
    slot->end = reason;
    if (em_unlikely(em_recording))
        em_record_object_end(object->handle, reason);
    table.live[object->type]--;
    if (object->previous)
        object->previous->next = object->next;
    else
        *list_of(object) = object->next;
    if (object->next)
        object->next->previous = object->previous;
    object->previous = object->next = NULL;
    if (em_likely(!(pins & EM_PIN_COUNT))) // otherwise the last em_object_unpin frees it
        free_slot(object, index);
}

void em_object_retire(struct em_object *object)
{
    em_assert_locked();
    em_object_end(object, EM_END_CALL);
}

// If the exchange succeeds, the handle was still valid. So the `object` that was read before is the
// object of this handle, because its slot is not reused while it is pinned.
static struct em_object *try_pin(uint64_t handle)
{
    struct slot *slot = slot_of_pointer(handle);
    if (!slot)
        return NULL;
    uint64_t generation =
        ((handle - base) >> HANDLE_SHIFT >> SLOT_BITS & (LAST_GENERATION - 1)) + 1;
    uint64_t pins = __atomic_load_n(&slot->pins, __ATOMIC_ACQUIRE);
    while (pins >> 40 == generation && pins & EM_PIN_VALID) {
        struct em_object *object = __atomic_load_n(&slot->object, __ATOMIC_ACQUIRE);
        if (em_is_single_threaded()) {
            em_count(&slot->pins, 1);
            return object;
        }
        if (__atomic_compare_exchange_n(&slot->pins, &pins, pins + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return object;
    }
    return NULL;
}

// Explains why no object of the type could be pinned, or tries again.
static __attribute__((noinline, cold)) CUresult pin_failed(enum em_type type, uint64_t handle,
                                                           CUresult code, struct em_object *other,
                                                           struct em_object **out)
{
    if (other)
        em_object_unpin(other);
    em_lock_briefly();
    CUresult r = em_object_get_(type, handle, code, &other);
    em_unlock();
    // Another thread may just have created an object with this handle, which the program must have
    // guessed.
    return r ? r : em_object_pin_(type, handle, code, out);
}

CUresult em_object_pin_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out)
{
    em_assert_unlocked();
    struct em_object *object = try_pin(handle);
    if (em_unlikely(!object || object->handle != handle || object->type != type))
        return pin_failed(type, handle, code, object, out);
    *out = object;
    return CUDA_SUCCESS;
}

// The handle was retired during the call, so em_object_end left the slot to the last user.
void em_object_free_unpinned(struct em_object *object)
{
    em_assert_unlocked();
    em_lock();
    free_slot(object, index_of(object));
    em_unlock();
}

struct em_object *em_object_peek(enum em_type type, uint64_t handle)
{
    em_assert_readable();
    if (looks_like_pointer(handle) && type_in(handle) != type)
        return NULL;
    struct slot *slot = slot_of(handle);
    return is_current(slot, handle) && slot->object->type == type ? slot->object : NULL;
}

// ---- for messages ----

bool em_handle_facts(uint64_t handle, struct em_handle_facts *out)
{
    em_assert_locked();
    const struct slot *slot = slot_of(handle);
    if (!slot)
        return false;
    const bool alive = is_current(slot, handle);
    *out = (struct em_handle_facts){
        .object = alive ? slot->object : NULL,
        .is_last = !alive && !slot->object && handle == last_handle(handle, slot),
        .named_type = looks_like_pointer(handle) ? type_in(handle) : slot->type,
        .type = slot->type,
        .number = slot->number,
        .end = slot->end,
        .died_call = slot->died_call,
        .died_by = slot->died_by};
    return true;
}

uint64_t em_object_count(enum em_type type)
{
    em_assert_locked();
    return table.live[type];
}

struct em_object *em_object_next(enum em_type type, uint32_t *position)
{
    em_assert_locked();
    while (*position < table.used) {
        struct em_object *object = slot_at((*position)++)->object;
        if (object && object->type == type)
            return object;
    }
    return NULL;
}
