// SPDX-License-Identifier: MIT
// Random instructions of logic, shifts, bit fields and bytes.
#include <stdio.h>
#include <string.h>

#include "reference.h"

enum {
    AND,
    OR,
    XOR,
    NOT,
    CNOT,
    SHL,
    SHR,
    SHF,
    LOP3,
    POPC,
    CLZ,
    BREV,
    BFIND,
    BFE,
    BFI,
    PRMT,
    SZEXT,
    BMSK,
    OPERATIONS
};

static uint64_t cut(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static bool bit(uint64_t value, unsigned at)
{
    return at < 64 && value >> at & 1;
}

static unsigned smaller(uint64_t a, unsigned b)
{
    return a < b ? (unsigned)a : b;
}

// "Shift amounts greater than the register's width are clamped to it."
static uint64_t shifted(const struct ref_instruction *ins, uint64_t a, uint64_t by)
{
    const unsigned n = smaller(by, ins->bits);
    if (ins->operation == SHL)
        return n < 64 ? a << n : 0;
    const int64_t value = ref_extend(a, ins->bits, ins->is_signed);
    if (ins->is_signed)
        return (uint64_t)(value >> (n < 64 ? n : 63));
    return n < 64 ? (uint64_t)value >> n : 0;
}

// "shf: shifts [b,a]; .l extracts the upper 32 bits, .r the lower; .clamp: at most 32, .wrap:
// modulo 32".
static uint64_t funnel(const struct ref_instruction *ins, const uint64_t *in)
{
    const uint64_t both = in[1] << 32 | in[0];
    const unsigned n = ins->immediate ? in[2] & 31 : smaller(in[2], 32);
    return ins->is_signed ? both >> n : both << n >> 32;
}

// "bfind: the most significant non-sign bit, or 0xffffffff".
static uint64_t find(const struct ref_instruction *ins, uint64_t a)
{
    const uint64_t value = cut(ins->is_signed && bit(a, ins->bits - 1) ? ~a : a, ins->bits);
    for (unsigned at = ins->bits; at--;)
        if (bit(value, at))
            return ins->immediate ? ins->bits - 1 - at : at;
    return UINT32_MAX;
}

// Positions and lengths have 8 bits, but for fields of 64 bits the card takes all 32.
static uint64_t place(const struct ref_instruction *ins, uint64_t x)
{
    return x & (ins->bits == 64 ? UINT32_MAX : 0xff);
}

// "bfe: pos = b & 0xff, len = c & 0xff; sbit is the sign for signed types, and 0 if len is 0; the
// field's highest bit, or the input's if the field extends beyond it". As measured, -1 if both are
// constants and the field begins above bit 31 of a register.
static uint64_t extract(const struct ref_instruction *ins, const uint64_t *in)
{
    const uint64_t at = place(ins, in[1]), length = place(ins, in[2]), last = at + length - 1;
    const unsigned top = last < ins->bits ? (unsigned)last : ins->bits - 1;
    const bool sign = ins->is_signed && length && bit(in[0], top);
    uint64_t out = 0;
    if (ins->bits == 32 && ins->is_signed && !ins->constant[0] && ins->constant[1] &&
        ins->constant[2] && in[1] >= 32 && in[1] < 256 && in[2] && in[2] < 256)
        return UINT32_MAX;
    for (unsigned i = 0; i < ins->bits; i++) {
        const bool inside = i < length && at + i < ins->bits;
        out |= (uint64_t)(inside ? bit(in[0], (unsigned)at + i) : sign) << i;
    }
    return out;
}

// "bfi: inserts len bits of a into b from pos on". As measured, lengths are taken modulo 32 if they
// and the position are constants, and the others are registers.
static uint64_t insert(const struct ref_instruction *ins, const uint64_t *in)
{
    const uint64_t at = place(ins, in[2]);
    const bool constants = ins->bits == 32 && !ins->constant[0] && !ins->constant[1] &&
                           ins->constant[2] && ins->constant[3] && in[2] < 32 && in[3] < 256;
    const uint64_t length = constants ? in[3] & 31 : place(ins, in[3]);
    uint64_t out = in[1];
    for (unsigned i = 0; i < length && at + i < ins->bits; i++)
        out = (out & ~(UINT64_C(1) << (at + i))) | (uint64_t)bit(in[0], i) << (at + i);
    return out;
}

static uint64_t permuted(const uint64_t *in)
{
    const uint64_t both = in[1] << 32 | in[0];
    uint64_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned selector = in[2] >> 4 * i & 15;
        const uint64_t byte = both >> 8 * (selector & 7) & 0xff;
        out |= (selector & 8 ? byte & 0x80 ? 0xff : 0 : byte) << 8 * i;
    }
    return out;
}

static uint64_t table(const struct ref_instruction *ins, const uint64_t *in)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 32; i++)
        out |= (uint64_t)bit(ins->immediate, 4 * bit(in[0], i) + 2 * bit(in[1], i) + bit(in[2], i))
               << i;
    return out;
}

static uint64_t count(uint64_t a)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < 64; i++)
        n += bit(a, i);
    return n;
}

static uint64_t reversed(uint64_t a, unsigned bits)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (uint64_t)bit(a, i) << (bits - 1 - i);
    return out;
}

// "szext: extends an N-bit value, N = b clamped to 32 or modulo 32".
static uint64_t extended(const struct ref_instruction *ins, const uint64_t *in)
{
    const unsigned n = ins->immediate ? in[1] & 31 : smaller(in[1], 32);
    return n ? (uint32_t)ref_extend(in[0], n, ins->is_signed) : 0;
}

// "bmsk: b bits set from position a on; .clamp: both at most 32, .wrap: modulo 32".
static uint64_t mask(const struct ref_instruction *ins, const uint64_t *in)
{
    const unsigned at = ins->immediate ? in[0] & 31 : smaller(in[0], 32);
    const unsigned length = ins->immediate ? in[1] & 31 : smaller(in[1], 32);
    return cut(((UINT64_C(1) << length) - 1) << at, 32);
}

static uint64_t apply(const struct ref_instruction *ins, const uint64_t *in)
{
    switch (ins->operation) {
    case AND:
        return in[0] & in[1];
    case OR:
        return in[0] | in[1];
    case XOR:
        return in[0] ^ in[1];
    case NOT:
        return ~in[0];
    case CNOT:
        return !in[0];
    case SHL:
    case SHR:
        return shifted(ins, in[0], in[1]);
    case SHF:
        return funnel(ins, in);
    case LOP3:
        return table(ins, in);
    case POPC:
        return count(in[0]);
    case CLZ:
        return in[0] ? (uint64_t)__builtin_clzll(in[0]) - (64 - ins->bits) : ins->bits;
    case BREV:
        return reversed(in[0], ins->bits);
    case BFIND:
        return find(ins, in[0]);
    case BFE:
        return extract(ins, in);
    case BFI:
        return insert(ins, in);
    case PRMT:
        return permuted(in);
    case SZEXT:
        return extended(ins, in);
    default:
        return mask(ins, in);
    }
}

static void compute(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    static const unsigned widths[] = {['h'] = 16, ['w'] = 32, ['l'] = 64};
    out[0] = cut(apply(ins, in), widths[(unsigned char)ins->destinations[0]]);
}

// Patterns of opcodes: % stands for a type of bits, & for a type with or without a sign, ~ for
// .clamp or .wrap. The letter T is the type's.
static const struct {
    const char *opcode, *sources, *destination;
    unsigned least_width; // 0: 16 bits, 1: 32
    unsigned most_width;  // 2: 64 bits
} patterns[OPERATIONS] = {
    {"and%", "TT", "T", 0, 2},   {"or%", "TT", "T", 0, 2},     {"xor%", "TT", "T", 0, 2},
    {"not%", "T", "T", 0, 2},    {"cnot%", "T", "T", 0, 2},    {"shl%", "Tw", "T", 0, 2},
    {"shr&", "Tw", "T", 0, 2},   {"shf", "wwT", "T", 1, 1},    {"lop3%", "TTT", "T", 1, 1},
    {"popc%", "T", "w", 1, 2},   {"clz%", "T", "w", 1, 2},     {"brev%", "T", "T", 1, 2},
    {"bfind", "T", "w", 1, 2},   {"bfe&", "Tww", "T", 1, 2},   {"bfi%", "TTww", "T", 1, 2},
    {"prmt%", "TTT", "T", 1, 1}, {"szext~&", "TT", "T", 1, 1}, {"bmsk~%", "TT", "T", 1, 1},
};

static void write_pattern(struct ref_instruction *ins, const char *pattern, unsigned width)
{
    static const char *const untyped[] = {".b16", ".b32", ".b64"};
    static const char *const typed[] = {".u16", ".s16", ".u32", ".s32", ".u64", ".s64"};
    for (; *pattern; pattern++) {
        if (*pattern == '%')
            ref_write(ins, untyped[width]);
        else if (*pattern == '&')
            ref_write(ins, typed[2 * width + ins->is_signed]);
        else if (*pattern == '~')
            ref_write(ins, ins->immediate ? ".wrap" : ".clamp");
        else
            ref_write(ins, (char[2]){*pattern});
    }
}

void ref_pick_bits(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const signs[] = {".u", ".s"};
    ins->operation = ref_below(state, OPERATIONS);
    const unsigned least = patterns[ins->operation].least_width;
    const unsigned width =
        least + ref_below(state, patterns[ins->operation].most_width - least + 1);
    ins->bits = 16u << width;
    ins->is_signed = ref_once_in(state, 2);
    ins->immediate = ref_below(state, 2);
    ins->constants = true;
    ins->compute = compute;
    write_pattern(ins, patterns[ins->operation].opcode, width);
    if (ins->operation == SHF) {
        ref_write(ins, ins->is_signed ? ".r" : ".l");
        ref_write(ins, ins->immediate ? ".wrap.b32" : ".clamp.b32");
    } else if (ins->operation == BFIND) {
        ref_write(ins, ins->immediate ? ".shiftamt" : "");
        ref_write(ins, signs[ins->is_signed]);
        ref_write(ins, width == 2 ? "64" : "32");
    } else if (ins->operation == LOP3) {
        ins->immediate = ref_below(state, 256);
        snprintf(ins->suffix, sizeof ins->suffix, ", %u", ins->immediate);
    }
    strcpy(ins->sources, patterns[ins->operation].sources);
    for (char *s = ins->sources; *s; s++)
        *s = *s == 'T' ? "hwl"[width] : *s;
    ins->destinations[0] = *patterns[ins->operation].destination;
    if (ins->destinations[0] == 'T')
        ins->destinations[0] = "hwl"[width];
}
