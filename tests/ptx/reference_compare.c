// SPDX-License-Identifier: MIT
// Random comparisons and selections, of integers and of floating-point values.
#include <stdlib.h>
#include <string.h>

#include "reference.h"

// What is known of two values.
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
static const struct {
    const char *name;
    unsigned holds;
} comparisons[] = {
    {".eq", EQUAL},
    {".ne", LESS | GREATER},
    {".lt", LESS},
    {".le", LESS | EQUAL},
    {".gt", GREATER},
    {".ge", GREATER | EQUAL},
    {".equ", EQUAL | UNORDERED},
    {".neu", LESS | GREATER | UNORDERED},
    {".ltu", LESS | UNORDERED},
    {".leu", LESS | EQUAL | UNORDERED},
    {".gtu", GREATER | UNORDERED},
    {".geu", GREATER | EQUAL | UNORDERED},
    {".num", LESS | EQUAL | GREATER},
    {".nan", UNORDERED},
};
enum { OF_INTEGERS = 6, OF_FLOATS = sizeof comparisons / sizeof *comparisons };

// The key orders values as numbers: that of -0 and +0 is the same.
static int64_t key(const struct ex_format *f, uint64_t bits)
{
    const uint64_t size = bits & ((UINT64_C(1) << (f->bits - 1)) - 1);
    return bits >> (f->bits - 1) & 1 ? -(int64_t)size : (int64_t)size;
}

static unsigned relation(const struct ref_instruction *ins, uint64_t a, uint64_t b)
{
    int64_t x, y;
    if (ins->format) {
        if (ins->flush) {
            a = ex_flush(ins->format, a);
            b = ex_flush(ins->format, b);
        }
        if (ex_is_nan(ins->format, a) || ex_is_nan(ins->format, b))
            return UNORDERED;
        x = key(ins->format, a);
        y = key(ins->format, b);
    } else {
        const uint64_t flip = ins->is_signed ? 0 : UINT64_C(1) << 63;
        x = (int64_t)((uint64_t)ref_extend(a, ins->bits, ins->is_signed) ^ flip);
        y = (int64_t)((uint64_t)ref_extend(b, ins->bits, ins->is_signed) ^ flip);
    }
    return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static bool join(const struct ref_instruction *ins, bool holds, const uint64_t *in)
{
    switch (ins->immediate) {
    case 1:
        return holds && in[2];
    case 2:
        return holds || in[2];
    case 3:
        return holds != (in[2] != 0);
    default:
        return holds;
    }
}

// "p = (a CmpOp b) BoolOp c; q = !(a CmpOp b) BoolOp c"; for pairs, p is of the lower halves and q
// of the upper ones.
static void setp(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const unsigned holds = comparisons[ins->operation].holds;
    if (ins->pair) {
        out[0] = join(ins, relation(ins, in[0] & 0xffff, in[1] & 0xffff) & holds, in);
        out[1] = join(ins, relation(ins, in[0] >> 16, in[1] >> 16) & holds, in);
    } else {
        const bool first = relation(ins, in[0], in[1]) & holds;
        out[0] = join(ins, first, in);
        out[1] = join(ins, !first, in);
    }
}

// "If the result is true, 1.0f is written for .f32, and 0xffffffff for integer types."
static void set(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const bool holds = relation(ins, in[0], in[1]) & comparisons[ins->operation].holds;
    out[0] = !join(ins, holds, in) ? 0 : ins->saturate ? 0x3f800000 : UINT32_MAX;
}

// As measured, the old value is converted if the guard of set is false: from the width of the
// compared type to a 32-bit integer, or of its absolute value to f32.
static uint64_t set_not(const struct ref_instruction *ins, uint64_t old)
{
    const int32_t value = (int32_t)ref_extend(old, ins->bits == 16 ? 16 : 32, true);
    const int32_t size = ins->bits == 16 || value > INT32_MIN ? abs(value) : value;
    const float single = (float)(ins->bits == 16 ? (int16_t)size : size);
    uint32_t bits;
    if (!ins->saturate)
        return (uint32_t)value;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void selp(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    (void)ins;
    out[0] = in[2] ? in[0] : in[1];
}

// "slct: d = (c >= 0) ? a : b; if c is NaN, b is selected."
static void slct(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    out[0] = in[relation(ins, in[2], 0) & (EQUAL | GREATER) ? 0 : 1];
}

static void testp(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const struct ex_number a = ex_read(ins->format, in[0]);
    const bool subnormal =
        a.class == EX_FINITE && a.digits && !(a.digits >> (ins->format->digits - 1));
    const bool answers[] = {a.class == EX_FINITE,
                            a.class == EX_INFINITE,
                            a.class != EX_NAN,
                            a.class == EX_NAN,
                            a.class == EX_FINITE && !subnormal, // zeros too, as measured
                            subnormal};
    out[0] = answers[ins->operation];
}

// Chooses a type of operands and returns its name.
static const char *choose_type(struct ref_instruction *ins, uint64_t *state, char *letter)
{
    static const struct {
        const char *name;
        char letter;
        const struct ex_format *format;
        bool pair;
        unsigned bits;
        bool is_signed;
    } types[] = {
        {".u16", 'h', NULL, false, 16, false}, {".s16", 'h', NULL, false, 16, true},
        {".u32", 'w', NULL, false, 32, false}, {".s32", 'w', NULL, false, 32, true},
        {".u64", 'l', NULL, false, 64, false}, {".s64", 'l', NULL, false, 64, true},
        {".f32", 'w', &ex_f32, false, 32, 0},  {".f64", 'l', &ex_f64, false, 64, 0},
        {".f16", 'h', &ex_f16, false, 16, 0},  {".bf16", 'h', &ex_bf16, false, 16, 0},
        {".f16x2", 'w', &ex_f16, true, 32, 0}, {".bf16x2", 'w', &ex_bf16, true, 32, 0},
    };
    const unsigned n = ref_below(state, sizeof types / sizeof *types);
    ins->format = types[n].format;
    ins->pair = types[n].pair;
    ins->bits = types[n].bits;
    ins->is_signed = types[n].is_signed;
    *letter = types[n].letter;
    return types[n].name;
}

static void pick_comparison(struct ref_instruction *ins, uint64_t *state, bool to_predicate)
{
    static const char *const joins[] = {"", ".and", ".or", ".xor"};
    char letter;
    const char *type = choose_type(ins, state, &letter);
    while (!to_predicate && ins->pair)
        type = choose_type(ins, state, &letter);
    ins->operation = ref_below(state, ins->format ? OF_FLOATS : OF_INTEGERS);
    ins->immediate = ref_below(state, 4);
    ref_write(ins, comparisons[ins->operation].name);
    ref_write(ins, joins[ins->immediate]);
    ins->flush = (ins->format == &ex_f32 || ins->format == &ex_f16) && ref_once_in(state, 3);
    if (ins->flush)
        ref_write(ins, ".ftz");
    if (!to_predicate) {
        // The result is a float, which it cannot be for types of 16 bits.
        ins->saturate = ref_once_in(state, 2) && ins->format != &ex_f16 && ins->format != &ex_bf16;
        ref_write(ins, ins->saturate ? ".f32" : ".u32");
    }
    ref_write(ins, type);
    ins->constants = !ins->format;
    memset(ins->sources, letter, 2);
    if (ins->immediate)
        ins->sources[2] = 'p';
}

void ref_pick_compare(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const tests[] = {".finite",     ".infinite", ".number",
                                        ".notanumber", ".normal",   ".subnormal"};
    static const char *const widths[] = {".b16", ".b32", ".b64"};
    const unsigned width = ref_below(state, 3);
    const char letter = "hwl"[width];
    switch (ref_below(state, 6)) {
    case 0:
        ref_write(ins, "selp");
        ref_write(ins, widths[width]);
        ins->destinations[0] = letter;
        memcpy(ins->sources, (char[]){letter, letter, 'p'}, 3);
        ins->compute = selp;
        break;
    case 1:
        ins->flush = ref_once_in(state, 4);
        ins->format = ins->flush || ref_once_in(state, 2) ? &ex_f32 : NULL;
        ins->bits = 32;
        ins->is_signed = true;
        ref_write(ins, ins->flush ? "slct.ftz" : "slct");
        ref_write(ins, widths[width]);
        ref_write(ins, ins->format ? ".f32" : ".s32");
        ins->destinations[0] = letter;
        memcpy(ins->sources, (char[]){letter, letter, 'w'}, 3);
        ins->compute = slct;
        break;
    case 2:
        ins->operation = ref_below(state, 6);
        ins->format = ref_once_in(state, 2) ? &ex_f32 : &ex_f64;
        ref_write(ins, "testp");
        ref_write(ins, tests[ins->operation]);
        ref_write(ins, ins->format == &ex_f32 ? ".f32" : ".f64");
        ins->destinations[0] = 'p';
        ins->sources[0] = ins->format == &ex_f32 ? 'w' : 'l';
        ins->compute = testp;
        ins->ignores_guard = true; // as measured
        break;
    case 3:
        ref_write(ins, "set");
        pick_comparison(ins, state, false);
        ins->destinations[0] = 'w';
        ins->compute = set;
        ins->skipped = set_not;
        break;
    default:
        ref_write(ins, "setp");
        pick_comparison(ins, state, true);
        memcpy(ins->destinations, "pp", 2);
        ins->compute = setp;
        break;
    }
}
