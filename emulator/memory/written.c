// SPDX-License-Identifier: MIT
// Notes which bytes of allocations have been written.
#include "written.h"

#include "alloc.h"
#include "config.h"
#include "lock.h"
#include "memory.h"

enum { WORD_BITS = 64 };

bool em_written_begin(struct em_allocation *a)
{
    em_assert_locked();
    if (!em_config()->check_memory || a->host || // the program may write it without a call
        (a->kind != EM_MEMORY_DEVICE && a->kind != EM_MEMORY_POOLED))
        return true;
    const uint64_t words = (a->size + WORD_BITS - 1) / WORD_BITS;
    a->written = dm_calloc(1, sizeof *a->written + words * sizeof *a->written->words);
    if (!a->written)
        return false;
    a->written->references = 1;
    a->written->size_B = a->size;
    return true;
}

struct em_written *em_written_ref(struct em_written *written)
{
    em_assert_locked();
    written->references++;
    return written;
}

void em_written_unref(struct em_written *written)
{
    em_assert_locked();
    if (written && !--written->references)
        dm_free(written);
}

// Bits [first, end) of one word.
static uint64_t bits_of(uint64_t first, uint64_t end)
{
    const uint64_t high = end == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return high & ~((UINT64_C(1) << first) - 1);
}

void em_written_note(const struct em_allocation *a, uint64_t address, uint64_t size_B)
{
    em_assert_locked();
    struct em_written *w = a->written;
    if (!w || __atomic_load_n(&w->all, __ATOMIC_RELAXED))
        return;
    uint64_t first = address > a->base ? address - a->base : 0;
    uint64_t end = address + size_B < a->base + a->size ? address + size_B - a->base : a->size;
    if (!first && end == a->size) {
        __atomic_store_n(&w->all, true, __ATOMIC_RELAXED);
        return;
    }
    while (first < end) {
        const uint64_t word = first / WORD_BITS, next = (word + 1) * WORD_BITS;
        const uint64_t stop = next < end ? next : end;
        const uint64_t bits = bits_of(first % WORD_BITS, stop - word * WORD_BITS);
        if (bits == UINT64_MAX)
            __atomic_store_n(&w->words[word], bits, __ATOMIC_RELAXED);
        else
            __atomic_fetch_or(&w->words[word], bits, __ATOMIC_RELAXED);
        first = stop;
    }
}

void em_written_note_access(const struct em_allocation *a, const struct em_access *access)
{
    em_assert_locked();
    if (access->mode == EM_ACCESS_READ)
        return;
    if (access->form != EM_FORM_ROWS) {
        // Kernels in PTX note their writes themselves.
        if (access->mode == EM_ACCESS_WRITE)
            em_written_note(a, access->address, access->size_B);
        return;
    }
    if (!access->pitch_B || !access->slice_B)
        return;
    for (uint64_t slice = 0; slice < access->size_B; slice += access->slice_B)
        for (uint64_t row = 0; row < access->slice_rows_B; row += access->pitch_B)
            em_written_note(a, access->address + slice + row, access->row_B);
}
