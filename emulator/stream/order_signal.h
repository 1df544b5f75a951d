// SPDX-License-Identifier: MIT
// The values that a semaphore or a word in memory has had, and the work before each, for the
// ordering checker. A wait is ordered after the signal that ends it, not after later ones that
// happen to have come: otherwise a wait for too low a value would look right.
//
// Everything here: precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_clock;
struct em_command;

// The last values, the newest last. A zeroed struct has no values.
enum { EM_ORDER_SIGNALS = 32 };
struct em_order_signals {
    uint32_t count; // of all signals so far
    struct em_order_signal {
        uint64_t value;          // or the mark of a binary semaphore
        uint64_t replaced;       // the value before, if somebody outside has set it
        bool others;             // `replaced` counts
        struct em_clock *before; // also the work before all earlier signals
    } last[EM_ORDER_SIGNALS];
};

// A command signals a value, or the host if it is NULL. Allocates *signals first.
void em_order_signal(struct em_order_signals **signals, struct em_command *by, uint64_t value);
// A number that no other signal of a binary semaphore has, in any process.
uint64_t em_order_new_mark(void);
// The last signal of `value` has replaced another value. If that is not the one of the signal
// before, somebody outside has set it, and may have ended a wait.
void em_order_signal_replaced(struct em_order_signals *signals, uint64_t value, uint64_t replaced);
// A wait has ended: `ends(value, argument)` returns whether a value ends it. The command, or the
// host if it is NULL, is ordered after the oldest signal since the value last did not end the wait.
// If there is no such signal, somebody whom the checker does not see has signalled: another process
// or API, which may have waited for anything that has been signalled to it, or a store of the host.
void em_order_await(const struct em_order_signals *signals, struct em_command *waits,
                    bool (*ends)(uint64_t value, const void *argument), const void *argument);
// The same for a wait that the signal with this mark has ended.
void em_order_await_mark(const struct em_order_signals *signals, struct em_command *waits,
                         uint64_t mark);
void em_order_signals_free(struct em_order_signals *signals);

// Somebody outside the process may wait for the command from now on, or may have ended a wait.
void em_order_release_outside(struct em_command *command);
void em_order_acquire_outside(struct em_command *command);
// The host has waited for somebody outside the process.
void em_order_host_acquire_outside(void);

// Words of memory that commands write or wait for, by address.
// `visible`: the host may look at the word without a call.
void em_order_word_written(uint64_t address, struct em_command *by, uint64_t value, bool visible);
void em_order_word_awaited(uint64_t address, struct em_command *waits,
                           bool (*ends)(uint64_t value, const void *argument),
                           const void *argument);
// The memory is gone.
void em_order_forget_words(uint64_t first, uint64_t size_B);
