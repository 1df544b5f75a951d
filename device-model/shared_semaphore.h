// SPDX-License-Identifier: MIT
// Semaphores that processes and APIs share: a 64-bit value in a sealed memfd. The driver imports
// them as CUexternalSemaphore, the Vulkan layer exports and imports them as VkSemaphore, and
// cardless.h makes them for tests.
//
//   memfd                     byte 0                                    byte 64
//   ┌───────┬─────────┬──────┬──────────┬───────┐        ┌───────┬──────┐
//   │ magic │ version │ kind │ identity │ check │   …    │ value │ word │
//   └───────┴─────────┴──────┴──────────┴───────┘        └───────┴──────┘
//     written once, by the process that creates it         `word` has two futexes (futex.h)
//
// There is no lock in the file, so a process that dies at any moment leaves a semaphore that works.
// Waiters keep waiting, as they do on a card. Whoever has the descriptor can
// write any bytes: they can make waits end too early or never, and nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "futex.h"

enum dm_semaphore_kind {
    DM_SEMAPHORE_BINARY = 1, // value 0: unsignalled, else the mark of the signal. A wait resets it
    DM_SEMAPHORE_TIMELINE = 2, // the value counts; waits leave it alone
};

extern const char dm_semaphore_magic[8];

struct dm_semaphore_shared {
    char magic[8];
    uint32_t version, kind;
    uint64_t identity; // in practice no two semaphores of a machine have the same
    uint64_t check;    // of the fields above
    _Alignas(64) uint64_t value;
    struct dm_word word;
};

// A mapping of a semaphore in this process.
struct dm_semaphore {
    struct dm_semaphore_shared *shared;
    enum dm_semaphore_kind kind; // read once: the file may change afterwards
    uint64_t identity;
    uint32_t spins; // atomic: the history of its waits in this process (spin.h)
};

// Creates a semaphore and a descriptor of it, which is closed on exec. A binary semaphore starts
// signalled if `value` is not 0. Returns 0 or a negative errno.
int dm_semaphore_create(enum dm_semaphore_kind kind, uint64_t value, struct dm_semaphore *out,
                        int *fd);
// Maps the semaphore of a descriptor, which stays the caller's. Returns 0; -EBADF if the descriptor
// is closed; -ENOTSUP if it is not a semaphore; -EBADMSG if it says that it is one, but is
// truncated, can be truncated, cannot be written, or has a damaged header or another version; or
// the negative errno of a mapping that failed.
int dm_semaphore_open(int fd, struct dm_semaphore *out);
void dm_semaphore_close(struct dm_semaphore *semaphore);

// Returns the value of a timeline semaphore; of a binary one 1 if it is signalled, else 0.
uint64_t dm_semaphore_value(const struct dm_semaphore *semaphore);
// Whether a wait for `value` ends now. A binary semaphore ignores `value`, here and below.
bool dm_semaphore_reached(const struct dm_semaphore *semaphore, uint64_t value);
// Ends a wait for `value` if it can end, and resets a binary semaphore. Returns false if it cannot:
// then the caller has to wait on.
bool dm_semaphore_acquire(struct dm_semaphore *semaphore, uint64_t value);
// As dm_semaphore_acquire. *mark becomes the mark of the signal that a binary semaphore had; else
// it stays as it is.
bool dm_semaphore_acquire_mark(struct dm_semaphore *semaphore, uint64_t value, uint64_t *mark);
// Sets the value of a timeline, even to a lower one, or the binary semaphore to signalled, and
// wakes those who wait. Returns the value before; of a binary semaphore 1 if it was signalled.
uint64_t dm_semaphore_signal(struct dm_semaphore *semaphore, uint64_t value);
// As dm_semaphore_signal. The wait that consumes the signal of a binary semaphore gets the mark,
// which is not 0.
uint64_t dm_semaphore_signal_mark(struct dm_semaphore *semaphore, uint64_t value, uint64_t mark);
// Resets a binary semaphore to unsignalled without a wait, as vkResetFences does.
void dm_semaphore_reset(struct dm_semaphore *semaphore);

// Spins for a moment (spin.h), then sleeps until dm_semaphore_reached. Does not reset a binary
// semaphore. Returns 0, or -ETIMEDOUT once the clock of dm_now_ns reaches `deadline_ns` (0: never).
int dm_semaphore_wait(struct dm_semaphore *semaphore, uint64_t value, uint64_t deadline_ns);
// As dm_semaphore_wait, but returns -ECANCELED once *stop is true. Whoever sets it (atomically)
// must call dm_semaphore_wake afterwards, which makes all waiters check again.
int dm_semaphore_wait_unless(struct dm_semaphore *semaphore, uint64_t value, uint64_t deadline_ns,
                             const bool *stop);
void dm_semaphore_wake(struct dm_semaphore *semaphore);
