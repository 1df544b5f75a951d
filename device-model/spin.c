// SPDX-License-Identifier: MIT
// The budget of a thread that spins, and the number of those that do.
#include "spin.h"

#include <unistd.h>

#include "space.h"

// The first and the last column of the table in spin.h.
enum { FORGIVEN = 2, VAIN_MOST = 10 };

uint64_t dm_spin_budget(struct dm_spin *s, uint64_t now_ns)
{
    if (!s->waits_since_ns) {
        s->waits_since_ns = now_ns;
        s->spends = !s->pass;
        s->left_ns = s->spends ? DM_SPIN_NS : 0;
    }
    return s->left_ns;
}

void dm_spin_spent(struct dm_spin *s, uint64_t ns)
{
    if (ns < s->left_ns) {
        s->left_ns -= (uint32_t)ns;
        return;
    }
    s->left_ns = 0;
    if (s->vain < VAIN_MOST)
        s->vain++;
    s->pass = s->vain > FORGIVEN ? (uint16_t)(1U << (s->vain - FORGIVEN - 1)) : 0;
}

// If the thread has spun and has not used up its budget, the spin was not in vain. A short wait
// without a spin is one less to pass.
void dm_spin_wait_over(struct dm_spin *s, uint64_t now_ns)
{
    const bool succeeded = s->left_ns && s->left_ns < DM_SPIN_NS;
    if (succeeded)
        s->vain = 0;
    else if (!s->spends && s->pass && now_ns - s->waits_since_ns < DM_SPIN_SHORT_NS)
        s->pass--;
    s->waits_since_ns = 0;
}

uint32_t dm_spin_history(const struct dm_spin *s)
{
    return (uint32_t)s->vain << 16 | s->pass;
}

struct dm_spin dm_spin_of_history(uint32_t history)
{
    return (struct dm_spin){.vain = (uint16_t)(history >> 16), .pass = (uint16_t)history};
}

// ---- threads ----

// Counts the cores of the machine, because the process that is awaited may use cores that this one
// may not. Under valgrind, only one thread runs at a time.
static unsigned spinners_most(void)
{
    static long cores; // 0: not known yet. Two threads may find out the same number
    long n = __atomic_load_n(&cores, __ATOMIC_RELAXED);
    if (!n) {
        n = dm_is_valgrind() ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
        __atomic_store_n(&cores, n, __ATOMIC_RELAXED);
    }
    return n < 2 ? 0 : (unsigned)n / 2;
}

static unsigned spinners; // atomic

bool dm_spin_begin(void)
{
    if (__atomic_fetch_add(&spinners, 1, __ATOMIC_RELAXED) < spinners_most())
        return true;
    dm_spin_end();
    return false;
}

void dm_spin_end(void)
{
    __atomic_fetch_sub(&spinners, 1, __ATOMIC_RELAXED);
}

void dm_spin_pause(void)
{
    for (int i = 0; i < 8; i++) {
#if defined __x86_64__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("isb");
#endif
    }
}
