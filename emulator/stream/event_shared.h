// SPDX-License-Identifier: MIT
// Events shared between processes: a slot in a sealed memfd of the process that created the event.
// Other processes open the memfd through /proc.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "condition.h"

struct em_event_slot;

// Creates a slot for a new event of this process. Precondition: em_lock held.
CUresult em_event_slot_create(struct em_event_slot **out);
// Opens the slot that another process's handle names. Fails with CUDA_ERROR_INVALID_CONTEXT for a
// handle of this process, and with CUDA_ERROR_MAP_FAILED for anything else.
CUresult em_event_slot_open(const CUipcEventHandle *handle, struct em_event_slot **out);
// Gives the slot back. Precondition: em_lock held.
void em_event_slot_close(struct em_event_slot *slot);

// Makes a handle that other processes can open. Fails with CUDA_ERROR_MAP_FAILED if the program has
// closed the memfd.
CUresult em_event_slot_export(const struct em_event_slot *slot, CUipcEventHandle *out);

// The number of a new record.
uint64_t em_event_slot_begin(struct em_event_slot *slot);
// The number of the last record that any process has made, or 0.
uint64_t em_event_slot_last(const struct em_event_slot *slot);
// Completes a record and wakes the processes that wait for the event.
void em_event_slot_complete(struct em_event_slot *slot, uint64_t record);
bool em_event_slot_is_complete(const struct em_event_slot *slot, uint64_t record);
// The condition of those who wait for a record that another process has made. It is notified when a
// record of the event completes, or the process that made this one ends.
// Precondition: em_lock held.
struct em_condition *em_event_slot_watch(struct em_event_slot *slot, uint64_t record);
