// SPDX-License-Identifier: MIT
// Random instructions of integer arithmetic.
#include <string.h>

#include "reference.h"

typedef __int128 wide;

enum {
    ADD,
    SUB,
    MUL_LO,
    MUL_HI,
    MUL_WIDE,
    MAD_LO,
    MAD_HI,
    MAD_WIDE,
    DIV,
    REM,
    MIN,
    MAX,
    SAD,
    ABS,
    NEG,
    OPERATIONS
};
static const struct {
    const char *name;
    unsigned sources;
} operations[OPERATIONS] = {
    {"add", 2},    {"sub", 2},    {"mul.lo", 2},   {"mul.hi", 2}, {"mul.wide", 2},
    {"mad.lo", 3}, {"mad.hi", 3}, {"mad.wide", 3}, {"div", 2},    {"rem", 2},
    {"min", 2},    {"max", 2},    {"sad", 3},      {"abs", 1},    {"neg", 1},
};

// "Division by zero yields an unspecified, machine-specific value": the card's has all bits set.
static wide divide(wide a, wide b, bool remainder)
{
    if (!b)
        return -1;
    return remainder ? a % b : a / b;
}

static wide apply(const struct ref_instruction *ins, wide a, wide b, wide c)
{
    switch (ins->operation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL_LO:
    case MUL_WIDE:
        return a * b;
    case MUL_HI:
        return (a * b) >> ins->bits;
    case MAD_LO:
    case MAD_WIDE:
        return (wide)((unsigned __int128)(a * b) + (unsigned __int128)c);
    case MAD_HI:
        return ((a * b) >> ins->bits) + c;
    case DIV:
    case REM:
        return divide(a, b, ins->operation == REM);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case SAD:
        return c + (a < b ? b - a : a - b);
    case ABS:
        return a < 0 ? -a : a;
    default:
        return -a;
    }
}

static uint64_t cut(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

// An operand without limits: unsigned values of 64 bits too.
static wide operand(uint64_t bits, unsigned width, bool is_signed)
{
    const int64_t value = ref_extend(bits, width, is_signed);
    return is_signed ? (wide)value : (wide)(uint64_t)value;
}

static void arithmetic(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const bool wider = ins->operation == MUL_WIDE || ins->operation == MAD_WIDE;
    const unsigned bits = wider ? 2 * ins->bits : ins->bits;
    const wide a = operand(in[0], ins->bits, ins->is_signed);
    const wide b = operand(in[1], ins->bits, ins->is_signed);
    const wide c = operand(in[2], bits, ins->is_signed);
    // Products of unsigned values of 64 bits have all 128 bits.
    if (ins->operation == MUL_HI && !ins->is_signed)
        out[0] = cut((uint64_t)((unsigned __int128)a * (unsigned __int128)b >> ins->bits), bits);
    else if (ins->operation == MAD_HI && !ins->is_signed)
        out[0] =
            cut((uint64_t)((unsigned __int128)a * (unsigned __int128)b >> ins->bits) + (uint64_t)c,
                bits);
    else if (ins->operation == MUL_LO || ins->operation == MAD_LO)
        out[0] =
            cut((uint64_t)a * (uint64_t)b + (ins->operation == MAD_LO ? (uint64_t)c : 0), bits);
    else
        out[0] = cut((uint64_t)apply(ins, a, b, c), bits);
}

static wide clamp(wide x, wide least, wide most)
{
    return x < least ? least : x > most ? most : x;
}

static void saturated(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const wide a = (int32_t)in[0], b = (int32_t)in[1];
    const wide c = ins->operation == MAD_HI ? (int32_t)in[2] : 0;
    out[0] = (uint32_t)clamp(apply(ins, a, b, c), INT32_MIN, INT32_MAX);
}

// "mul24: the product of two 24-bit values has 48 bits; .lo: the lower 32, .hi: the upper 32".
static void product24(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const int64_t a = ref_extend(in[0], 24, ins->is_signed),
                  b = ref_extend(in[1], 24, ins->is_signed);
    const int64_t product = a * b;
    out[0] = (uint32_t)((ins->operation ? product >> 16 : product) +
                        (ins->immediate ? (int64_t)(uint32_t)in[2] : 0));
}

// "dp4a: a four-way byte dot product, accumulated in c"; dp2a: halves of a with two bytes of b.
static void dot(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const bool halves = ins->operation;
    const unsigned parts = halves ? 2 : 4, bits = halves ? 16 : 8;
    uint32_t sum = (uint32_t)in[2];
    for (unsigned i = 0; i < parts; i++) {
        const unsigned from = i + (halves && ins->immediate ? 2 : 0);
        sum += (uint32_t)(ref_extend(in[0] >> bits * i, bits, ins->is_signed) *
                          ref_extend(in[1] >> 8 * from, 8, ins->from_signed));
    }
    out[0] = sum;
}

static void pick_special(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const saturating[] = {"add.sat.s32", "sub.sat.s32", "mad.hi.sat.s32"};
    static const unsigned which[] = {ADD, SUB, MAD_HI};
    const unsigned n = ref_below(state, 3);
    ins->destinations[0] = 'w';
    strcpy(ins->sources, "www");
    ins->bits = 32;
    ins->is_signed = ref_once_in(state, 2);
    ins->from_signed = ref_once_in(state, 2);
    ins->immediate = ref_below(state, 2);
    ins->operation = ref_below(state, 2);
    switch (ref_below(state, 3)) {
    case 0:
        ref_write(ins, saturating[n]);
        ins->operation = which[n];
        ins->sources[n < 2 ? 2 : 3] = 0;
        ins->compute = saturated;
        break;
    case 1:
        ref_write(ins, ins->immediate ? "mad24" : "mul24");
        ref_write(ins, ins->operation ? ".hi" : ".lo");
        ref_write(ins, ins->is_signed ? ".s32" : ".u32");
        ins->sources[ins->immediate ? 3 : 2] = 0;
        ins->compute = product24;
        break;
    default:
        ref_write(ins, !ins->operation ? "dp4a" : ins->immediate ? "dp2a.hi" : "dp2a.lo");
        ref_write(ins, ins->is_signed ? ".s32" : ".u32");
        ref_write(ins, ins->from_signed ? ".s32" : ".u32");
        ins->compute = dot;
    }
}

void ref_pick_integer(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const types[] = {".u16", ".s16", ".u32", ".s32", ".u64", ".s64"};
    ins->constants = true;
    if (ref_once_in(state, 5)) {
        pick_special(ins, state);
        return;
    }
    ins->operation = ref_below(state, OPERATIONS);
    const bool wider = ins->operation == MUL_WIDE || ins->operation == MAD_WIDE;
    const unsigned width = ref_below(state, wider ? 2 : 3);
    ins->is_signed = ins->operation >= ABS || ref_once_in(state, 2);
    ins->bits = 16u << width;
    ins->compute = arithmetic;
    ref_write(ins, operations[ins->operation].name);
    ref_write(ins, types[2 * width + ins->is_signed]);
    memset(ins->sources, "hwl"[width], operations[ins->operation].sources);
    ins->destinations[0] = "hwl"[width + wider];
    if (ins->operation == MAD_WIDE)
        ins->sources[2] = ins->destinations[0];
}
