// SPDX-License-Identifier: MIT
// Approximate functions give the card's bits: all results of blocks of 65,536 arguments, summed up,
// are compared with the sums that a card computed in the same way.
//
// An argument of f32 is block << 16 | j. One of f64 has these upper 32 bits, and lower ones that
// follow from them. Forms of every instruction set are tested.
#include "functions_measured.h"

#include <stdio.h>
#include <string.h>

#include "kn_cpu.h"
#include "kn_lanes.h"

enum { A_AT = 64, D_AT = 512, FILE_B = 1024 };

// The part of a result in the sum. The card has added the same numbers up.
static uint32_t mix(uint32_t result, uint32_t k)
{
    uint32_t h = k * 0x9e3779b1u + result;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

static const struct kn_op *stop(const struct kn_op *op, struct kn_warp *w)
{
    (void)op;
    (void)w;
    return NULL;
}

static uint32_t sum_block(const struct kn_form *form, uint32_t block)
{
    static _Alignas(64) char registers[FILE_B];
    const struct kn_op ops[2] = {
        {.run = {form->run[0], form->run[1]}, .d = D_AT, .a = A_AT, .guard_flip = UINT32_MAX},
        {.run = {stop, stop}},
    };
    struct kn_warp w = {.r = registers, .lanes = UINT32_MAX};
    uint32_t sum = 0;

    kn_warp_activate(&w, UINT32_MAX);
    for (uint32_t k = block << 16; k >> 16 == block; k += KN_LANES) {
        uint64_t wide[KN_LANES];
        uint32_t narrow[KN_LANES];
        const bool is_wide = form->operands[0] == 'l';
        for (uint32_t i = 0; i < KN_LANES; i++) {
            narrow[i] = k + i;
            wide[i] = (uint64_t)(k + i) << 32 | (uint32_t)((k + i) * 0x9e3779b1u);
        }
        memcpy(registers + A_AT, is_wide ? (void *)wide : narrow,
               is_wide ? sizeof(wide) : sizeof(narrow));
        kn_warp_run(&w, ops);
        memcpy(wide, registers + D_AT, sizeof(wide));
        memcpy(narrow, registers + D_AT, sizeof(narrow));
        for (uint32_t i = 0; i < KN_LANES; i++) {
            const uint32_t high = (uint32_t)(wide[i] >> 32);
            sum += mix(is_wide ? (uint32_t)wide[i] + high * 0xb5297a4du : narrow[i], k + i);
        }
        if (k + KN_LANES < k)
            break;
    }
    return sum;
}

static int check_set(unsigned flags, const char *name)
{
    unsigned count;
    int failures = 0;
    const struct kn_form *forms = kn_forms_for(flags, &count);

    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++) {
        const struct measured *m = &measured[i];
        const int form = kn_form_find(m->form);
        const uint32_t sum = form < 0 ? 0 : sum_block(&forms[form], m->block);
        if (form >= 0 && sum == m->sum)
            continue;
        printf("%s, %s, arguments 0x%04x0000 to 0x%04xffff: the sum is 0x%08x, expected 0x%08x\n",
               name, m->form, m->block, m->block, sum, m->sum);
        failures++;
    }
    return failures;
}

int main(void)
{
    int failures = check_set(0, "plain C");
    if (kn_cpu_flags())
        failures += check_set(kn_cpu_flags(), "instruction set in use");
    return failures != 0;
}
