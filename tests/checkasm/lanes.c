// SPDX-License-Identifier: MIT
// Tests of the forms over 32 lanes: the forms of the instruction set in use against those of plain
// C, over random and edge values, with random lanes and guards. A form may write only those lanes
// of its destinations that take part.
#include "lanes.h"

#include <stdio.h>
#include <string.h>

#include "checkasm.h"

// Forms of these roots access memory or other state of a warp than its registers. The tests of the
// interpreter run them.
static const char *const elsewhere[] = {
    "ld",   "st",    "atom",     "red", "prefetch", "cp",  "tex",      "tld4",     "suld",
    "sust", "sured", "mbarrier", "ldu", "multimem", "txq", "ldmatrix", "stmatrix", "wmma"};

bool ca_form_has_memory(const struct kn_form *form)
{
    const size_t length = strcspn(form->name, ".");

    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
        if (strlen(elsewhere[i]) == length && !strncmp(form->name, elsewhere[i], length))
            return true;
    return false;
}

static const struct kn_op *stop(const struct kn_op *op, struct kn_warp *w)
{
    (void)op;
    (void)w;
    return NULL;
}

unsigned ca_letter_B(char letter)
{
    switch (letter) {
    case 'h':
        return 2;
    case 'w':
        return 4;
    case 'l':
        return 8;
    default:
        return 16;
    }
}

void ca_lane_operands(struct ca_lane_case *c, const struct kn_form *form)
{
    bool destination = true;

    memset(c, 0, sizeof(*c));
    c->form = form;
    for (const char *letter = form->operands; *letter; letter++) {
        if (*letter == '=')
            destination = false;
        else if (*letter == 'i')
            c->immediate = true;
        else if (destination)
            c->letters[c->destinations++] = *letter;
        else
            c->letters[c->destinations + c->sources++] = *letter;
    }
}

// Gives each operand a register. With `shared`, some operands are the same register.
void ca_lane_place(struct ca_lane_case *c, bool shared)
{
    const unsigned count = c->destinations + c->sources;

    for (unsigned i = 0; i < count; i++) {
        c->at[i] = (uint32_t)((i + 1) * CA_REGISTER_B + 64 * ca_below(8));
        for (unsigned j = 0; shared && i >= c->destinations && j < i; j++)
            if (c->letters[j] == c->letters[i] && !ca_below(4))
                c->at[i] = c->at[j];
    }
}

void ca_lane_run_chain(const struct ca_lane_case *c, const struct kn_form *form, uint8_t *registers,
                       unsigned length, unsigned times)
{
    struct kn_op ops[CA_CHAIN_MOST + 1], first = {.run = {form->run[0], form->run[1]}};
    uint32_t more[2 * CA_OPERANDS], mores = 0;
    // Forms about generic addresses read the windows, but no memory.
    const struct kn_memory memory = {.shared_window = UINT64_C(0x80ff7f0100000000),
                                     .local_window = UINT64_C(1) << 32};
    struct kn_warp w = {.r = (char *)registers, .lanes = UINT32_MAX, .memory = &memory};
    uint32_t *const fixed[] = {&first.a, &first.b, &first.c};

    first.d = c->at[0];
    first.i = c->value;
    first.more = more;
    for (unsigned i = 1; i < c->destinations; i++)
        more[mores++] = c->at[i];
    for (unsigned i = 0; i < c->sources; i++) {
        const uint32_t at = c->at[c->destinations + i];
        if (i < 3)
            *fixed[i] = at;
        else
            more[mores++] = at;
    }
    first.guard = c->guarded ? CA_GUARD_AT : CA_FALSE_AT;
    first.guard_flip = c->guarded && !c->guard_not ? 0 : UINT32_MAX;
    for (unsigned i = 0; i < length; i++)
        ops[i] = first;
    ops[length] = (struct kn_op){.run = {stop, stop}};
    kn_warp_activate(&w, c->active);
    if (c->guarded)
        w.partial = 1;
    for (unsigned i = 0; i < times; i++)
        kn_warp_run(&w, ops);
}

void ca_lane_run(const struct ca_lane_case *c, const struct kn_form *form, uint8_t *registers)
{
    ca_lane_run_chain(c, form, registers, 1, 1);
}

static uint64_t edge(unsigned size_B)
{
    static const uint64_t floats[] = {0x7f800000, 0xff800000, 0x7fc12345, 0x7f812345, 0x00000001,
                                      0x807fffff, 0x3f800000, 0xbfc00000, 0x4b000001};
    const unsigned bits = 8 * size_B;
    uint64_t value;

    switch (ca_below(8)) {
    case 0:
        return ca_below(4);
    case 1:
        return 0 - ca_below(4);
    case 2:
        value = UINT64_C(1) << ca_below(bits < 64 ? bits : 64);
        return value + ca_below(3) - 1;
    case 3:
        return ca_below(2 * bits);
    case 4:
        value = floats[ca_below(sizeof(floats) / sizeof(*floats))];
        return size_B == 8 ? value << 32 | ca_below(2) : size_B == 2 ? value >> 16 : value;
    case 5: // bytes that are edges
        return UINT64_C(0x80ff7f0180ff7f01) << 8 * ca_below(4);
    default:
        return ca_random();
    }
}

void ca_lane_fill(uint8_t *registers, const struct ca_lane_case *c)
{
    ca_random_bytes(registers, CA_FILE_B);
    memset(registers + CA_FALSE_AT, 0, 4);
    for (unsigned i = 0; i < c->destinations + c->sources; i++) {
        if (c->letters[i] == 'p')
            continue;
        const unsigned size_B = ca_letter_B(c->letters[i]), part_B = size_B < 8 ? size_B : 8;
        const uint64_t same = edge(part_B);
        const bool uniform = !ca_below(8);
        for (unsigned at = 0; at < size_B * KN_LANES; at += part_B) {
            const uint64_t value = uniform ? same : edge(part_B);
            memcpy(registers + c->at[i] + at, &value, part_B);
        }
    }
}

// Chooses the lanes that take part.
static void choose_lanes(struct ca_lane_case *c, unsigned round)
{
    c->active = round % 3 ? (uint32_t)(ca_random() | ca_random()) : UINT32_MAX;
    c->guarded = round % 3 == 2;
    c->guard_not = ca_below(2);
}

static void check_form(const struct kn_form *form, const struct kn_form *plain,
                       const struct ca_arena *got, const struct ca_arena *expected)
{
    struct ca_lane_case c;

    ca_begin(form->name);
    ca_lane_operands(&c, form);
    for (unsigned round = 0; round < ca_cases(24); round++) {
        ca_lane_place(&c, round & 1);
        ca_lane_fill(expected->base, &c);
        memcpy(got->base, expected->base, CA_FILE_B);
        choose_lanes(&c, round);
        c.value = c.immediate ? ca_lane_immediate(form) : 0;
        ca_lane_run(&c, form, got->base);
        ca_lane_run(&c, plain, expected->base);
        if (!ca_same(form->name, got, expected, "lanes %08x%s, destination at %u", c.active,
                     c.guarded ? " and a guard" : "", c.at[0]))
            return;
    }
}

// Writes outside the lanes that take part show in the plain set too.
static void check_untouched(const struct kn_form *form, const struct ca_arena *got,
                            const struct ca_arena *expected)
{
    struct ca_lane_case c;

    ca_begin(form->name);
    ca_lane_operands(&c, form);
    ca_lane_place(&c, false);
    ca_lane_fill(expected->base, &c);
    memcpy(got->base, expected->base, CA_FILE_B);
    choose_lanes(&c, 2);
    c.value = c.immediate ? ca_lane_immediate(form) : 0;
    ca_lane_run(&c, form, got->base);
    for (unsigned i = 0; i < c.destinations; i++) {
        const uint32_t guard = *(const uint32_t *)(expected->base + CA_GUARD_AT);
        const uint32_t lanes = c.active & (c.guard_not ? ~guard : guard);
        const unsigned size_B = ca_letter_B(c.letters[i]);
        uint8_t *from = got->base + c.at[i], *to = expected->base + c.at[i];
        if (c.letters[i] == 'p') {
            uint32_t bits[2];
            memcpy(bits, from, 4);
            memcpy(bits + 1, to, 4);
            bits[1] = (bits[1] & ~lanes) | (bits[0] & lanes);
            memcpy(to, bits + 1, 4);
            continue;
        }
        for (unsigned lane = 0; lane < KN_LANES; lane++)
            if (lanes >> lane & 1)
                memcpy(to + lane * size_B, from + lane * size_B, size_B);
    }
    ca_same(form->name, got, expected, "written outside the lanes that take part");
}

void ca_check_lanes(const struct kn_dsp *dsp)
{
    unsigned count, plain_count, tested = 0;
    const struct kn_form *forms = kn_forms(&count), *plain = kn_forms_for(0, &plain_count);
    struct ca_arena got, expected;

    (void)dsp;
    ca_arena_init(&got, CA_FILE_B);
    ca_arena_init(&expected, CA_FILE_B);
    if (count != plain_count)
        ca_fail("forms", "%u forms, plain C has %u", count, plain_count);
    for (unsigned i = 0; i < count && i < plain_count; i++) {
        if (strcmp(forms[i].name, plain[i].name) != 0)
            ca_fail(forms[i].name, "form %u is %s in plain C", i, plain[i].name);
        else if (kn_form_find(forms[i].name) != (int)i)
            ca_fail(forms[i].name, "form %u is found at %d", i, kn_form_find(forms[i].name));
        if (ca_form_has_memory(&forms[i]))
            continue;
        tested++;
        check_untouched(&forms[i], &got, &expected);
        check_form(&forms[i], &plain[i], &got, &expected);
    }
    printf("  %u of %u forms compared\n", tested, count);
    ca_arena_finish(&got);
    ca_arena_finish(&expected);
}
