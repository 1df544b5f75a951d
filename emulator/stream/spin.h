// SPDX-License-Identifier: MIT
// Decides how long a thread that waits for another process looks at the shared words before it
// sleeps.
//
// To wake a thread on a core that sleeps takes 5 to 20 us, and a process that answers at once needs
// less than 1 us. So a wait begins with a spin of EM_SPIN_NS at most. A spin is in vain if the
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

struct em_spin_state;

enum {
    EM_SPIN_NS = 40000, // in a wait: twice the time that it takes to wake another process
    EM_SPIN_SHORT_NS = 2 * EM_SPIN_NS // a wait that took longer was long
};

// The thread waits at the time `now_ns`: how long it may still spin in this wait, or 0.
uint64_t em_spin_budget(struct em_spin_state *spin, uint64_t now_ns);
// The thread has spun for so long.
void em_spin_spent(struct em_spin_state *spin, uint64_t ns);
// The wait is over.
void em_spin_wait_over(struct em_spin_state *spin, uint64_t now_ns);
