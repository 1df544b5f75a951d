// SPDX-License-Identifier: MIT
// Runs small copies and fills while em_lock is held.
#include "in_place.h"

#include "call.h"
#include "clock.h"
#include "command.h"
#include "copy.h"
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

// Runs fn(arg), which accesses memory. Returns false after a fault.
static bool run_guarded(void (*fn)(void *), void *arg, bool may_fault)
{
    const uint32_t keys = dm_pkey_enter();
    const int r = (may_fault ? dm_guarded_foreign : dm_guarded)(fn, arg, NULL);
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
    bool pageable, on_host;
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
        !em_memory_overlapping(address, size_B)) { // the program's own
        *out = (struct row_end){.pageable = true, .on_host = true};
        return true;
    }
    const struct em_allocation *a = em_memory_find_unwatched(address, size_B, access);
    if (!a)
        return false;
    *out = (struct row_end){.on_host = em_memory_residence(a) == EM_ON_HOST,
                            .may_fault = em_memory_may_fault(a)};
    return true;
}

bool em_copy_in_place(const struct em_copy *copy, struct em_stream *stream, bool *synchronous)
{
    em_assert_locked();
    const uint64_t size_B = copy->width_B;
    struct row_end dst, src;
    if (em_unlikely(em_recording_contents)) // em_copy_run records the bytes
        return false;
    if (em_unlikely(em_recording) && em_stop_is_on()) // it stops before each command
        return false;
    if (size_B > EM_IN_PLACE_MOST_B || copy->height != 1 || copy->depth != 1 ||
        !check_row(&copy->dst, size_B, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, &dst) ||
        !check_row(&copy->src, size_B, CU_MEM_ACCESS_FLAGS_PROT_READ, &src) ||
        !em_stream_runs_in_place(stream))
        return false;
    struct row row = {(uint8_t *)(uintptr_t)copy->dst.address,
                      (const uint8_t *)(uintptr_t)copy->src.address, size_B};
    *synchronous = dst.pageable || src.pageable || (dst.on_host && src.on_host);
    const uint64_t begin = em_unlikely(em_recording) ? dm_ticks() : 0;
    if (!run_guarded(copy_row, &row, dst.may_fault || src.may_fault))
        return false;
    if (em_unlikely(em_recording))
        em_record_in_place(stream, "memcpy", begin,
                           (const struct em_record_span[]){{copy->src.address, size_B, false},
                                                           {copy->dst.address, size_B, true}},
                           2);
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
    // Fills reach imported memory only in the context that has mapped it.
    if (!a || em_memory_is_context_bound(a) || !em_stream_runs_in_place(stream))
        return false;
    struct em_fill f = *fill;
    const uint64_t begin = em_unlikely(em_recording) ? dm_ticks() : 0;
    if (!run_guarded(fill_row, &f, em_memory_may_fault(a)))
        return false;
    if (em_unlikely(em_recording))
        em_record_in_place(
            stream, "memset", begin,
            &(const struct em_record_span){fill->address, fill->width * fill->value_B, true}, 1);
    return true;
}
