// SPDX-License-Identifier: MIT
// Decides how long a thread that waits for another process looks at the shared words before it
// sleeps.
//
// To wake a thread on a core that sleeps takes 5 to 20 us, and a process that answers at once needs
// less than 1 us. So a wait begins with a spin of DM_SPIN_NS at most. A spin is in vain if the
// answer takes longer, or if the other process waits for this core. The more spins of a thread were
// in vain, one after the other, the more of its waits sleep at once:
//
//     spins in vain        0 … 2    3    4    5   …   10 and more
//     waits without spin     0      1    2    4   …      128         then one wait spins again
//
// Only short waits are counted there, because no spin can shorten a long one. So a thread whose
// waits are long stops spinning after a few of them. A spin that succeeds forgets those in vain.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dm_spin {
    uint64_t waits_since_ns; // dm_now_ns; 0: does not wait
    uint32_t left_ns;        // that may still be spun in this wait
    bool spends;             // this wait began with a spin
    uint16_t vain;           // spins in vain, one after the other
    uint16_t pass;           // so many short waits sleep at once
};

enum {
    DM_SPIN_NS = 40000, // in a wait: twice the time that it takes to wake another process
    DM_SPIN_SHORT_NS = 2 * DM_SPIN_NS // a wait that took longer was long
};

// The thread waits at the time `now_ns`: how long it may still spin in this wait, or 0.
uint64_t dm_spin_budget(struct dm_spin *spin, uint64_t now_ns);
// The thread has spun for so long.
void dm_spin_spent(struct dm_spin *spin, uint64_t ns);
// The wait is over, at the time `now_ns`: decides whether later ones spin.
void dm_spin_wait_over(struct dm_spin *spin, uint64_t now_ns);

// `vain` and `pass` in one word, for waits that threads share, and back.
uint32_t dm_spin_history(const struct dm_spin *spin);
struct dm_spin dm_spin_of_history(uint32_t history);

// To be called before and after a spin. Returns false if the thread must not spin: if threads of
// this library spin on half of the machine's cores already, or if there is only one core.
bool dm_spin_begin(void);
void dm_spin_end(void);
// Waits for about 100 ns, on processors that have an instruction for it.
void dm_spin_pause(void);
