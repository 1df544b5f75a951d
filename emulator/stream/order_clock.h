// SPDX-License-Identifier: MIT
// Clocks of the ordering checker: how far each component has come, as far as a stream, an event or
// the host knows.
//
// A component is something whose work is in one order: a stream, all ordered streams of a context,
// or all streams of a context. Its epochs are the sequence numbers of commands, so one entry for a
// context stands for all its streams, however many there are.
//
// Clocks are immutable trees that share their parts. Their shape depends on the keys alone (a node
// for each digit of the keys), so that two clocks which grew from one share all but the paths to
// the entries that differ, and joining them costs no more than these paths. Keys that follow each
// other are neighbours in memory. NULL is the empty clock. Everything here: precondition: em_lock
// held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"

struct em_clock;

// The number of components so far.
uint32_t em_order_components(void);
// Counts nodes that joins have visited and accesses that were compared, for a test of the cost.
extern DM_HIDDEN uint64_t em_order_steps;

// The epoch of a component, or 0.
uint64_t em_clock_get(const struct em_clock *clock, uint64_t key);
struct em_clock *em_clock_ref(struct em_clock *clock);
void em_clock_unref(struct em_clock *clock);

// The functions below replace *clock, whose reference they take over. If the host runs out of
// memory, they set em_clock_failed, and *clock is any clock from then on.
extern bool em_clock_failed;
// Each component has come at least as far as in `other`.
void em_clock_join(struct em_clock **clock, struct em_clock *other);
// The component has come at least as far as `epoch`. Returns false if that was known.
bool em_clock_raise(struct em_clock **clock, uint64_t key, uint64_t epoch);
// Drops the entries from `first` to `last` whose epochs are at most `epoch`.
void em_clock_prune(struct em_clock **clock, uint64_t first, uint64_t last, uint64_t epoch);
