// SPDX-License-Identifier: MIT
// The map of all memory, and the history of freed memory, which messages quote.
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "context_heap.h"
#include "ipc_shared.h"
#include "memory_device.h"
#include "order.h"
#include "pointer_check.h"
#include "rangemap.h"
#include "record.h"
#include "startup.h"

enum { HISTORY = 1024, NEAR = 1 << 20, GRANULE_B = 2 << 20 };

static struct dm_rangemap map;          // of struct em_allocation
static struct dm_rangemap reservations; // of owners, for virtual memory
static struct em_allocation *last_found;
static uint64_t last_id;
static uint64_t departures; // allocations that have left the map

// The allocations that were freed last: a ring, newest last.
static struct past {
    uint64_t base, size;
    enum em_memory_kind kind;
    const char *born_by, *died_by;
    uint64_t born_call, died_call;
} history[HISTORY];
static uint64_t history_count;

const char *em_memory_kind_text(enum em_memory_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        EM_MEMORY_KINDS(X)
#undef X
    };
    return (unsigned)kind < sizeof texts / sizeof *texts ? texts[kind] : "memory";
}

// On the card, copies to and from memory of a context's device, or of a pool, are synchronous by
// default (recorded: ptrattr). To a module's variable they are not (recorded:
// globals/pointer-attributes).
static bool syncs_by_default(enum em_memory_kind kind)
{
    switch (kind) {
    case EM_MEMORY_DEVICE:
    case EM_MEMORY_POOLED:
    case EM_MEMORY_IMPORTED:
    case EM_MEMORY_IPC:
        return true;
    default:
        return false;
    }
}

static void link_to_context(struct em_allocation *a)
{
    a->previous = a->next = NULL;
    if (!a->context)
        return;
    em_object_ref(&a->context->base.object);
    a->next = a->context->allocations;
    if (a->next)
        a->next->previous = a;
    a->context->allocations = a;
}

static void unlink_from_context(struct em_allocation *a)
{
    if (!a->context)
        return;
    if (a->previous)
        a->previous->next = a->next;
    else
        a->context->allocations = a->next;
    if (a->next)
        a->next->previous = a->previous;
    em_object_unref(&a->context->base.object);
}

static void record(const struct em_allocation *a)
{
    em_record_memory(&(struct em_record_memory){.id = a->id,
                                                .kind = em_memory_kind_text(a->kind),
                                                .address = a->base,
                                                .size_B = a->size,
                                                .host = a->host,
                                                .physical = em_record_physical(a->physical),
                                                .offset = a->physical_offset});
}

CUresult em_memory_enter(struct em_allocation *a)
{
    em_assert_locked();
    // Another thread may have destroyed the context since this call found it alive.
    if (a->context && em_context_error_state(a->context) == EM_DESTROYED)
        return em_context_error(a->context);
    int r = em_written_begin(a) ? dm_rangemap_insert(&map, a->base, a->size, a) : -ENOMEM;
    if (r) {
        em_written_unref(a->written);
        a->written = NULL;
    }
    if (r == -ENOMEM)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while tracking %s of %llu bytes",
                       em_memory_kind_text(a->kind), (unsigned long long)a->size);
    if (r)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE, "%#llx+%llu cannot become %s: %s",
            (unsigned long long)a->base, (unsigned long long)a->size, em_memory_kind_text(a->kind),
            r == -EEXIST ? "memory is already there" : "the range exceeds the address space");
    a->id = ++last_id;
    if (!a->block_id)
        a->block_id = a->id;
    if (!a->mapping_size) {
        a->mapping_base = a->base;
        a->mapping_size = a->kind == EM_MEMORY_IMPORTED
                              ? (a->size + GRANULE_B - 1) & ~(uint64_t)(GRANULE_B - 1)
                              : a->size;
    }
    if (a->kind != EM_MEMORY_VIRTUAL)
        a->access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    a->sync_memops = syncs_by_default(a->kind);
    if (a->kind == EM_MEMORY_DEVICE)
        a->rdma_capable = true;
    a->born_call = em_call_now();
    a->born_by = em_entry_name();
    link_to_context(a);
    if (em_unlikely(em_recording))
        record(a);
    return CUDA_SUCCESS;
}

void em_memory_leave(struct em_allocation *a)
{
    em_assert_locked();
    history[history_count++ % HISTORY] = (struct past){
        .base = a->base,
        .size = a->size,
        .kind = a->kind,
        .born_by = a->born_by,
        .born_call = a->born_call,
        .died_by = em_entry_name(),
        .died_call = em_call_now(),
    };
    dm_rangemap_remove(&map, a->base, NULL);
    departures++;
    if (last_found == a)
        last_found = NULL;
    unlink_from_context(a);
    em_written_unref(a->written);
    a->written = NULL;
    if (em_unlikely(em_recording))
        em_record_memory_end(a->id);
    if (a->ipc_slot)
        em_ipc_shared_free(a->ipc_slot);
}

void em_memory_remove(struct em_allocation *a)
{
    em_assert_locked();
    em_memory_leave(a);
    // Addresses of a pool may be freed later, and a graphics buffer outlives its view.
    if (em_unlikely(em_order_on) && a->kind != EM_MEMORY_POOLED && a->kind != EM_MEMORY_GRAPHICS)
        em_order_forget(a->base, a->size);
    a->release(a);
}

static bool holds(const struct em_allocation *a, uint64_t address, uint64_t size)
{
    return address >= a->base && address - a->base < a->size &&
           size <= a->size - (address - a->base);
}

// Returns the allocation that contains the byte at `address`, or NULL.
static struct em_allocation *at(uint64_t address)
{
    if (last_found && holds(last_found, address, 0))
        return last_found;
    struct em_allocation *a = dm_rangemap_owner(&map, address);
    if (a)
        last_found = a;
    return a;
}

struct em_allocation *em_memory_find_shared(uint64_t address, uint64_t size)
{
    em_assert_readable();
    struct em_allocation *a = dm_rangemap_owner(&map, address);
    return a && holds(a, address, size) ? a : NULL;
}

struct em_allocation *em_memory_find_plain(uint64_t address, uint64_t size, unsigned access)
{
    em_assert_readable();
    struct em_allocation *a = em_memory_find_shared(address, size);
    if (!a || (a->access & access) != access)
        return NULL;
    return a->watch || a->written || em_memory_may_fault(a) || em_memory_is_context_bound(a) ? NULL
                                                                                             : a;
}

struct em_allocation *em_memory_find_unwatched(uint64_t address, uint64_t size, unsigned access)
{
    em_assert_locked();
    struct em_allocation *a = at(address);
    return a && holds(a, address, size) && (a->access & access) == access && !a->watch &&
                   !a->written
               ? a
               : NULL;
}

struct em_allocation *em_memory_find(uint64_t address, uint64_t size)
{
    em_assert_locked();
    struct em_allocation *a = at(address);
    return a && holds(a, address, size) ? a : NULL;
}

struct em_allocation *em_memory_overlapping(uint64_t address, uint64_t size)
{
    em_assert_readable();
    struct dm_range r;
    return size && dm_rangemap_next(&map, address, &r) &&
                   (r.start <= address || r.start - address < size)
               ? r.owner
               : NULL;
}

CUresult em_reservation_enter(uint64_t base, uint64_t size, void *owner)
{
    em_assert_locked();
    if (dm_rangemap_insert(&reservations, base, size, owner))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while tracking a reservation of %llu bytes",
                       (unsigned long long)size);
    if (em_unlikely(em_recording)) // its address is a number that no other memory has
        em_record_memory(&(struct em_record_memory){
            .id = base, .kind = "reservation", .address = base, .size_B = size});
    return CUDA_SUCCESS;
}

void em_reservation_remove(uint64_t base)
{
    em_assert_locked();
    dm_rangemap_remove(&reservations, base, NULL);
    if (em_unlikely(em_recording))
        em_record_memory_end(base);
}

void *em_reservation_find(uint64_t address, uint64_t *base, uint64_t *size)
{
    struct dm_range r;
    if (!dm_rangemap_find(&reservations, address, &r))
        return NULL;
    if (base)
        *base = r.start;
    if (size)
        *size = r.size;
    return r.owner;
}

bool em_reservation_next(const void *owner, uint64_t *base, uint64_t *size)
{
    em_assert_locked();
    struct dm_range r;
    for (uint64_t at = *base; dm_rangemap_next(&reservations, at, &r); at = r.start + r.size) {
        if (r.owner == owner) {
            *base = r.start;
            *size = r.size;
            return true;
        }
    }
    return false;
}

// "device memory 0x7f…+4096 (cuMemAlloc_v2, call 12)".
static void allocation_text(uint64_t base, uint64_t size, enum em_memory_kind kind,
                            const char *born_by, uint64_t born_call, char *out, size_t size_B)
{
    char when[64];
    em_call_text(born_call, when, sizeof when);
    snprintf(out, size_B, "%s %#llx+%llu (%s, %s)", em_memory_kind_text(kind),
             (unsigned long long)base, (unsigned long long)size, born_by, when);
}

static const struct past *past_at(uint64_t address)
{
    uint64_t kept = history_count < HISTORY ? history_count : HISTORY;
    for (uint64_t i = 1; i <= kept; i++) {
        const struct past *p = &history[(history_count - i) % HISTORY];
        if (address - p->base < p->size)
            return p;
    }
    return NULL;
}

const char *em_memory_text(uint64_t address, char *out, size_t size_B)
{
    em_assert_locked();
    char noun[192], when[64];
    unsigned long long n = address, base;
    struct dm_range r;
    struct em_allocation *a = at(address);
    const struct past *p = address && !a ? past_at(address) : NULL;
    if (!address) {
        snprintf(out, size_B, "NULL");
    } else if (a) {
        allocation_text(a->base, a->size, a->kind, a->born_by, a->born_call, noun, sizeof noun);
        snprintf(out, size_B, "%#llx is byte %llu of %s", n,
                 (unsigned long long)(address - a->base), noun);
    } else if (p) {
        allocation_text(p->base, p->size, p->kind, p->born_by, p->born_call, noun, sizeof noun);
        em_call_text(p->died_call, when, sizeof when);
        snprintf(out, size_B, "%#llx is byte %llu of %s, which was freed by %s in %s", n,
                 (unsigned long long)(address - p->base), noun, p->died_by, when);
    } else if (dm_rangemap_find(&reservations, address, &r)) {
        base = r.start;
        snprintf(out, size_B, "%#llx is in an unmapped part of the reservation %#llx+%llu", n, base,
                 (unsigned long long)r.size);
    } else if (dm_rangemap_previous(&map, address, &r) && address - (r.start + r.size) < NEAR) {
        a = r.owner;
        allocation_text(a->base, a->size, a->kind, a->born_by, a->born_call, noun, sizeof noun);
        snprintf(out, size_B, "%#llx is %llu bytes past the end of %s", n,
                 (unsigned long long)(address - (r.start + r.size)), noun);
    } else {
        snprintf(out, size_B, "%#llx is not memory that the driver knows", n);
    }
    return out;
}

// Reports why [address, address + size) is not inside one allocation. `have` is the number of bytes
// that exist from `address` on.
static CUresult fail_outside(uint64_t address, uint64_t size, uint64_t have, const char *name,
                             CUresult code)
{
    char text[512];
    const struct past *p = have ? NULL : past_at(address);
    if (p && p->kind == EM_MEMORY_GRAPHICS)
        return em_mistake(G06, code, "%s: %s", name, em_memory_text(address, text, sizeof text));
    if (!address)
        return em_fail(code, "%s is NULL", name);
    if (!have || address + size < address)
        return em_fail(code, "%s: %s", name, em_memory_text(address, text, sizeof text));
    return em_fail(code, "%s: the range of %llu bytes exceeds the memory by %llu bytes; %s", name,
                   (unsigned long long)size, (unsigned long long)(size - have),
                   em_memory_text(address, text, sizeof text));
}

CUresult em_memory_get(uint64_t address, uint64_t size, const char *name, CUresult code,
                       struct em_allocation **out)
{
    em_assert_locked();
    struct em_allocation *a = at(address);
    if (em_likely(a && holds(a, address, size))) {
        *out = a;
        return CUDA_SUCCESS;
    }
    return fail_outside(address, size, a ? a->size - (address - a->base) : 0, name, code);
}

static CUresult no_access(const struct em_allocation *a, unsigned access, const char *name,
                          CUresult code)
{
    return em_fail(code, "%s: the device may not %s %s %#llx+%llu; call cuMemSetAccess first", name,
                   access == CU_MEM_ACCESS_FLAGS_PROT_READ ? "read" : "write",
                   em_memory_kind_text(a->kind), (unsigned long long)a->base,
                   (unsigned long long)a->size);
}

static CUresult other_context(const struct em_allocation *a, uint64_t address, const char *name,
                              CUresult code)
{
    char text[512];
    return em_fail(
        code,
        "%s: %s can be filled only in the context that mapped it, which is not the current one; %s",
        name, em_memory_kind_text(a->kind), em_memory_text(address, text, sizeof text));
}

CUresult em_memory_check(struct em_context *context, uint64_t address, uint64_t size,
                         unsigned access, const char *name, CUresult code,
                         struct em_pointer_range *out)
{
    struct em_allocation *a = at(address);
    *out = (struct em_pointer_range){.first = a};
    if (!a)
        return fail_outside(address, size, 0, name, code);
    if (em_memory_is_context_bound(a) && context && a->context != context)
        return other_context(a, address, name, code);
    uint64_t have = a->size - (address - a->base);
    while (true) {
        if ((a->access & access) != access)
            return no_access(a, access, name, code);
        out->may_fault |= em_memory_may_fault(a);
        if (em_memory_residence(a) > out->residence)
            out->residence = em_memory_residence(a);
        if (em_likely(have >= size))
            break;
        struct em_allocation *next = a->kind == EM_MEMORY_VIRTUAL ? at(a->base + a->size) : NULL;
        if (!next || next->kind != EM_MEMORY_VIRTUAL)
            return fail_outside(address, size, have, name, code);
        a = next;
        have += a->size;
    }
    return CUDA_SUCCESS;
}

// ---- accesses of commands ----

// Finds the allocation again if any has left the map since the access was made.
static const struct em_watch_ops *watch_memory(struct em_access *access)
{
    em_assert_locked();
    if (em_unlikely(access->epoch != departures)) {
        access->owner = em_memory_find(access->address, access->size_B);
        access->epoch = departures;
    }
    const struct em_allocation *a = access->owner;
    if (a && em_unlikely(a->written))
        em_written_note_access(a, access);
    return a ? a->watch : NULL;
}

static const struct em_access_ops memory_access_ops = {.watch = watch_memory};

void em_memory_access(struct em_access *access, struct em_allocation *a, uint64_t address,
                      uint64_t size_B, enum em_access_mode mode)
{
    em_assert_readable();
    em_access_init(access, &memory_access_ops, a, mode);
    access->address = address;
    access->size_B = size_B;
    access->epoch = departures;
}

// ---- the beginning and the end of a context ----

static void begin_context(struct em_context *context)
{
    em_assert_locked();
    em_memory_prepare(context);
    dm_rangemap_prepare(&map);
    DM_MAP_CODE(em_writable); // in each call of cuMemAlloc
}

static void release_context(struct em_context *context)
{
    em_assert_locked();
    while (context->allocations)
        em_memory_remove(context->allocations);
    em_context_heaps_end(context);
}

DM_STARTUP void em_memory_start(void)
{
    em_assert_unlocked();
    static const struct em_context_observer observer = {
        .begin = begin_context, .release = release_context, .idle = em_memory_drop_kept};
    em_context_observe(EM_OBSERVER_MEMORY, &observer);
    em_order_memory_text = em_memory_text;
}
