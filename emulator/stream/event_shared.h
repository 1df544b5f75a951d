// SPDX-License-Identifier: MIT
// What processes share of an event: a slot in a sealed memfd of the process that made it, found by
// the others through /proc.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_event_slot;

// A slot of our own for a new event. Precondition: em_lock held.
CUresult em_event_slot_create(struct em_event_slot **out);
// The slot that another process's handle names. CUDA_ERROR_MAP_FAILED for anything else,
// CUDA_ERROR_INVALID_CONTEXT for one of this process.
CUresult em_event_slot_open(const CUipcEventHandle *handle, struct em_event_slot **out);
// Gives the slot back. Precondition: em_lock held.
void em_event_slot_close(struct em_event_slot *slot);

void em_event_slot_export(const struct em_event_slot *slot, CUipcEventHandle *out);

// The number of a new record; the number of the last one made by any process, 0: none; says that a
// record is complete; asks whether it is.
uint64_t em_event_slot_begin(struct em_event_slot *slot);
uint64_t em_event_slot_last(const struct em_event_slot *slot);
void em_event_slot_complete(struct em_event_slot *slot, uint64_t record);
bool em_event_slot_is_complete(const struct em_event_slot *slot, uint64_t record);
