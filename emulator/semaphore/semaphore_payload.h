// SPDX-License-Identifier: MIT
// Payloads: the shared state of a semaphore, mapped in this process, and the commands and threads
// that wait for it here.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "outside.h"
#include "shared_semaphore.h"

struct em_object;
struct em_order_signals;

struct em_payload {
    unsigned references; // of the semaphore object, and of each thread that waits
    struct dm_semaphore semaphore;
    struct em_source source;        // notifies when any process has signalled
    struct em_order_signals *order; // of this process, for the ordering checker; or NULL
};

// Makes a payload of a semaphore that was created or opened, which then belongs to the payload,
// also on failure. Precondition: em_lock held.
CUresult em_payload_create(struct dm_semaphore *semaphore, struct em_payload **out);
void em_payload_ref(struct em_payload *payload);
// Unmaps the semaphore with the last reference. Precondition: em_lock held.
void em_payload_unref(struct em_payload *payload);

// Signals the semaphore. Reports S04 if the value of a timeline does not rise, and S03 if the
// signal of a binary semaphore is lost because no wait has consumed the one before. Messages name
// the object. Precondition: em_lock not held.
// `mark` is that of em_payload_order_signal, or 0.
void em_payload_signal(struct em_payload *payload, uint64_t value, uint64_t mark,
                       const struct em_object *object);
// To be called after em_payload_signal: asks the commands of this process that wait for semaphores,
// and runs those that are ready. Precondition: em_lock held, which is released meanwhile.
void em_payload_progress(void);

// For the ordering checker: the command, or the host if it is NULL, is about to signal the
// semaphore. Returns the mark of the signal, or 0 for a timeline. Precondition: em_lock held.
struct em_command;
uint64_t em_payload_order_signal(struct em_payload *payload, struct em_command *by, uint64_t value);
// It has waited for the semaphore, and got the mark of dm_semaphore_acquire_mark.
// Precondition: em_lock held.
void em_payload_order_wait(const struct em_payload *payload, struct em_command *waits,
                           uint64_t value, uint64_t mark);
