// SPDX-License-Identifier: MIT
// Runs small copies and fills without a command.
#include "in_place.h"

#include "call.h"
#include "clock.h"
#include "command.h"
#include "copy.h"
#include "copy_command.h"
#include "error.h"
#include "fill.h"
#include "guard.h"
#include "kn_copy.h"
#include "kn_fill.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "pkey.h"
#include "record.h"
#include "record_command.h"
#include "record_content.h"
#include "stop.h"
#include "stream.h"

// Runs fn(arg), which accesses memory of the driver. Returns false after a fault.
static bool run_guarded(void (*fn)(void *), void *arg)
{
    const uint32_t keys = dm_pkey_enter();
    const int r = dm_guarded(fn, arg, NULL);
    dm_pkey_leave(keys);
    return !r;
}

// ---- copies ----

struct row {
    uint8_t *to;
    const uint8_t *from;
    uint64_t size_B;
};

static void copy_row(void *arg)
{
    const struct row *r = arg;
    const uintptr_t to = (uintptr_t)r->to, from = (uintptr_t)r->from;
    // The distance modulo 2^64 is less than the size if the destination begins inside the source.
    if (em_unlikely(to - from < r->size_B || from - to < r->size_B))
        kn_move(r->to, r->from, r->size_B);
    else
        kn_copy(r->to, r->from, r->size_B);
}

struct row_end {
    struct em_allocation *memory; // NULL: the program's own
    bool on_host;
    bool may_fault; // someone else may take its bytes away
};

// Returns whether the end is a row that may be copied in place.
static inline __attribute__((always_inline)) bool
check_row(const struct em_end *end, uint64_t size_B, unsigned access, struct row_end *out)
{
    const uint64_t address = end->address, last = address + size_B - 1;
    if ((end->kind != EM_END_ANY && end->kind != EM_END_DEVICE) || end->x_B || end->y || end->z ||
        end->pitch_B || end->rows || !address || last < address)
        return false;
    if (end->kind == EM_END_ANY && !em_is_device_address(address) && !em_is_device_address(last) &&
        !em_memory_overlapping(address, size_B)) {
        *out = (struct row_end){.on_host = true};
        return true;
    }
    struct em_allocation *a = em_memory_find_unwatched(address, size_B, access);
    if (!a)
        return false;
    *out = (struct row_end){.memory = a,
                            .on_host = em_memory_residence(a) == EM_ON_HOST,
                            .may_fault = em_memory_may_fault(a)};
    return true;
}

// A copy of memory that the driver does not control.
struct detached {
    struct em_copy_command command; // not set before it is adopted
    const struct em_copy *copy;
    struct em_stream *stream;
    struct row_end dst, src;
};

// Nothing has changed since em_lock was released, so the ends are still valid.
static void adopt(void *argument)
{
    struct detached *d = argument;
    const struct em_copy *copy = d->copy;
    em_assert_locked();
    em_copy_init(&d->command);
    d->command.command.access_count = EM_COPY_ACCESSES;
    d->command.command.stream = d->stream;
    d->command.extent = (struct dm_box_extent){copy->width_B, 1, 1};
    em_copy_set_row_end(&d->command, true, copy->dst.address, copy->width_B, d->dst.memory);
    em_copy_set_row_end(&d->command, false, copy->src.address, copy->width_B, d->src.memory);
    em_command_adopt(&d->command.command);
}

static struct em_record_run run_of(const struct em_copy *copy)
{
    return (struct em_record_run){
        2, {{copy->src.address, copy->width_B, false}, {copy->dst.address, copy->width_B, true}}};
}

static __attribute__((noinline, cold)) CUresult end_adopted(struct detached *d, bool async, bool ok,
                                                            uint64_t begin, uint64_t end)
{
    struct em_copy_command *c = &d->command;
    em_lock(); // after it, the command is complete
    em_unlock();
    if (em_recording) {
        const struct em_record_run run = run_of(d->copy);
        em_record_detached(d->stream, "memcpy", begin, end, &run, &c->command);
    }
    const int how = em_copy_has_to_wait(c, async) ? EM_SUBMIT_SYNC : EM_SUBMIT_ASYNC;
    const CUresult r = em_command_end_adopted(&c->command, !ok, how);
    return em_copy_is_found_later(c, r) ? CUDA_SUCCESS : r;
}

// Returns false after a fault.
static bool copy_guarded(const struct detached *d, struct row *row)
{
    const uint32_t keys = dm_pkey_enter();
    const int r = d->dst.may_fault || d->src.may_fault
                      ? dm_guarded_foreign(copy_row, row, NULL)
                      : dm_guarded_host(copy_row, row, row->size_B, NULL);
    dm_pkey_leave(keys);
    return !r;
}

static bool copy_detached(struct detached *d, struct row *row, bool async, CUresult *result)
{
    const uint64_t begin =
        em_unlikely(em_recording) ? em_record_in_order() : 0; // with em_lock held
    if (!em_stream_detach(d->stream, adopt, d))
        return false;
    const bool ok = copy_guarded(d, row);
    const uint64_t end = em_unlikely(begin) ? em_record_end() : 0;
    const bool adopted = em_stream_end_detached(d->stream);
    *result = CUDA_SUCCESS;
    if (em_unlikely(begin && ok && !adopted)) {
        const struct em_record_run run = run_of(d->copy);
        em_record_detached(d->stream, "memcpy", begin, end, &run, NULL);
    }
    if (em_likely(ok && !adopted))
        return true;
    if (adopted)
        *result = end_adopted(d, async, ok, begin, end);
    else
        em_lock();
    return adopted;
}

bool em_copy_in_place(const struct em_copy *copy, struct em_stream *stream, bool async,
                      bool *synchronous, CUresult *result)
{
    em_assert_locked();
    const uint64_t size_B = copy->width_B;
    struct detached d;
    if (em_unlikely(em_recording_contents)) // em_copy_run records the bytes
        return false;
    if (em_unlikely(em_recording) && em_stop_is_on()) // it stops before each command
        return false;
    if (size_B > EM_IN_PLACE_MOST_B || copy->height != 1 || copy->depth != 1 ||
        !check_row(&copy->dst, size_B, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, &d.dst) ||
        !check_row(&copy->src, size_B, CU_MEM_ACCESS_FLAGS_PROT_READ, &d.src) ||
        !em_stream_runs_in_place(stream))
        return false;
    struct row row = {(uint8_t *)(uintptr_t)copy->dst.address,
                      (const uint8_t *)(uintptr_t)copy->src.address, size_B};
    const bool pageable = !d.dst.memory || !d.src.memory;
    *synchronous = pageable || (d.dst.on_host && d.src.on_host);
    if (pageable || d.dst.may_fault || d.src.may_fault) {
        d.copy = copy;
        d.stream = stream;
        return copy_detached(&d, &row, async, result);
    }
    const uint64_t begin = em_unlikely(em_recording) ? em_record_in_order() : 0;
    if (!run_guarded(copy_row, &row))
        return false;
    if (em_unlikely(em_recording)) {
        const struct em_record_run run = run_of(copy);
        em_record_in_place(stream, "memcpy", begin, &run);
    }
    em_offer_sharing(stream);
    em_unlock();
    *result = CUDA_SUCCESS;
    return true;
}

// ---- fills ----

static void fill_row(void *arg)
{
    const struct em_fill *f = arg;
    void *at = (void *)(uintptr_t)f->address;
    if (f->value_B == 1)
        kn_fill8(at, (uint8_t)f->value, f->width);
    else if (f->value_B == 2)
        kn_fill16(at, (uint16_t)f->value, f->width);
    else
        kn_fill32(at, f->value, f->width);
}

bool em_fill_in_place(const struct em_fill *fill, struct em_stream *stream)
{
    em_assert_locked();
    if (em_unlikely(em_recording) && em_stop_is_on())
        return false;
    if (fill->height != 1 || fill->mixed || fill->width > EM_IN_PLACE_MOST_B / 4 ||
        fill->address % fill->value_B)
        return false;
    const struct em_allocation *a = em_memory_find_unwatched(
        fill->address, fill->width * fill->value_B, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    // Fills reach imported memory only in the context that has mapped it. Others may have to serve
    // the page faults of memory that may fault.
    if (!a || em_memory_is_context_bound(a) || em_memory_may_fault(a) ||
        !em_stream_runs_in_place(stream))
        return false;
    struct em_fill f = *fill;
    const uint64_t begin = em_unlikely(em_recording) ? em_record_in_order() : 0;
    if (!run_guarded(fill_row, &f))
        return false;
    if (em_unlikely(em_recording)) {
        const struct em_record_run run = {1, {{fill->address, fill->width * fill->value_B, true}}};
        em_record_in_place(stream, "memset", begin, &run);
    }
    em_offer_sharing(stream);
    em_unlock();
    return true;
}
