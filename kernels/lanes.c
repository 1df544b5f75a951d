// SPDX-License-Identifier: MIT
// The table of forms for each instruction set, the search by name, and the loop that runs
// operations.
#include "lanes/families.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "kn_abreast.h"
#include "kn_chain.h"
#include "kn_cpu.h"
#include "kn_register.h"

enum {
    FORMS_MOST = 4096, // of a set
    SLOTS = 8192,      // of the hash table: a power of two
    SETS = 3,
};

// Whether the caller is the first one, who has to fill something in and then to call filled. Others
// wait until that has been done, which takes microseconds.
enum { FRESH, FILLING, READY };
static bool must_fill(atomic_int *state)
{
    int fresh = FRESH;
    if (atomic_load_explicit(state, memory_order_acquire) == READY)
        return false;
    if (atomic_compare_exchange_strong(state, &fresh, FILLING))
        return true;
    while (atomic_load_explicit(state, memory_order_acquire) != READY)
        ;
    return false;
}

static void filled(atomic_int *state)
{
    atomic_store_explicit(state, READY, memory_order_release);
}

struct set {
    atomic_int state;
    unsigned count, arithmetic;
    struct kn_form forms[FORMS_MOST];
};
static struct set sets[SETS];
static uint16_t slots[SLOTS]; // 1 + the index of a form; filled with the first set

static void set_add(struct set *set, const struct kn_form *rows, const struct kn_form *first_other)
{
    if (rows == first_other)
        set->arithmetic = set->count;
    for (; rows->name; rows++)
        if (set->count < FORMS_MOST)
            set->forms[set->count++] = *rows;
}

static void set_fill(struct set *set, unsigned index)
{
// The families before this one are arithmetic.
#define ADD(family, name) set_add(set, kn_forms_##family##_##name, kn_forms_matrix_integer_##name);
    switch (index) {
#if KN_HAVE_LANES_SETS
    case 1:
        KN_FAMILIES(ADD, avx2) break;
    case 2:
        KN_FAMILIES(ADD, avx512) break;
#endif
    default:
        KN_FAMILIES(ADD, c) break;
    }
#undef ADD
}

static unsigned hash(const char *name)
{
    unsigned h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ h >> 15) % SLOTS;
}

static unsigned set_index(unsigned flags)
{
    return !KN_HAVE_LANES_SETS ? 0 : flags & KN_CPU_AVX512 ? 2 : flags & KN_CPU_AVX2 ? 1 : 0;
}

static const struct set *set_for(unsigned flags)
{
    const unsigned index = set_index(flags);
    struct set *set = &sets[index];
    if (must_fill(&set->state)) {
        set_fill(set, index);
        filled(&set->state);
    }
    return set;
}

const struct kn_form *kn_forms_for(unsigned flags, unsigned *count)
{
    const struct set *set = set_for(flags);
    *count = set->count;
    return set->forms;
}

const struct kn_form *kn_forms(unsigned *count)
{
    return kn_forms_for(kn_cpu_flags(), count);
}

unsigned kn_forms_arithmetic(void)
{
    return set_for(0)->arithmetic;
}

static void fill_slots(const struct set *set)
{
    for (unsigned i = 0; i < set->count; i++) {
        unsigned slot = hash(set->forms[i].name);
        while (slots[slot])
            slot = (slot + 1) % SLOTS;
        slots[slot] = (uint16_t)(i + 1);
    }
}

int kn_form_find(const char *name)
{
    static atomic_int state;
    const struct set *set = set_for(0);
    if (must_fill(&state)) {
        fill_slots(set);
        filled(&state);
    }
    for (unsigned slot = hash(name); slots[slot]; slot = (slot + 1) % SLOTS)
        if (!strcmp(set->forms[slots[slot] - 1].name, name))
            return slots[slot] - 1;
    return -1;
}

#define CHAINS_DECLARE(set)                                                                        \
    extern const struct kn_chain kn_chains_arithmetic_##set[], kn_chains_approx_##set[],           \
        kn_chains_row_##set[];
#pragma GCC visibility push(hidden)
CHAINS_DECLARE(c)
CHAINS_DECLARE(avx2)
CHAINS_DECLARE(avx512)
#pragma GCC visibility pop

static void chains_add(const struct kn_chain **to, const struct kn_chain *rows)
{
    for (; rows->form; rows++)
        to[kn_form_find(rows->form)] = rows;
}

const struct kn_chain *const *kn_chains_for(unsigned flags)
{
    enum { TABLES = 3 };
    static struct {
        atomic_int state;
        const struct kn_chain *of[FORMS_MOST];
    } chains[SETS];
    static const struct kn_chain *const rows[SETS][TABLES] = {
        {kn_chains_arithmetic_c, kn_chains_approx_c, kn_chains_row_c},
#if KN_HAVE_LANES_SETS
        {kn_chains_arithmetic_avx2, kn_chains_approx_avx2, kn_chains_row_avx2},
        {kn_chains_arithmetic_avx512, kn_chains_approx_avx512, kn_chains_row_avx512},
#endif
    };
    const unsigned index = set_index(flags);
    if (must_fill(&chains[index].state)) {
        for (unsigned i = 0; i < TABLES; i++)
            chains_add(chains[index].of, rows[index][i]);
        filled(&chains[index].state);
    }
    return chains[index].of;
}

const struct kn_chain *const *kn_chains(void)
{
    return kn_chains_for(kn_cpu_flags());
}

#define ABREAST_DECLARE(set)                                                                       \
    extern const struct kn_abreast kn_abreast_arithmetic_##set[], kn_abreast_memory_##set[];
#pragma GCC visibility push(hidden)
ABREAST_DECLARE(c)
ABREAST_DECLARE(avx2)
ABREAST_DECLARE(avx512)
#pragma GCC visibility pop

kn_abreast_fn *const *kn_abreast(void)
{
    enum { TABLES = 2 };
    static struct {
        atomic_int state;
        kn_abreast_fn *of[FORMS_MOST];
    } all[SETS];
    static const struct kn_abreast *const rows[SETS][TABLES] = {
        {kn_abreast_arithmetic_c, kn_abreast_memory_c},
#if KN_HAVE_LANES_SETS
        {kn_abreast_arithmetic_avx2, kn_abreast_memory_avx2},
        {kn_abreast_arithmetic_avx512, kn_abreast_memory_avx512},
#endif
    };
    const unsigned index = set_index(kn_cpu_flags());
    if (must_fill(&all[index].state)) {
        for (unsigned i = 0; i < TABLES; i++)
            for (const struct kn_abreast *row = rows[index][i]; row->form; row++)
                all[index].of[kn_form_find(row->form)] = row->run;
        filled(&all[index].state);
    }
    return all[index].of;
}

#pragma GCC visibility push(hidden)
kn_register_add_fn kn_register_add_c, kn_register_add_avx2, kn_register_add_avx512;
#pragma GCC visibility pop

kn_register_add_fn *kn_register_add(void)
{
    static kn_register_add_fn *const of[SETS] = {
        kn_register_add_c,
#if KN_HAVE_LANES_SETS
        kn_register_add_avx2,
        kn_register_add_avx512,
#endif
    };
    return of[set_index(kn_cpu_flags())];
}

void kn_warp_activate(struct kn_warp *w, uint32_t lanes)
{
#define BITS(i) UINT32_C(1) << (i), UINT32_C(2) << (i), UINT32_C(4) << (i), UINT32_C(8) << (i)
    static const uint32_t bits[KN_LANES] = {BITS(0),  BITS(4),  BITS(8),  BITS(12),
                                            BITS(16), BITS(20), BITS(24), BITS(28)};
#undef BITS
    w->active = lanes;
    w->partial = lanes != UINT32_MAX;
    if (w->spread == lanes)
        return;
    w->spread = lanes;
    for (int i = 0; i < KN_LANES; i++) // vectors without shifts by different counts can do this
        w->active_lanes[i] = -(int32_t)((lanes & bits[i]) != 0);
}

void kn_warp_run(struct kn_warp *w, const struct kn_op *op)
{
    while (op)
        op = op->run[w->partial](op, w);
}
