// SPDX-License-Identifier: MIT
// The exported functions of cardless_fuzz.h.
#include <cardless_fuzz.h>

#include "call.h"
#include "inject.h"
#include "reset.h"

#define EXPORT __attribute__((visibility("default")))

// Counts the call, checks that the driver is initialised, and does the work.
#define CALL(function, work)                                                                       \
    do {                                                                                           \
        static const struct em_entry entry = {.name = #function};                                  \
        struct em_thread *self = em_thread();                                                      \
        const struct em_entry *outer = em_begin(self, &entry);                                     \
        CUresult r = em_permitted(self);                                                           \
        if (!r)                                                                                    \
            r = em_thread_need_init(self);                                                         \
        if (!r)                                                                                    \
            r = (work);                                                                            \
        return em_end(self, outer, r);                                                             \
    } while (0)

_Static_assert((int)CARDLESS_FUZZ_ALLOCATION == EM_INJECT_ALLOCATION &&
                   (int)CARDLESS_FUZZ_IMPORT == EM_INJECT_IMPORT &&
                   (int)CARDLESS_FUZZ_MEMORY == EM_INJECT_MEMORY &&
                   (int)CARDLESS_FUZZ_DEVICE == EM_INJECT_DEVICE &&
                   (int)CARDLESS_FUZZ_ABORT_MISTAKES == EM_ABORT_MISTAKES &&
                   (int)CARDLESS_FUZZ_ABORT_ERRORS == EM_ABORT_ERRORS &&
                   (int)CARDLESS_FUZZ_ABORT_LEAKS == EM_ABORT_LEAKS,
               "the driver's numbers are those of the header");

EXPORT CUresult cardlessFuzzReset(void)
{
    CALL(cardlessFuzzReset, em_reset());
}

EXPORT CUresult cardlessFuzzLeft(unsigned *count, char *text, size_t capacity)
{
    CALL(cardlessFuzzLeft, count ? em_left(count, text, text ? capacity : 0) : em_null("count"));
}

static CUresult check_kind(cardlessFuzzFailure kind)
{
    return (unsigned)kind < EM_INJECT_COUNT
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "kind (%d) is not a cardlessFuzzFailure",
                         (int)kind);
}

static CUresult fail(cardlessFuzzFailure kind, unsigned long long n)
{
    CUresult r = check_kind(kind);
    if (!r)
        em_inject_set((enum em_inject)kind, n);
    return r;
}

EXPORT CUresult cardlessFuzzFail(cardlessFuzzFailure kind, unsigned long long n)
{
    CALL(cardlessFuzzFail, fail(kind, n));
}

static CUresult failed(cardlessFuzzFailure kind, int *out)
{
    CUresult r = out ? check_kind(kind) : em_null("failed");
    if (!r)
        *out = em_inject_failed((enum em_inject)kind);
    return r;
}

EXPORT CUresult cardlessFuzzFailed(cardlessFuzzFailure kind, int *out)
{
    CALL(cardlessFuzzFailed, failed(kind, out));
}

static CUresult set_aborts(unsigned flags)
{
    const unsigned all = EM_ABORT_MISTAKES | EM_ABORT_ERRORS | EM_ABORT_LEAKS;
    if (flags & ~all)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) contain unknown bits; known are %#x",
                       flags, all);
    __atomic_store_n(&em_aborts, flags, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

EXPORT CUresult cardlessFuzzAbort(unsigned flags)
{
    CALL(cardlessFuzzAbort, set_aborts(flags));
}
