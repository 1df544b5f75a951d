// SPDX-License-Identifier: MIT
// The table of objects behind all handles.
#include "object.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "call.h"
#include "context_base.h"
#include "counter.h"
#include "lock.h"

struct dm_mutex em_mutex = DM_MUTEX_INITIALIZER;

// A handle: 0xCD (no canonical address begins so), 8 bits of type, 24 of generation, 24 of slot.
#define HANDLE_MARK UINT64_C(0xCD)
enum {
    SLOT_BITS = 24,
    CHUNK_BITS = 10,
    CHUNK_SLOTS = 1 << CHUNK_BITS,
    CHUNKS = 1 << (SLOT_BITS - CHUNK_BITS)
};
enum {
    NO_SLOT = UINT32_MAX,
    REST_BEFORE_REUSE = 4096,
    HISTORIES_KEPT = 1 << 16, // free slots whose memory is not given back
};

// The word that em_object_pin and em_object_unpin change without the lock: the generation (24
// bits), whether the handle is valid (1 bit), and how many calls are using the object (39 bits).
#define PIN_VALID (UINT64_C(1) << 39)
#define PIN_COUNT (PIN_VALID - 1)

struct slot {
    struct em_object *object; // NULL: free. Written atomically
    uint64_t pins;
    uint32_t generation;
    enum em_type type; // of the object that is or was here
    uint32_t number;
    uint64_t born_call, died_call;
    const char *born_by, *died_by;
};

// A chunk of slots keeps its addresses, because em_object_pin reads them without the lock. After a
// peak the memory of a chunk without live objects is given back: its slots read as zero.
static struct chunk {
    struct slot *slots;
    uint32_t *next_free; // of each slot
    uint32_t live;       // slots that are in use
    uint32_t generation; // the highest one of the slots, when their memory was given back
} chunks[CHUNKS];

static struct {
    uint32_t used;                  // slots handed out so far
    uint32_t free_first, free_last; // queue, so that a history stays readable as long as possible
    uint32_t free_count;
    uint32_t numbers[EM_TYPE_COUNT];
    uint64_t live[EM_TYPE_COUNT];
} table = {.free_first = NO_SLOT, .free_last = NO_SLOT};

static struct slot *slot_at(uint32_t index)
{
    return &chunks[index >> CHUNK_BITS].slots[index & (CHUNK_SLOTS - 1)];
}

static uint32_t *next_free(uint32_t index)
{
    return &chunks[index >> CHUNK_BITS].next_free[index & (CHUNK_SLOTS - 1)];
}

static uint64_t handle_of(enum em_type type, uint32_t generation, uint32_t index)
{
    return HANDLE_MARK << 56 | (uint64_t)type << 48 | (uint64_t)(generation & 0xffffff) << 24 |
           index;
}

// The slot that a number names, whatever its generation, or NULL. Takes no lock.
static struct slot *slot_named(uint64_t handle)
{
    uint32_t index = handle & 0xffffff;
    bool exists =
        handle >> 56 == HANDLE_MARK && index < __atomic_load_n(&table.used, __ATOMIC_ACQUIRE);
    return exists ? slot_at(index) : NULL;
}

static bool is_current(const struct slot *slot, uint64_t handle)
{
    return slot && slot->object && slot->object->handle == handle;
}

const char *em_type_name(enum em_type type)
{
    static const char *const names[EM_TYPE_COUNT] = {"no type",
#define X(name, text) text,
                                                     EM_TYPES(X)
#undef X
    };
    return (unsigned)type < EM_TYPE_COUNT ? names[type] : "no type";
}

static bool make_chunk(struct chunk *chunk)
{
    uint64_t address;
    if (!chunk->next_free && !(chunk->next_free = dm_calloc(CHUNK_SLOTS, sizeof *chunk->next_free)))
        return false;
    if (dm_sys_mmap(0, CHUNK_SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &address))
        return false;
    chunk->slots = (struct slot *)(uintptr_t)address;
    return true;
}

static void give_back(struct chunk *chunk)
{
    for (int i = 0; i < CHUNK_SLOTS; i++)
        if (chunk->slots[i].generation > chunk->generation)
            chunk->generation = chunk->slots[i].generation;
    dm_sys_discard((uintptr_t)chunk->slots, CHUNK_SLOTS * sizeof(struct slot));
}

static CUresult take_slot(uint32_t *out)
{
    bool full = table.used == (uint32_t)CHUNKS << CHUNK_BITS;
    if (table.free_first != NO_SLOT && (table.free_count > REST_BEFORE_REUSE || full)) {
        *out = table.free_first;
        table.free_first = *next_free(*out);
        if (table.free_first == NO_SLOT)
            table.free_last = NO_SLOT;
        table.free_count--;
        return CUDA_SUCCESS;
    }
    if (full)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "%u objects are alive, which is as many as there are handles", table.used);
    struct chunk *chunk = &chunks[table.used >> CHUNK_BITS];
    if (!chunk->slots && !make_chunk(chunk))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for %d more objects", CHUNK_SLOTS);
    *out = table.used;
    __atomic_store_n(&table.used, table.used + 1, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

CUresult em_object_start(struct em_object *object, enum em_type type, struct em_context *context,
                         void (*finish)(struct em_object *))
{
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
    if (slot->generation < chunk->generation)
        slot->generation = chunk->generation;
    slot->generation++;
    *object = (struct em_object){
        .handle = handle_of(type, slot->generation, index),
        .type = type,
        .references = 1,
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
    __atomic_store_n(&slot->pins, (uint64_t)(slot->generation & 0xffffff) << 40 | PIN_VALID,
                     __ATOMIC_RELEASE);
    table.live[type]++;
    if (context) {
        struct em_context_base *base = em_context_base(context);
        object->next = base->objects;
        if (object->next)
            object->next->previous = object;
        base->objects = object;
    }
    return CUDA_SUCCESS;
}

// The slot can be used again, and the table's reference to the object goes.
static void free_slot(struct em_object *object)
{
    uint32_t index = object->handle & 0xffffff;
    struct chunk *chunk = &chunks[index >> CHUNK_BITS];
    *next_free(index) = NO_SLOT;
    if (table.free_last == NO_SLOT)
        table.free_first = index;
    else
        *next_free(table.free_last) = index;
    table.free_last = index;
    table.free_count++;
    if (--chunk->live == 0 && table.free_count > HISTORIES_KEPT)
        give_back(chunk);
    em_object_unref(object);
}

void em_object_retire(struct em_object *object)
{
    struct slot *slot = slot_at(object->handle & 0xffffff);
    uint64_t pins = em_count(&slot->pins, -PIN_VALID); // which is set
    __atomic_store_n(&slot->object, NULL, __ATOMIC_RELEASE);
    slot->died_call = em_call_now();
    slot->died_by = em_entry_name();
    table.live[object->type]--;
    if (object->context) {
        if (object->previous)
            object->previous->next = object->next;
        else
            em_context_base(object->context)->objects = object->next;
        if (object->next)
            object->next->previous = object->previous;
        object->previous = object->next = NULL;
    }
    if (!(pins & PIN_COUNT)) // else the last user does it
        free_slot(object);
}

// A successful exchange proves that the handle was still valid, so that `object`, read before, is
// the object of this handle: its slot cannot be used again before the pin is gone.
static struct em_object *try_pin(uint64_t handle)
{
    struct slot *slot = slot_named(handle);
    if (!slot)
        return NULL;
    uint64_t generation = handle >> 24 & 0xffffff;
    uint64_t pins = __atomic_load_n(&slot->pins, __ATOMIC_ACQUIRE);
    while (pins >> 40 == generation && pins & PIN_VALID) {
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

CUresult em_object_pin_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out)
{
    struct em_object *object = try_pin(handle);
    if (em_likely(object)) {
        if (em_likely(object->handle == handle && object->type == type)) {
            *out = object;
            return CUDA_SUCCESS;
        }
        em_object_unpin(object);
    }
    // Find the words under the lock. Nobody can make this handle valid meanwhile.
    em_lock_briefly();
    CUresult r = em_object_get_(type, handle, code, &object);
    em_unlock();
    return r;
}

void em_object_unpin(struct em_object *object)
{
    struct slot *slot = slot_at(object->handle & 0xffffff);
    uint64_t before = em_count(&slot->pins, (uint64_t)-1);
    if (em_likely(before & PIN_VALID || (before & PIN_COUNT) > 1))
        return;
    // The handle was retired during the call, which left the rest to the last user.
    em_lock();
    free_slot(object);
    em_unlock();
}

void em_object_ref(struct em_object *object)
{
    object->references++;
}

void em_object_unref(struct em_object *object)
{
    if (--object->references)
        return;
    struct em_context *context = object->context;
    object->finish(object);
    if (context)
        em_object_unref(&em_context_base(context)->object);
}

struct em_object *em_object_peek(enum em_type type, uint64_t handle)
{
    struct slot *slot = slot_named(handle);
    return is_current(slot, handle) && slot->object->type == type ? slot->object : NULL;
}

CUresult em_object_get_(enum em_type type, uint64_t handle, CUresult code, struct em_object **out)
{
    struct em_object *object = em_object_peek(type, handle);
    if (!object) {
        char text[256];
        return em_fail(code, "not a %s: %s", em_type_name(type),
                       em_handle_text(handle, text, sizeof text));
    }
    *out = object;
    return CUDA_SUCCESS;
}

const char *em_object_text(const struct em_object *object, char *out, size_t room)
{
    char born[64];
    em_call_text(object->born_call, born, sizeof born);
    snprintf(out, room, "%s #%u (%s, %s)", em_type_name(object->type), object->number,
             object->born_by, born);
    return out;
}

const char *em_handle_text(uint64_t handle, char *out, size_t room)
{
    struct slot *slot = slot_named(handle);
    char when[64];
    if (!handle) {
        snprintf(out, room, "NULL");
    } else if (is_current(slot, handle)) {
        em_object_text(slot->object, out, room);
    } else if (slot && !slot->object &&
               handle == handle_of(slot->type, slot->generation, handle & 0xffffff)) {
        em_call_text(slot->died_call, when, sizeof when);
        snprintf(out, room, "%s #%u, which %s destroyed in %s", em_type_name(slot->type),
                 slot->number, slot->died_by, when);
    } else if (slot) {
        snprintf(out, room, "%#llx, a %s destroyed long ago", (unsigned long long)handle,
                 em_type_name((handle >> 48) & 0xff));
    } else {
        snprintf(out, room, "%#llx, which is no handle of this driver", (unsigned long long)handle);
    }
    return out;
}

bool em_handle_name(uint64_t handle, char *out, size_t size)
{
    em_lock_briefly();
    struct slot *slot = slot_named(handle);
    bool alive = is_current(slot, handle);
    bool known = alive || (slot && !slot->object &&
                           handle == handle_of(slot->type, slot->generation, handle & 0xffffff));
    if (known) {
        bool ended_before = !alive && slot->died_call != em_call_now();
        snprintf(out, size, "%s #%u%s", em_type_name(alive ? slot->object->type : slot->type),
                 alive ? slot->object->number : slot->number, ended_before ? " (destroyed)" : "");
    }
    em_unlock();
    return known;
}

bool em_handle_like(enum em_type type, uint64_t handle)
{
    return handle >> 48 == (HANDLE_MARK << 8 | (uint64_t)type);
}

bool em_handle_was(uint64_t handle)
{
    struct slot *slot = slot_named(handle);
    return slot && !is_current(slot, handle);
}

const char *em_handle_died_by(uint64_t handle)
{
    struct slot *slot = slot_named(handle);
    bool known = slot && !slot->object &&
                 handle == handle_of(slot->type, slot->generation, handle & 0xffffff);
    return known ? slot->died_by : NULL;
}

uint64_t em_object_count(enum em_type type)
{
    return table.live[type];
}

struct em_object *em_object_next(enum em_type type, uint32_t *position)
{
    while (*position < table.used) {
        struct em_object *object = slot_at((*position)++)->object;
        if (object && object->type == type)
            return object;
    }
    return NULL;
}
