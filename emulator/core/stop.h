// SPDX-License-Identifier: MIT
// Stops the program before each call, command and diagnostic, for `cardless step` (CARDLESS_STOP).
// A program that is stepped is recorded, too: the tool shows its state from the recording.
#pragma once
#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"
#include "stop_page.h"

// Maps the page of CARDLESS_STOP. The first process that does it is stepped. Called when the
// recording starts.
void em_stop_start(void);

extern DM_HIDDEN bool em_stops; // the process is stepped; fixed before the first call returns
void em_stop_here(enum em_stop_kind kind, const char *name, uint64_t id);

// Whether this process is stepped.
bool em_stop_is_on(void);

// Waits until the tool lets the thread go on. Does nothing if the process is not stepped. `name` is
// the call, the kind of the command or the id of the diagnostic; `id` is the command's number in
// the recording. May be called with em_lock held or not: other threads that need it wait, too.
static inline void em_stop(enum em_stop_kind kind, const char *name, uint64_t id)
{
    if (__builtin_expect(em_stops, 0))
        em_stop_here(kind, name, id);
}
