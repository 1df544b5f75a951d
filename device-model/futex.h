// SPDX-License-Identifier: MIT
// Words in shared memory on which threads of all processes sleep.
#pragma once

#include <stdint.h>

// A state in shared memory has a word that changes with the state, and a count of those who may be
// asleep:
//
//     sleeper                                    changer
//     waiters + 1                                changes the state
//     seen = changed                             changed + 1
//     the state is not the wanted one?           waiters is not 0?
//     dm_word_sleep(&changed, seen)              wakes the futex `changed`
//
// Either the changer finds the sleeper counted, or the sleeper finds the state changed. If a
// process dies while it is counted, later changes make a system call in vain, and nobody hangs.
//
// `called` and `callers` are a second pair of the same kind, but `called` changes only while
// somebody is counted. A process whose thread watches the word all the time has another thread that
// waits for it now and then: it sleeps on `called`, and `waiters` does not count the process
// meanwhile. So a change wakes that thread only.
struct dm_word {
    uint32_t changed, waiters;
    uint32_t called, callers;
};

// Changes the word, and wakes everybody who sleeps on it.
void dm_word_changed(struct dm_word *word);
// Sleeps until the word is not `seen`, the clock of dm_now_ns reaches `deadline_ns` (0: never), or
// for no reason at all. Returns 0, or -ETIMEDOUT.
int dm_word_sleep(const uint32_t *word, uint32_t seen, uint64_t deadline_ns);
