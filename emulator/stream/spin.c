// SPDX-License-Identifier: MIT
// The budget of a thread that spins.
#include "spin.h"

#include "thread.h"

enum { FORGIVEN = 2, VAIN_MOST = 10 };

uint64_t em_spin_budget(struct em_spin_state *s, uint64_t now_ns)
{
    if (!s->waits_since_ns) {
        s->waits_since_ns = now_ns;
        s->spends = !s->pass;
        s->left_ns = s->spends ? EM_SPIN_NS : 0;
    }
    return s->left_ns;
}

void em_spin_spent(struct em_spin_state *s, uint64_t ns)
{
    if (ns < s->left_ns) {
        s->left_ns -= (uint32_t)ns;
        return;
    }
    s->left_ns = 0;
    if (s->vain < VAIN_MOST)
        s->vain++;
    s->pass = s->vain > FORGIVEN ? 1U << (s->vain - FORGIVEN - 1) : 0;
}

void em_spin_wait_over(struct em_spin_state *s, uint64_t now_ns)
{
    if (s->left_ns && s->left_ns < EM_SPIN_NS)
        s->vain = 0;
    else if (!s->spends && s->pass && now_ns - s->waits_since_ns < EM_SPIN_SHORT_NS)
        s->pass--;
    s->waits_since_ns = 0;
}
