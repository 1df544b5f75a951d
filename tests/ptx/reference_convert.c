// SPDX-License-Identifier: MIT
// Random conversions (cvt).
#include <string.h>

#include "reference.h"

static const struct type {
    const char *name;
    char letter;
    const struct ex_format *format; // NULL: an integer
    unsigned bits;
    bool is_signed;
} types[] = {
    {".u8", 'h', NULL, 8, false},   {".s8", 'h', NULL, 8, true},    {".u16", 'h', NULL, 16, false},
    {".s16", 'h', NULL, 16, true},  {".u32", 'w', NULL, 32, false}, {".s32", 'w', NULL, 32, true},
    {".u64", 'l', NULL, 64, false}, {".s64", 'l', NULL, 64, true},  {".f16", 'h', &ex_f16, 16, 0},
    {".f32", 'w', &ex_f32, 32, 0},  {".f64", 'l', &ex_f64, 64, 0},  {".bf16", 'h', &ex_bf16, 16, 0},
};
enum { INTEGERS = 8, TYPES = sizeof types / sizeof *types };

static const char *const modes[] = {".rn", ".rz", ".rm", ".rp"};
static const char *const integral_modes[] = {".rni", ".rzi", ".rmi", ".rpi"};

// The result in a register of the type's letter: 8 bits are extended to 16.
static uint64_t in_register(const struct ref_instruction *ins, uint64_t bits)
{
    const uint64_t extended = (uint64_t)ref_extend(bits, ins->bits, ins->is_signed);
    return ins->bits <= 16 ? extended & 0xffff : ins->bits == 32 ? extended & UINT32_MAX : extended;
}

// ".sat limits the result to MININT … MAXINT for the size of the operation."
static uint64_t limited(const struct ref_instruction *ins, bool negative, uint64_t size)
{
    const uint64_t half = UINT64_C(1) << (ins->bits - 1);
    const uint64_t most = ins->is_signed ? half - 1 : half - 1 + half;
    const uint64_t least = ins->is_signed ? half : 0; // the size of the least value
    if (negative)
        return 0 - (size < least ? size : least);
    return size < most ? size : most;
}

static void integer_of_integer(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const uint64_t value = (uint64_t)ref_extend(in[0], ins->from_bits, ins->from_signed);
    const bool negative = ins->from_signed && value >> 63;
    if (ins->saturate)
        out[0] = in_register(ins, limited(ins, negative, negative ? 0 - value : value));
    else
        out[0] = in_register(ins, value);
}

// "Conversions to integers clamp." As measured, a NaN becomes 0, or the highest bit alone if either
// type has 64 bits.
static void integer_of_float(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const uint64_t bits = ins->flush ? ex_flush(ins->from, in[0]) : in[0];
    const struct ex_number a = ex_read(ins->from, bits);
    struct exact value;
    ex_copy(&value, &a);
    if (a.class == EX_NAN) {
        const bool has_64 = ins->bits == 64 || ins->from->bits == 64;
        out[0] = in_register(ins, has_64 ? UINT64_C(1) << (ins->bits - 1) : 0);
        return;
    }
    if (a.class == EX_FINITE)
        ex_round_integral(&value, ins->mode);
    const uint64_t size = a.class == EX_INFINITE ? UINT64_MAX : ex_size(&value);
    out[0] = in_register(ins, limited(ins, a.negative, size));
}

static void float_of_integer(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const uint64_t bits = (uint64_t)ref_extend(in[0], ins->from_bits, ins->from_signed);
    const bool negative = ins->from_signed && bits >> 63;
    const struct ex_number a = {.negative = negative, .digits = negative ? 0 - bits : bits};
    struct exact value;
    ex_copy(&value, &a);
    out[0] = ex_round(&value, ins->format, ins->mode, false);
    if (ins->saturate)
        out[0] = ref_saturate(ins->format, out[0]);
}

// As measured: from f64 and to f64 a NaN keeps its sign and its upper digits, made quiet, as it
// does from f16 to f64. Other conversions have the one NaN of their type; without a change of type,
// or from bf16 to f32, the bits stay.
static uint64_t nan_of(const struct ref_instruction *ins, uint64_t bits)
{
    const struct ex_format *to = ins->format, *from = ins->from;
    const unsigned stored = to->digits - 1, from_stored = from->digits - 1;
    if (from == to && !ins->flush && !ins->integral && to->bits >= 32)
        return bits;
    if (from == &ex_bf16 && to == &ex_f32)
        return bits << 16;
    if (to->bits < 64 && from->bits < 64)
        return (UINT64_C(1) << (to->bits - 1)) - 1;
    if (from == &ex_f32 && ins->flush)
        bits = 0x7fffffff; // through f32's one NaN
    const uint64_t sign = bits >> (from->bits - 1) & 1;
    const uint64_t digits = bits & ((UINT64_C(1) << from_stored) - 1);
    const uint64_t kept =
        stored >= from_stored ? digits << (stored - from_stored) : digits >> (from_stored - stored);
    const uint64_t exponent = (UINT64_C(1) << (to->bits - to->digits)) - 1;
    return sign << (to->bits - 1) | exponent << stored | kept | UINT64_C(1) << (stored - 1);
}

// As measured, .ftz does not concern results of 16 bits, nor their operands.
static void float_of_float(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const bool flushes = ins->flush && ins->format->bits > 16;
    const uint64_t bits = flushes && ins->from == &ex_f32 ? ex_flush(ins->from, in[0]) : in[0];
    const struct ex_number a = ex_read(ins->from, bits);
    struct exact value;
    ex_copy(&value, &a);
    if (a.class == EX_NAN) {
        out[0] = nan_of(ins, bits);
    } else {
        if (ins->integral && a.class == EX_FINITE)
            ex_round_integral(&value, ins->mode);
        out[0] = ex_round(&value, ins->format, ins->mode, flushes && ins->format == &ex_f32);
    }
    if (ins->saturate)
        out[0] = ref_saturate(ins->format, out[0]);
}

// The modifiers that a conversion needs or may have.
static void choose_modifiers(struct ref_instruction *ins, uint64_t *state, const struct type *to,
                             const struct type *from)
{
    const bool narrows = to->format && from->format &&
                         (to->bits < from->bits || (to->bits == from->bits && to != from));
    ins->mode = (enum ex_mode)ref_below(state, 4);
    ins->integral = !to->format || (to == from && ref_once_in(state, 2));
    if (!to->format && !from->format)
        ins->integral = false;
    else if (ins->integral)
        ref_write(ins, integral_modes[ins->mode]);
    else if (narrows || !from->format)
        ref_write(ins, modes[ins->mode]);
    const bool has_f32 = to->format == &ex_f32 || from->format == &ex_f32;
    const bool has_bf16 = to->format == &ex_bf16 || from->format == &ex_bf16;
    ins->flush = has_f32 && !has_bf16 && to->format && from->format && ref_once_in(state, 3);
    if (!to->format && from->format == &ex_f32)
        ins->flush = ref_once_in(state, 3);
    if (ins->flush)
        ref_write(ins, ".ftz");
    // ".sat is only allowed where the values of the source can exceed the destination's range."
    const bool holds = from->is_signed == to->is_signed ? to->bits >= from->bits
                                                        : to->is_signed && to->bits > from->bits;
    ins->saturate = !has_bf16 && (to->format || (!from->format && !holds)) && ref_once_in(state, 3);
    if (ins->saturate)
        ref_write(ins, ".sat");
}

// ---- packed conversions ----

static uint64_t narrow(const struct ref_instruction *ins, uint64_t bits)
{
    const struct ex_format *f = ins->format;
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    const struct ex_number a = ex_read(&ex_f32, bits);
    struct exact value;
    ex_copy(&value, &a);
    uint64_t out = ex_round(&value, f, ins->mode, false);
    // ".satfinite: the greatest value instead of infinity". ".relu: 0 instead of negative values".
    if (ins->saturate && ex_read(f, out).class == EX_INFINITE)
        out--;
    return ins->relu && out & sign ? 0 : out;
}

// "d has a's value in its upper half and b's in its lower half."
static void pack_halves(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    out[0] = narrow(ins, in[0]) << 16 | narrow(ins, in[1]);
}

// A tf32 is an f32 without its 13 lowest digits.
static void tf32(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    out[0] = narrow(ins, in[0]) << 13;
}

// "cvt.pack: c shifted, with a's and b's values below it": a above b.
static void pack(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    const uint64_t mask = (UINT64_C(1) << ins->bits) - 1;
    uint64_t parts[2];
    for (unsigned i = 0; i < 2; i++) {
        const int64_t value = (int32_t)in[i];
        parts[i] =
            limited(ins, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value) & mask;
    }
    const uint64_t above = ins->bits < 16 ? in[2] << 2 * ins->bits : 0;
    out[0] = (uint32_t)(above | parts[0] << ins->bits | parts[1]);
}

static void pick_packed(struct ref_instruction *ins, uint64_t *state)
{
    static const struct ex_format format_of_tf32 = {19, 11, -126, 127};
    static const char *const integers[] = {".u2", ".u4", ".u8", ".u16",
                                           ".s2", ".s4", ".s8", ".s16"};
    const unsigned n = ref_below(state, 4);
    ins->from_bits = 32;
    ins->destinations[0] = 'w';
    strcpy(ins->sources, "www");
    if (!n) {
        const unsigned type = ref_below(state, 8);
        ins->is_signed = type >= 4;
        ins->bits = 2u << type % 4;
        ref_write(ins, "cvt.pack.sat");
        ref_write(ins, integers[type]);
        ref_write(ins, ins->bits == 16 ? ".s32" : ".s32.b32");
        ins->sources[ins->bits == 16 ? 2 : 3] = 0;
        ins->compute = pack;
        return;
    }
    ins->mode = (enum ex_mode)ref_below(state, 2);
    ins->relu = ref_once_in(state, 3);
    ins->saturate = n > 1 && ref_once_in(state, 3);
    ref_write(ins, "cvt");
    ref_write(ins, modes[ins->mode]);
    ref_write(ins, ins->relu ? ".relu" : "");
    ref_write(ins, ins->saturate ? ".satfinite" : "");
    ref_write(ins, n == 1 ? ".tf32.f32" : n == 2 ? ".f16x2.f32" : ".bf16x2.f32");
    ins->format = n == 1 ? &format_of_tf32 : n == 2 ? &ex_f16 : &ex_bf16;
    ins->sources[n == 1 ? 1 : 2] = 0;
    ins->compute = n == 1 ? tf32 : pack_halves;
}

// NVIDIA's compiler refuses conversions between them.
static bool is_bf16_and_byte(const struct type *a, const struct type *b)
{
    return a->format == &ex_bf16 && b->bits == 8;
}

void ref_pick_convert(struct ref_instruction *ins, uint64_t *state)
{
    if (ref_once_in(state, 8)) {
        pick_packed(ins, state);
        return;
    }
    const struct type *to, *from;
    do {
        to = &types[ref_below(state, TYPES)];
        from = &types[ref_below(state, TYPES)];
    } while (is_bf16_and_byte(to, from) || is_bf16_and_byte(from, to));
    ref_write(ins, "cvt");
    ins->format = to->format;
    ins->from = from->format;
    ins->bits = to->bits;
    ins->is_signed = to->is_signed;
    ins->from_bits = from->bits;
    ins->from_signed = from->is_signed;
    choose_modifiers(ins, state, to, from);
    ins->compute = to->format     ? from->format ? float_of_float : float_of_integer
                   : from->format ? integer_of_float
                                  : integer_of_integer;
    ref_write(ins, to->name);
    ref_write(ins, from->name);
    ins->destinations[0] = to->letter;
    ins->sources[0] = from->letter;
}
