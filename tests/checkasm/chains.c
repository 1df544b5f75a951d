// SPDX-License-Identifier: MIT
// Tests of chains (kn_chain.h): random chains against the plain C forms of their operations, which
// read and write every value in memory, for all lanes or for some.
#include <stdio.h>
#include <string.h>

#include "checkasm.h"
#include "kn_chain.h"
#include "lanes.h"

enum {
    LENGTH_MOST = 8, // operations of a chain
    REGISTERS = 8,
    VALUE = REGISTERS, // the value of the chain, in the file of the plain forms
    RESULT,            // of one operation, likewise
    WORDS = KN_LANES,  // of a register
};

// One operation of a chain.
struct step {
    const struct kn_chain *chain;
    unsigned in, sources, at[3], d;
    enum kn_link link;
};

static uint32_t offset_of(unsigned reg)
{
    return reg * CA_REGISTER_B + 64;
}

static const struct kn_op *stop(const struct kn_op *op, struct kn_warp *w)
{
    (void)op;
    (void)w;
    return NULL;
}

static struct kn_op operation(const struct step *s, kn_lane_fn *run)
{
    return (struct kn_op){.run = {run, run},
                          .d = offset_of(s->d),
                          .a = offset_of(s->at[0]),
                          .b = offset_of(s->at[1]),
                          .c = offset_of(s->at[2]),
                          .guard_flip = UINT32_MAX};
}

static void run(const struct kn_op *ops, uint8_t *registers, uint32_t lanes)
{
    struct kn_warp w = {.r = (char *)registers, .lanes = UINT32_MAX};
    kn_warp_activate(&w, lanes);
    kn_warp_run(&w, ops);
}

static void copy_lanes(uint8_t *to, const uint8_t *from, uint32_t lanes)
{
    for (unsigned i = 0; i < KN_LANES; i++)
        if (lanes >> i & 1)
            memcpy(to + i * sizeof(uint32_t), from + i * sizeof(uint32_t), sizeof(uint32_t));
}

static void run_plain(const struct step *steps, unsigned count, uint8_t *registers, uint32_t lanes)
{
    unsigned form_count;
    const struct kn_form *plain = kn_forms_for(0, &form_count);
    for (unsigned i = 0; i < count; i++) {
        struct step s = steps[i];
        for (unsigned n = 0; n < s.sources; n++)
            s.at[n] = s.in >> n & 1 ? VALUE : s.at[n];
        s.d = RESULT;
        const struct kn_op ops[] = {operation(&s, plain[kn_form_find(s.chain->form)].run[0]),
                                    {.run = {stop, stop}}};
        run(ops, registers, UINT32_MAX);
        const uint8_t *result = registers + offset_of(RESULT);
        if (s.link != KN_LINK_PASS)
            copy_lanes(registers + offset_of(steps[i].d), result, lanes);
        if (s.link == KN_LINK_PASS || s.link == KN_LINK_BOTH)
            memcpy(registers + offset_of(VALUE), result, WORDS * sizeof(uint32_t));
    }
}

static void run_chain(const struct step *steps, unsigned count, uint8_t *registers, uint32_t lanes)
{
    struct kn_op ops[LENGTH_MOST + 1];
    for (unsigned i = 0; i < count; i++)
        ops[i] = operation(&steps[i], steps[i].chain->run[steps[i].link][steps[i].in]);
    ops[count] = (struct kn_op){.run = {stop, stop}};
    run(ops, registers, lanes);
}

// Chooses an operation after one whose value `maker` has made (NULL: there is none). Returns false
// if it cannot be here.
static bool choose(struct step *s, const struct kn_chain *chain, const struct kn_chain *maker,
                   bool last)
{
    const struct kn_form *form;
    unsigned form_count;
    *s = (struct step){.chain = chain};
    form = &kn_forms(&form_count)[kn_form_find(chain->form)];
    s->sources = (unsigned)strlen(strchr(form->operands, '=') + 1);
    s->in = maker ? (unsigned)ca_below(1u << s->sources) : 0;
    s->link = last ? KN_LINK_STORE : (enum kn_link)(KN_LINK_PASS + ca_below(3));
    s->d = (unsigned)ca_below(REGISTERS);
    for (unsigned n = 0; n < s->sources; n++)
        s->at[n] = (unsigned)ca_below(REGISTERS);
    if (s->in && maker->raw && chain->bits)
        return false;
    if (s->link == KN_LINK_KEEP ? !maker : last ? !s->in : maker && !s->in)
        return false;
    return chain->run[s->link][s->in];
}

static void fill(uint8_t *registers)
{
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000,
                                     0x7f800000, 0xff800000, 0x7f812345, 0xffc00001, 0x3f800000,
                                     0x7e800000, 0xc2fc0001, 0x42fd0000, 0x7f7fffff};
    memset(registers, 0, CA_FILE_B);
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        const bool usual = ca_below(2);
        for (unsigned i = 0; i < WORDS; i++) {
            const uint32_t word = (uint32_t)ca_random();
            const uint32_t small = 0x3f000000 + word % 0x3000000;
            const uint32_t value = usual         ? small
                                   : ca_below(4) ? word
                                                 : edges[ca_below(sizeof(edges) / sizeof(*edges))];
            memcpy(registers + offset_of(reg) + i * sizeof(value), &value, sizeof(value));
        }
    }
}

// Each operation of `all` is the second one of a chain at least once in a round.
static void check_round(const struct kn_chain *const *all, unsigned count, unsigned second,
                        const struct ca_arena *got, const struct ca_arena *expected)
{
    struct step steps[LENGTH_MOST];
    const unsigned length = 2 + (unsigned)ca_below(LENGTH_MOST - 1);
    const struct kn_chain *maker = NULL;
    const uint32_t lanes = ca_below(2) ? UINT32_MAX : (uint32_t)ca_random();
    for (unsigned i = 0; i < length; i++) {
        const bool last = i == length - 1;
        const struct kn_chain *chain = all[i == 1 ? second : ca_below(count)];
        for (unsigned n = 0; !choose(&steps[i], chain, maker, last); n++)
            chain = all[n < 16 && i == 1 ? second : ca_below(count)];
        if (steps[i].link != KN_LINK_KEEP)
            maker = steps[i].chain;
    }
    ca_begin(steps[1].chain->form);
    fill(expected->base);
    memcpy(got->base, expected->base, CA_FILE_B);
    run_chain(steps, length, got->base, lanes);
    run_plain(steps, length, expected->base, lanes);
    memset(expected->base + offset_of(VALUE), 0, WORDS * sizeof(uint32_t));
    memset(expected->base + offset_of(RESULT), 0, WORDS * sizeof(uint32_t));
    ca_same(steps[1].chain->form, got, expected,
            "%u links for lanes 0x%08x, the first is %s, the last %s", length, lanes,
            steps[0].chain->form, steps[length - 1].chain->form);
}

void ca_check_chains(const struct kn_dsp *dsp)
{
    unsigned form_count, count = 0;
    const struct kn_chain *const *chains = kn_chains();
    const struct kn_chain *all[64];
    struct ca_arena got, expected;

    (void)dsp;
    const struct kn_form *forms = kn_forms(&form_count);
    for (unsigned i = 0; i < form_count && count < sizeof(all) / sizeof(*all); i++)
        if (chains[i] && !ca_form_has_memory(&forms[i]))
            all[count++] = chains[i];
    printf("  %u forms have links\n", count);
    if (!count)
        return;
    ca_arena_init(&got, CA_FILE_B);
    ca_arena_init(&expected, CA_FILE_B);
    for (unsigned round = 0; round < ca_cases(100); round++)
        for (unsigned second = 0; second < count; second++)
            check_round(all, count, second, &got, &expected);
    ca_arena_finish(&got);
    ca_arena_finish(&expected);
}
