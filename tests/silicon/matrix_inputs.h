// SPDX-License-Identifier: MIT
// Inputs for matrix instructions: random numbers with exponents near each other and far apart,
// numbers that cancel, subnormal ones, infinities and NaNs. Draws must not change.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum type { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, F32, S32 };
static const int type_bits[] = {16, 16, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32, 32};

enum metadata { DENSE, VALID, ANY }; // of a sparse A
enum { TWO_OF_FOUR, ONE_OF_TWO };

struct instruction {
    const char *name, *text;
    int a, b, c;       // registers of A, of B, and of C and D
    int rows;          // of A
    int stored, depth; // columns of A's registers, and rows of B; 0: registers are filled as such
    enum type a_type, b_type, c_type;
    enum metadata metadata;
    int selector;
    int count;    // of products
    int sparsity; // TWO_OF_FOUR or ONE_OF_TWO
};

static const struct instruction instructions[] = {
    {"f32.f16.k16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 16, 16, 16, F16,
     F16, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.f16.k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 16, 8, 8, F16, F16,
     F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.bf16.k16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 16, 16, 16,
     BF16, BF16, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.bf16.k8", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 16, 8, 8, BF16,
     BF16, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.tf32.k8", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 16, 8, 8, TF32,
     TF32, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.tf32.k4", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 16, 4, 4, TF32,
     TF32, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f16.f16.k16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 16, 16, 16, F16,
     F16, F16, DENSE, 0, 400, TWO_OF_FOUR},
    {"f16.f16.k8", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 16, 8, 8, F16, F16,
     F16, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.e4m3.e4m3", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, 16, 32, 32,
     E4M3, E4M3, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.e5m2.e5m2", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 2, 4, 16, 32, 32,
     E5M2, E5M2, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.e4m3.e5m2", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, 16, 32, 32,
     E4M3, E5M2, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f16.e4m3.e4m3", "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", 4, 2, 2, 16, 32, 32,
     E4M3, E4M3, F16, DENSE, 0, 400, TWO_OF_FOUR},
    {"f32.e4m3.k16", "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", 2, 1, 4, 16, 16, 16,
     E4M3, E4M3, F32, DENSE, 0, 400, TWO_OF_FOUR},
    {"f16.e5m2.k16", "mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16", 2, 1, 2, 16, 16, 16,
     E5M2, E4M3, F16, DENSE, 0, 400, TWO_OF_FOUR},
    {"f64.m8n8k4", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, 8, 4, 4, F64, F64,
     F64, DENSE, 0, 400, TWO_OF_FOUR},
    {"f64.k4", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, 16, 4, 4, F64, F64, F64,
     DENSE, 0, 100, TWO_OF_FOUR},
    {"f64.k8", "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, 16, 8, 8, F64, F64, F64,
     DENSE, 0, 200, TWO_OF_FOUR},
    {"f64.k16", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, 16, 16, 16, F64, F64,
     F64, DENSE, 0, 200, TWO_OF_FOUR},
    {"f64.m8n8k4.rz", "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64", 1, 1, 2, 8, 4, 4,
     F64, F64, F64, DENSE, 0, 100, TWO_OF_FOUR},
    {"f64.m8n8k4.rm", "wmma.mma.sync.aligned.row.col.m8n8k4.rm.f64.f64.f64.f64", 1, 1, 2, 8, 4, 4,
     F64, F64, F64, DENSE, 0, 100, TWO_OF_FOUR},
    {"volta.f32.rowcol", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 200, TWO_OF_FOUR},
    {"volta.f32.colrow", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", 2, 2, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 100, TWO_OF_FOUR},
    {"volta.f32.rowrow", "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32", 2, 2, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"volta.f32.colcol", "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32", 2, 2, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"volta.f16.rowcol", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 2, 2, 4, 16, 0, 0, F16,
     F16, F16, DENSE, 0, 100, TWO_OF_FOUR},
    {"wmma.f32.m16n16k16", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8, 16, 0, 0,
     F16, F16, F32, DENSE, 0, 200, TWO_OF_FOUR},
    {"wmma.f16.m16n16k16", "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 8, 8, 4, 16, 0, 0,
     F16, F16, F16, DENSE, 0, 200, TWO_OF_FOUR},
    {"wmma.f32.m32n8k16", "wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", 8, 8, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"wmma.f32.m8n32k16", "wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", 8, 8, 8, 16, 0, 0, F16,
     F16, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"wmma.bf16.m16n16k16", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", 4, 4, 8,
     16, 0, 0, BF16, BF16, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"wmma.tf32.m16n16k8", "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 4, 4, 8, 16,
     0, 0, TF32, TF32, F32, DENSE, 0, 50, TWO_OF_FOUR},
    {"s8.sat", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 2, 4, 16, 32, 32, S8,
     U8, S32, DENSE, 0, 40, TWO_OF_FOUR},
    {"s8.wrap", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 4, 2, 4, 16, 32, 32, U8, S8, S32,
     DENSE, 0, 20, TWO_OF_FOUR},
    {"s4.sat", "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32", 4, 2, 4, 16, 64, 64, S4,
     U4, S32, DENSE, 0, 20, TWO_OF_FOUR},
    {"s4.k32", "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 2, 1, 4, 16, 32, 32, U4, S4, S32,
     DENSE, 0, 20, TWO_OF_FOUR},
    {"b1.k128", "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4, 16, 128, 128,
     B1, B1, S32, DENSE, 0, 20, TWO_OF_FOUR},
    {"sp.s8.k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 4,
     16, 32, 64, S8, S8, S32, VALID, 0, 40, TWO_OF_FOUR},
    {"sp.s8.k64.any", "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 4, 16, 32, 64, S8,
     S8, S32, ANY, 0, 40, TWO_OF_FOUR},
    {"sp.s8.k32.0", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 2, 2, 4,
     16, 16, 32, S8, S8, S32, VALID, 0, 40, TWO_OF_FOUR},
    {"sp.s8.k32.1",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", 2, 2, 4, 16,
     16, 32, S8, S8, S32, VALID, 1, 40, TWO_OF_FOUR},
    {"sp.s4.k128", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32", 4, 4, 4,
     16, 64, 128, S4, S4, S32, VALID, 0, 40, TWO_OF_FOUR},
    {"sp.s4.k64.0", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 2, 2, 4,
     16, 32, 64, S4, S4, S32, VALID, 0, 40, TWO_OF_FOUR},
    {"sp.s4.k64.1", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 2, 2, 4,
     16, 32, 64, S4, S4, S32, VALID, 1, 40, TWO_OF_FOUR},
    {"sp.f32.f16.k32.0", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
     4, 4, 4, 16, 16, 32, F16, F16, F32, VALID, 0, 200, TWO_OF_FOUR},
    {"sp.f32.f16.k32.1", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
     4, 4, 4, 16, 16, 32, F16, F16, F32, VALID, 1, 100, TWO_OF_FOUR},
    {"sp.f32.f16.k32.any", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 16, 16,
     32, F16, F16, F32, ANY, 0, 100, TWO_OF_FOUR},
    {"sp.f32.f16.k16.0", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     2, 2, 4, 16, 8, 16, F16, F16, F32, VALID, 0, 100, TWO_OF_FOUR},
    {"sp.f32.f16.k16.3", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     2, 2, 4, 16, 8, 16, F16, F16, F32, VALID, 3, 100, TWO_OF_FOUR},
    {"sp.f16.f16.k32.0", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16",
     4, 4, 2, 16, 16, 32, F16, F16, F16, VALID, 0, 100, TWO_OF_FOUR},
    {"sp.f32.bf16.k32.0",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4, 16, 16,
     32, BF16, BF16, F32, VALID, 0, 100, TWO_OF_FOUR},
    {"sp.f32.tf32.k16.0",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4, 16, 8, 16,
     TF32, TF32, F32, VALID, 0, 100, ONE_OF_TWO},
    {"sp.f32.tf32.k16.1",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4, 16, 8, 16,
     TF32, TF32, F32, VALID, 1, 100, ONE_OF_TWO},
    {"sp.f32.tf32.k8.2", "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     2, 2, 4, 16, 4, 8, TF32, TF32, F32, VALID, 2, 100, ONE_OF_TWO},
    {"sp.f32.e4m3.k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32",
     4, 4, 4, 16, 32, 64, E4M3, E5M2, F32, VALID, 0, 200, TWO_OF_FOUR},
};

static uint64_t drawn;

static uint64_t draw64(void)
{
    drawn += 0x9e3779b97f4a7c15u;
    uint64_t z = drawn;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int below(int n)
{
    return (int)((draw64() >> 33) % (uint64_t)n);
}

struct format {
    int digits, least, most; // bits after the point, and exponents of normal numbers
};

static struct format format_of(enum type type)
{
    switch (type) {
    case F16:
        return (struct format){10, -14, 15};
    case BF16:
        return (struct format){7, -126, 127};
    case F64:
        return (struct format){52, -1022, 1023};
    case E4M3:
        return (struct format){3, -6, 8};
    case E5M2:
        return (struct format){2, -14, 15};
    default:
        return (struct format){23, -126, 127};
    }
}

// The format with the exponents that are drawn.
static struct format drawn_format(enum type type)
{
    struct format f = format_of(type);
    if (type == F64) {
        f.least = -60;
        f.most = 60;
    }
    return f;
}

static uint64_t number(enum type type, int sign, int exponent, uint64_t digits)
{
    const struct format f = format_of(type);
    uint64_t bits;
    digits &= (UINT64_C(1) << f.digits) - 1;
    if (exponent > f.most)
        exponent = f.most;
    if (type == E4M3 && exponent == f.most && digits == 7)
        digits = 6;
    if (exponent < f.least) {
        const int shift = f.least - exponent;
        bits = shift > f.digits ? 0 : (digits | UINT64_C(1) << f.digits) >> shift;
    } else {
        bits = (uint64_t)(exponent - f.least + 1) << f.digits | digits;
    }
    return bits | (uint64_t)sign << (type_bits[type] - 1);
}

static uint64_t infinity_or_nan(enum type type)
{
    const struct format f = format_of(type);
    const uint64_t sign = (uint64_t)below(2) << (type_bits[type] - 1);
    if (type == E4M3)
        return sign | 0x7f;
    const uint64_t infinity = (uint64_t)(f.most - f.least + 2) << f.digits;
    return sign | infinity | (below(3) ? 0 : draw64() & ((UINT64_C(1) << f.digits) - 1));
}

enum pattern {
    ALL,
    NEAR,
    CLOSE,
    FAR,
    ZEROS,
    POWERS,
    SUBNORMAL,
    CANCEL,
    SPECIAL,
    LARGE_C,
    PATTERNS
};

static uint64_t element(enum type type, int pattern, int centre, int spread)
{
    const struct format f = format_of(type);
    if (type >= S8 && type != F32)
        return draw64() &
               (type_bits[type] == 32 ? UINT32_MAX : (UINT64_C(1) << type_bits[type]) - 1);
    uint64_t digits = draw64();
    const int sign = below(2);
    switch (pattern) {
    case ALL:
        return number(type, sign,
                      type == F64 ? below(200) - 100 : f.least - 2 + below(f.most - f.least + 3),
                      digits);
    case ZEROS:
        if (below(4))
            return (uint64_t)(below(8) == 0) << (type_bits[type] - 1);
        break;
    case POWERS:
        digits = 0;
        break;
    case SUBNORMAL:
        return number(type, sign, f.least - f.digits - 1 + below(f.digits + 8), digits);
    case SPECIAL:
        if (!below(160))
            return infinity_or_nan(type);
        break;
    default:
        break;
    }
    return number(type, sign, centre - spread + below(2 * spread + 1), digits);
}

enum { REGISTERS = 32, LANES = 32, COLUMNS = 8 };

// The matrices of one product, and the registers that hold A, B, C and the metadata.
struct product {
    uint64_t a[16][256], b[256][COLUMNS], c[16][COLUMNS];
    uint64_t words[REGISTERS][LANES];
};

// Where the exponents of a product lie.
struct centres {
    int pattern, a, b, c, spread;
};

static struct centres draw_centres(const struct instruction *t, int n)
{
    struct centres x = {.pattern = n % PATTERNS};
    const struct format a = drawn_format(t->a_type), b = drawn_format(t->b_type);
    const int quarter = (a.most - a.least) / 4;
    x.a = (a.least + a.most) / 2 + below(2 * quarter + 1) - quarter;
    x.spread = x.pattern == NEAR     ? 1
               : x.pattern == CLOSE  ? 4
               : x.pattern == FAR    ? 8
               : x.pattern == CANCEL ? 2
                                     : 3 + below(12);
    x.b = t->b_type == t->a_type ? -x.a + below(9) - 4 : (b.least + b.most) / 2;
    x.c = x.a + x.b + (x.pattern == LARGE_C ? 6 + below(26) : below(40) - 20);
    return x;
}

static void put(struct product *p, int reg, int lane, int bits, int j, uint64_t value)
{
    p->words[reg][lane] |= value << (bits * j);
}

static void fill_registers(const struct instruction *t, const struct centres *x, bool short_tf32,
                           struct product *p)
{
    for (int r = 0; r < t->a + t->b + t->c; r++)
        for (int lane = 0; lane < LANES; lane++) {
            const bool in_a = r < t->a, in_b = !in_a && r < t->a + t->b;
            const enum type type = in_a ? t->a_type : in_b ? t->b_type : t->c_type;
            for (int j = 0; j < 32 / type_bits[type]; j++) {
                uint64_t v = element(type, x->pattern,
                                     in_a   ? x->a
                                     : in_b ? x->b
                                            : x->c,
                                     in_a || in_b ? x->spread : 2);
                if (type == TF32 && short_tf32)
                    v &= ~UINT64_C(0x1fff);
                put(p, r, lane, type_bits[type], j, v);
            }
        }
}

static uint64_t element_of_c(const struct instruction *t, const struct centres *x, int n)
{
    const int pattern = x->pattern;
    if (t->c_type == S32)
        return n % 4 ? (uint32_t)draw64() : below(2) ? 0x7fffff00u : 0x80000100u;
    return element(t->c_type,
                   pattern == ZEROS || pattern == SUBNORMAL || pattern == SPECIAL ? pattern : NEAR,
                   x->c, 1);
}

static void fill_matrices(const struct instruction *t, const struct centres *x, int n,
                          struct product *p)
{
    const int sign = type_bits[t->a_type] - 1;
    for (int i = 0; i < t->rows; i++)
        for (int k = 0; k < t->stored; k++)
            p->a[i][k] = element(t->a_type, x->pattern, x->a, x->spread);
    for (int k = 0; k < t->depth; k++)
        for (int j = 0; j < COLUMNS; j++)
            p->b[k][j] = element(t->b_type, x->pattern, x->b, x->spread);
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            p->c[i][j] = element_of_c(t, x, n);
    if (x->pattern == CANCEL && t->c_type != S32 && !t->metadata)
        for (int k = 0; k + 1 < t->stored; k += 2) {
            for (int i = 0; i < t->rows; i++)
                p->a[i][k + 1] = p->a[i][k] ^ UINT64_C(1) << sign;
            for (int j = 0; j < COLUMNS; j++)
                p->b[k + 1][j] = p->b[k][j] ^ (uint64_t)below(2);
        }
    if (t->a_type != TF32 || !(n & 1))
        return;
    for (int i = 0; i < t->rows; i++)
        for (int k = 0; k < t->stored; k++)
            p->a[i][k] &= ~UINT64_C(0x1fff);
    for (int k = 0; k < t->depth; k++)
        for (int j = 0; j < COLUMNS; j++)
            p->b[k][j] &= ~UINT64_C(0x1fff);
}

static uint32_t draw_metadata(const struct instruction *t)
{
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    uint32_t bits = 0;
    for (int k = 0; k < 8; k++)
        bits |= (t->metadata == ANY          ? (uint32_t)below(16)
                 : t->sparsity == ONE_OF_TWO ? (below(2) ? 0xeu : 0x4u)
                                             : pairs[below(6)])
                << 4 * k;
    return bits;
}

// The elements of the matrices in the registers of mma.
static void place_matrices(const struct instruction *t, struct product *p)
{
    const int word = t->a_type == F64 ? 64 : 32, h = t->rows / 8;
    const int a_bits = type_bits[t->a_type], b_bits = type_bits[t->b_type];
    const int c_bits = type_bits[t->c_type], in_a = word / a_bits, in_b = word / b_bits;
    for (int lane = 0; lane < LANES; lane++) {
        const int g = lane >> 2, u = lane & 3;
        for (int r = 0; r < t->a; r++)
            for (int j = 0; j < in_a; j++)
                put(p, r, lane, a_bits, j,
                    p->a[g + 8 * (r % h)][u * in_a + j + 4 * in_a * (r / h)]);
        for (int r = 0; r < t->b; r++)
            for (int j = 0; j < in_b; j++)
                put(p, t->a + r, lane, b_bits, j, p->b[u * in_b + j + 4 * in_b * r][g]);
        for (int r = 0; r < t->c; r++)
            if (c_bits == 16)
                for (int j = 0; j < 2; j++)
                    put(p, t->a + t->b + r, lane, 16, j, p->c[g + 8 * r][u * 2 + j]);
            else
                put(p, t->a + t->b + r, lane, c_bits, 0, p->c[g + 8 * (r / 2)][u * 2 + r % 2]);
        if (t->metadata)
            p->words[t->a + t->b + t->c][lane] = draw_metadata(t);
    }
}

// Draws product `n` of an instruction, whose number is `index`.
static inline void draw_product(const struct instruction *t, int index, int n, struct product *p)
{
    memset(p, 0, sizeof *p);
    drawn = (uint64_t)(index * 100003 + n) * 7919;
    const struct centres x = draw_centres(t, n);
    if (!t->stored) {
        fill_registers(t, &x, n & 1, p);
        return;
    }
    fill_matrices(t, &x, n, p);
    place_matrices(t, p);
}
