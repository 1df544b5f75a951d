// SPDX-License-Identifier: MIT
// Random instructions of floating-point arithmetic, minima, and approximate functions.
#include <string.h>

#include "expect.h"
#include "reference.h"

unsigned ref_below(uint64_t *state, unsigned n)
{
    return (unsigned)((draw(state) >> 33) % n);
}

bool ref_once_in(uint64_t *state, unsigned n)
{
    return !ref_below(state, n);
}

void ref_write(struct ref_instruction *ins, const char *text)
{
    const size_t used = strlen(ins->opcode);
    snprintf(ins->opcode + used, sizeof ins->opcode - used, "%s", text);
}

int64_t ref_extend(uint64_t bits, unsigned width, bool is_signed)
{
    const unsigned up = 64 - width;
    return is_signed ? (int64_t)(bits << up) >> up : (int64_t)(bits << up >> up);
}

uint64_t ref_nan(const struct ex_format *f, const uint64_t *operands, unsigned count)
{
    if (f->bits < 64)
        return (UINT64_C(1) << (f->bits - 1)) - 1;
    for (unsigned i = 0; i < count; i++)
        if (ex_is_nan(f, operands[i]))
            return operands[i] | UINT64_C(1) << 51;
    return UINT64_C(0xfff) << 52 | UINT64_C(1) << 51;
}

static uint64_t one(const struct ex_format *f)
{
    return (uint64_t)(1 - f->least) << (f->digits - 1);
}

uint64_t ref_saturate(const struct ex_format *f, uint64_t bits)
{
    const bool negative = bits >> (f->bits - 1) & 1;
    if (ex_is_nan(f, bits) || negative)
        return 0;
    return bits > one(f) ? one(f) : bits;
}

// ---- arithmetic ----

enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, NEG, ABS };
static const char *const names[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt", "neg", "abs"};

static uint64_t negated(const struct ex_format *f, uint64_t bits)
{
    return bits ^ UINT64_C(1) << (f->bits - 1);
}

// The result before it is rounded.
static void apply(const struct ref_instruction *ins, const uint64_t *a, struct exact *out)
{
    const struct ex_format *f = ins->format;
    const struct ex_number x = ex_read(f, a[0]), y = ex_read(f, a[1]), z = ex_read(f, a[2]);
    const struct ex_number minus_y = ex_read(f, negated(f, a[1])), unit = ex_read(f, one(f));
    switch (ins->operation) {
    case ADD:
    case SUB:
        ex_copy(out, &x);
        ex_add(out, ins->operation == ADD ? &y : &minus_y, ins->mode);
        break;
    case MUL:
    case FMA:
        ex_multiply(out, &x, &y);
        if (ins->operation == FMA)
            ex_add(out, &z, ins->mode);
        break;
    case DIV:
        ex_divide(out, &x, &y);
        break;
    case RCP:
        ex_divide(out, &unit, &x);
        break;
    default:
        ex_root(out, &x);
    }
}

// As measured, that of the first two operands of f64's add, sub, mul and fma which was written last
// comes first, and then the third one.
static uint64_t nan_of(const struct ref_instruction *ins, const uint64_t *a)
{
    // A constant is subtracted as the sum with its negative, and two constants give a negative NaN.
    const uint64_t sign = UINT64_C(1) << 63;
    const bool negated = ins->operation == SUB && ins->format == &ex_f64 && ins->constant[1];
    const uint64_t b = !negated ? a[1] : ins->constant[0] ? a[1] | sign : a[1] ^ sign;
    const uint64_t operands[3] = {a[0], b, a[2]};
    const unsigned counts[] = {[ADD] = 2, 2, 2, 3, 2, 1, 1, 1, 1}, count = counts[ins->operation];
    const unsigned last = ins->exchanged ? 0 : 1;
    const uint64_t order[3] = {operands[last], count == 3 ? a[2] : operands[!last],
                               operands[!last]};
    if (ins->operation > FMA)
        return ref_nan(ins->format, a, count);
    return ref_nan(ins->format, order, count);
}

static uint64_t compute_one(const struct ref_instruction *ins, const uint64_t *in)
{
    const struct ex_format *f = ins->format;
    uint64_t a[3], bits;
    struct exact exact;
    bool nan = false;
    for (unsigned i = 0; i < 3; i++) {
        a[i] = ins->flush ? ex_flush(f, in[i]) : in[i];
        nan |= i < strlen(ins->sources) && ex_is_nan(f, a[i]);
    }
    if (ins->operation >= NEG) {
        const uint64_t sign = UINT64_C(1) << (f->bits - 1);
        if (ins->guarded && ins->format == &ex_f32 && !ins->flush) // as measured
            nan = false;
        return nan ? nan_of(ins, a) : ins->operation == NEG ? a[0] ^ sign : a[0] & ~sign;
    }
    apply(ins, a, &exact);
    if (nan || exact.class == EX_NAN)
        bits = nan_of(ins, a);
    else
        bits = ex_round(&exact, f, ins->mode, ins->flush);
    if (ins->saturate)
        return ref_saturate(f, bits);
    // ".relu: clamps the result to 0 if negative. NaN result is converted to canonical NaN."
    return ins->relu && bits >> (f->bits - 1) ? 0 : bits;
}

// One value, or two of 16 bits.
static void compute(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out)
{
    uint64_t low[3], high[3];
    for (unsigned i = 0; i < 3; i++) {
        low[i] = ins->pair ? in[i] & 0xffff : in[i];
        high[i] = in[i] >> 16 & 0xffff;
    }
    out[0] = ins->value(ins, low);
    if (ins->pair)
        out[0] |= ins->value(ins, high) << 16;
}

// Chooses a format and writes the letters of its registers.
static const char *choose_format(struct ref_instruction *ins, uint64_t *state, unsigned sources)
{
    static const struct {
        const struct ex_format *format;
        bool pair;
        char letter;
        const char *text;
    } formats[] = {
        {&ex_f32, false, 'w', ".f32"},   {&ex_f64, false, 'l', ".f64"},
        {&ex_f16, false, 'h', ".f16"},   {&ex_f16, true, 'w', ".f16x2"},
        {&ex_bf16, false, 'h', ".bf16"}, {&ex_bf16, true, 'w', ".bf16x2"},
    };
    const unsigned n = ref_below(state, 10);
    const unsigned at = n < 4 ? 0 : n < 6 ? 1 : n - 4; // f32 and f64 more often
    ins->format = formats[at].format;
    ins->pair = formats[at].pair;
    memset(ins->sources, formats[at].letter, sources);
    ins->destinations[0] = formats[at].letter;
    return formats[at].text;
}

static void choose_mode(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const modes[] = {".rn", ".rz", ".rm", ".rp"};
    ins->mode = (enum ex_mode)ref_below(state, 4);
    ref_write(ins, modes[ins->mode]);
}

static void flag(struct ref_instruction *ins, uint64_t *state, bool *flag, const char *text)
{
    *flag = ref_once_in(state, 3);
    if (*flag)
        ref_write(ins, text);
}

void ref_pick_float(struct ref_instruction *ins, uint64_t *state)
{
    static const uint8_t sources[] = {[ADD] = 2, 2, 2, 3, 2, 1, 1, 1, 1};
    const unsigned operation = ref_below(state, ABS + 1);
    const char *type = choose_format(ins, state, sources[operation]);
    const bool half = ins->format->bits == 16, bf16 = ins->format == &ex_bf16;
    // Divisions and roots have no 16-bit types.
    ins->operation = half && operation >= DIV && operation <= SQRT ? MUL : operation;
    memset(ins->sources, 0, sizeof ins->sources);
    memset(ins->sources, ins->destinations[0], sources[ins->operation]);
    ins->compute = compute;
    ins->value = compute_one;
    ref_write(ins, names[ins->operation]);
    if (ins->operation < NEG) {
        if (half || (ins->operation < FMA && ref_once_in(state, 3)))
            ref_write(ins, ins->operation == FMA || ref_once_in(state, 2) ? ".rn" : "");
        else
            choose_mode(ins, state);
    }
    if (ins->format != &ex_f64 && !bf16)
        flag(ins, state, &ins->flush, ".ftz");
    if (half && ins->operation == FMA && ref_once_in(state, 2))
        flag(ins, state, &ins->relu, ".relu");
    else if (ins->format != &ex_f64 && !bf16 && ins->operation <= FMA)
        flag(ins, state, &ins->saturate, ".sat");
    ref_write(ins, type);
}

// ---- minima ----

// "+0.0 > -0.0".
static bool is_less(const struct ex_format *f, uint64_t a, uint64_t b)
{
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    if ((a & sign) != (b & sign))
        return a & sign;
    return a & sign ? a > b : a < b;
}

// "If one of the inputs is NaN, then the result is the other one. .NaN: the result is NaN if either
// is." As measured, of two NaNs of f64 that which was written last is the result, and min(a, a) is
// a without modifiers in some types.
static uint64_t minimum_one(const struct ref_instruction *ins, const uint64_t *in)
{
    const struct ex_format *f = ins->format;
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    uint64_t a = in[0], b = in[1];
    const uint64_t signs = ins->xorsign ? (a ^ b) & sign : 0;
    if (ins->flush) {
        a = ex_flush(f, a);
        b = ex_flush(f, b);
    }
    if (ins->xorsign) {
        a &= ~sign;
        b &= ~sign;
    }
    const bool nan_a = ex_is_nan(f, a), nan_b = ex_is_nan(f, b);
    if (ins->same && !ins->pair && !ins->flush && !ins->with_nan && !ins->xorsign && f != &ex_bf16)
        return a;
    if ((nan_a && nan_b) || (ins->with_nan && (nan_a || nan_b)))
        return ref_nan(f, ins->exchanged ? (uint64_t[]){a, b} : (uint64_t[]){b, a}, 2);
    const bool takes_b = nan_a || (!nan_b && is_less(f, b, a) == !ins->operation);
    return (takes_b ? b : a) | signs;
}

void ref_pick_minmax(struct ref_instruction *ins, uint64_t *state)
{
    const char *type = choose_format(ins, state, 2);
    ins->compute = compute;
    ins->value = minimum_one;
    ins->operation = ref_below(state, 2); // 1: max
    ref_write(ins, ins->operation ? "max" : "min");
    if (ins->format != &ex_f64) {
        if (ins->format != &ex_bf16)
            flag(ins, state, &ins->flush, ".ftz");
        flag(ins, state, &ins->with_nan, ".NaN");
        flag(ins, state, &ins->xorsign, ".xorsign.abs");
    }
    ref_write(ins, type);
}

void ref_pick_approximate(struct ref_instruction *ins, uint64_t *state)
{
    static const char *const functions[] = {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"};
    static const struct {
        const char *opcode, *destination, *sources;
    } others[] = {
        {"tanh.approx.f32", "w", "w"},     {"tanh.approx.f16", "h", "h"},
        {"tanh.approx.bf16x2", "w", "w"},  {"ex2.approx.f16x2", "w", "w"},
        {"ex2.approx.ftz.bf16", "h", "h"}, {"rcp.approx.ftz.f64", "l", "l"},
        {"rsqrt.approx.f64", "l", "l"},    {"rsqrt.approx.ftz.f64", "l", "l"},
        {"div.approx.f32", "w", "ww"},     {"div.full.f32", "w", "ww"},
        {"div.approx.ftz.f32", "w", "ww"}, {"div.full.ftz.f32", "w", "ww"},
    };
    const unsigned n = ref_below(state, 7 + sizeof others / sizeof *others);
    ins->approximate = true;
    if (n < 7) {
        ref_write(ins, functions[n]);
        ref_write(ins, ref_once_in(state, 2) ? ".approx.ftz.f32" : ".approx.f32");
        ins->destinations[0] = ins->sources[0] = 'w';
    } else {
        ref_write(ins, others[n - 7].opcode);
        strcpy(ins->destinations, others[n - 7].destination);
        strcpy(ins->sources, others[n - 7].sources);
    }
}
