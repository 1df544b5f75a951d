// SPDX-License-Identifier: MIT
// Markers: one for each record of an event. Commands that wait for a record refer to its marker,
// and the event refers to that of its last record.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "condition.h"
#include "order_point.h"

struct em_event;
struct em_event_slot;

// One record of an event. Guarded by em_lock; `time_ns` may be read once `done` is set.
struct em_marker {
    uint32_t references; // of the event, and one of each command that records it or waits for it
    bool done;
    uint64_t time_ns;           // CLOCK_MONOTONIC at completion. Shared calls write it atomically
    struct em_order_mark order; // for the ordering checker: the work before the record
    struct em_condition completed; // the commands that wait for this record
    // With CU_EVENT_INTERPROCESS: the record for the other processes, and its number there.
    struct em_event_slot *slot;
    uint64_t slot_record;
};

// Drops a reference; the last one frees the marker. Does nothing if `marker` is NULL.
// Precondition: em_lock held.
void em_marker_unref(struct em_marker *marker);
// Makes the marker of the event's next record, with a reference for the command that completes it.
// Precondition: em_lock held.
CUresult em_event_next_marker(struct em_event *event, struct em_marker **out);
// Whether the event's last record is complete, or it has none, and no other process takes part.
// Precondition: em_lock held or shared.
bool em_event_is_plainly_done(const struct em_event *event);
// Returns whether this process made the last record of an event that processes share.
// Precondition: em_lock held.
bool em_event_is_ours(const struct em_event *event);
