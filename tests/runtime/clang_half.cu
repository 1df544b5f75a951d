// SPDX-License-Identifier: MIT
// cuda_fp16.h: all halves go through each function of one number, and many pairs through those of
// two and three. What the device computes is compared with the double functions of the C library,
// or with what the host's part of the header computes in another way.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>

enum { HALVES = 65536, THREADS = 256 };

static int failures;

static unsigned short bits_of(half h)
{
    return __half_as_ushort(h);
}

static void fail(const char *what, unsigned at, unsigned got, unsigned wanted)
{
    if (failures++ < 5)
        std::printf("%s of %#06x is %#06x, not %#06x\n", what, at, got, wanted);
}

static bool same(unsigned got, unsigned wanted)
{
    return got == wanted || ((got & 0x7fff) > 0x7c00 && (wanted & 0x7fff) > 0x7c00);
}

static double value_of(unsigned h)
{
    const unsigned exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? std::ldexp(1024 + fraction, (int)exponent - 25)
                                       : std::ldexp(fraction, -24);
    return h & 0x8000 ? -size : size;
}

// ---- functions of one number

#define FUNCTIONS(X)                                                                               \
    X(ceil, std::ceil(x))                                                                          \
    X(floor, std::floor(x))                                                                        \
    X(trunc, std::trunc(x))                                                                        \
    X(rint, std::rint(x))                                                                          \
    X(sqrt, std::sqrt(x))                                                                          \
    X(rsqrt, 1 / std::sqrt(x))                                                                     \
    X(rcp, 1 / x)                                                                                  \
    X(exp, std::exp(x))                                                                            \
    X(exp2, std::exp2(x))                                                                          \
    X(exp10, std::pow(10., x))                                                                     \
    X(log, std::log(x))                                                                            \
    X(log2, std::log2(x))                                                                          \
    X(log10, std::log10(x))                                                                        \
    X(sin, std::sin(x))                                                                            \
    X(cos, std::cos(x))                                                                            \
    X(tanh, std::tanh(x))

#define COUNT(name, expected) +1
enum { FUNCTION_COUNT = FUNCTIONS(COUNT) };
static const struct {
    const char *name;
    double (*expected)(double x);
} functions[] = {
#define ROW(name, expression) {#name, [](double x) -> double { return expression; }},
    FUNCTIONS(ROW)};

__global__ void of_one(half *results)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    const half a = __ushort_as_half((unsigned short)i);
    half *out = results + i;
#define CALL(name, expression)                                                                     \
    *out = h##name(a);                                                                             \
    out += HALVES;
    FUNCTIONS(CALL)
}

// A few of the million results are not the nearest half, because the exact one is almost in the
// middle of two. They must be the other one of the two.
static void check_functions(const half *results)
{
    unsigned other = 0;
    for (unsigned f = 0; f < FUNCTION_COUNT; f++)
        for (unsigned i = 0; i < HALVES; i++) {
            const unsigned got = bits_of(results[f * HALVES + i]);
            const unsigned wanted = bits_of(__double2half(functions[f].expected(value_of(i))));
            if (same(got, wanted))
                continue;
            other++;
            if (got + 1 != wanted && wanted + 1 != got)
                fail(functions[f].name, i, got, wanted);
        }
    if (other > 32)
        fail("results that are not the nearest half", other, other, 32);
}

// ---- conversions, which the device and the host make in different ways

struct converted {
    long long integers[14];
    unsigned short halves[8];
    float single;
};

static __host__ __device__ void convert(unsigned i, converted *out)
{
    const half h = __ushort_as_half((unsigned short)i);
    long long *n = out->integers;
    *n++ = __half2int_rn(h);
    *n++ = __half2int_rz(h);
    *n++ = __half2int_ru(h);
    *n++ = __half2int_rd(h);
    *n++ = __half2uint_rn(h);
    *n++ = __half2uint_ru(h);
    *n++ = __half2short_rd(h);
    *n++ = __half2ushort_rn(h);
    *n++ = __half2ll_rd(h);
    *n++ = (long long)__half2ull_ru(h);
    *n++ = __half2char_rz(h);
    *n++ = __half2uchar_rz(h);
    *n++ = (int)h;
    *n++ = (bool)h + 2 * __hisinf(h) + 4 * __hisnan(h);
    unsigned short *b = out->halves;
    const float between = ((int)i - 32768) * 2.0009765625f;
    *b++ = __half_as_ushort(__float2half_rn(between));
    *b++ = __half_as_ushort(__float2half_rz(between / 7e6f));
    *b++ = __half_as_ushort(__float2half_ru(between / 3e7f));
    *b++ = __half_as_ushort(__float2half_rd(between));
    *b++ = __half_as_ushort(__double2half(between / 1e9));
    *b++ = __half_as_ushort(__int2half_ru((int)(i * 77777u)));
    *b++ = __half_as_ushort(__ull2half_rz(i * 77777ull));
    *b++ = __half_as_ushort(__short2half_rd((short)i));
    out->single = __half2float(h);
}

__global__ void of_conversions(converted *results)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    convert(i, results + i);
}

static void check_conversions(const converted *results)
{
    for (unsigned i = 0; i < HALVES; i++) {
        converted wanted;
        convert(i, &wanted);
        for (unsigned k = 0; k < sizeof wanted.integers / sizeof *wanted.integers; k++)
            if (results[i].integers[k] != wanted.integers[k])
                fail("integer", i << 8 | k, (unsigned)results[i].integers[k],
                     (unsigned)wanted.integers[k]);
        for (unsigned k = 0; k < sizeof wanted.halves / sizeof *wanted.halves; k++)
            if (!same(results[i].halves[k], wanted.halves[k]))
                fail("conversion", i << 8 | k, results[i].halves[k], wanted.halves[k]);
        if (std::memcmp(&results[i].single, &wanted.single, sizeof(float)) &&
            !std::isnan(wanted.single))
            fail("float", i, (unsigned)results[i].single, (unsigned)wanted.single);
    }
}

// The host's rounding: numbers at, below and above the middle of neighbours.
static void check_rounding()
{
    for (unsigned i = 0; i < 0x7c00; i++) {
        const double low = value_of(i), high = i == 0x7bff ? 65536 : value_of(i + 1);
        const double middle = (low + high) / 2;
        const unsigned even = i & 1 ? i + 1 : i;
        if (bits_of(__double2half(middle)) != even)
            fail("the middle", i, bits_of(__double2half(middle)), even);
        if (bits_of(__double2half(std::nextafter(middle, 0.))) != i)
            fail("below the middle", i, bits_of(__double2half(std::nextafter(middle, 0.))), i);
        if (bits_of(__double2half(std::nextafter(middle, 1e9))) != i + 1)
            fail("above the middle", i, bits_of(__double2half(std::nextafter(middle, 1e9))), i + 1);
        const float close = (float)middle;
        if (bits_of(__float2half_rz(close)) != i || bits_of(__float2half_ru(close)) != i + 1 ||
            bits_of(__float2half_rd(-close)) != (i + 1) + 0x8000 ||
            bits_of(__float2half_ru(-close)) != i + 0x8000)
            fail("rounded", i, bits_of(__float2half_rz(close)), i);
    }
}

// ---- arithmetic and comparisons of two and three numbers, and the same of pairs

struct computed {
    unsigned short numbers[24];
    unsigned pairs[24];
    unsigned flags;
};

static __host__ __device__ unsigned word(half2 h)
{
    unsigned bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

static __host__ __device__ void compute(unsigned i, computed *out)
{
    const unsigned random = i * 2654435761u ^ i << 13, more = (i + 99) * 2246822519u;
    const half a = __ushort_as_half((unsigned short)(random >> 16));
    const half b = __ushort_as_half((unsigned short)(i % 7 ? more >> 16 : random >> 16 ^ i % 3));
    const half c = __ushort_as_half((unsigned short)(i % 5 ? random : more & 0x83ff));
    const half2 p(a, c), q(b, a), r(c, b);
    unsigned short *n = out->numbers;
    unsigned *two = out->pairs;
#define NUMBER(x) *n++ = __half_as_ushort(x)
#define PAIR(x) *two++ = word(x)
    NUMBER(a + b);
    NUMBER(a - b);
    NUMBER(a * b);
    NUMBER(a / b);
    NUMBER(__hfma(a, b, c));
    NUMBER(__hfma_sat(a, b, c));
    NUMBER(__hfma_relu(a, b, c));
    NUMBER(__hadd_sat(a, b));
    NUMBER(__hmul_rn(a, c));
    NUMBER(__hsub_sat(b, c));
    NUMBER(__hmax(a, b));
    NUMBER(__hmin(a, b));
    NUMBER(__hmax_nan(a, c));
    NUMBER(__hmin_nan(a, c));
    NUMBER(__habs(a));
    NUMBER(-a);
    half d = a;
    d += b;
    d++;
    --d;
    NUMBER(d *= c); // a sum that reads the product would be rounded with it, on a card too
    PAIR(p + q);
    PAIR(p - q);
    PAIR(p * q);
    PAIR(p / q);
    PAIR(__hfma2(p, q, r));
    PAIR(__hfma2_sat(p, q, r));
    PAIR(__hadd2_sat(p, q));
    PAIR(__hcmadd(p, q, r));
    PAIR(__hmax2(p, q));
    PAIR(__hmin2_nan(p, q));
    PAIR(__heq2(p, q));
    PAIR(__hltu2(p, q));
    PAIR(-p);
    PAIR(__habs2(p));
    PAIR(__lowhigh2highlow(p));
    PAIR(__lows2half2(p, q));
    PAIR(__highs2half2(p, q));
    PAIR(__low2half2(p));
    PAIR(__floats2half2_rn(__low2float(p), __half22float2(p).y));
    PAIR(__hisnan2(p));
    *two++ = __hgt2_mask(p, q);
    out->flags = (unsigned)(a == b) | (unsigned)(a != b) << 1 | (unsigned)(a < b) << 2 |
                 (unsigned)(a <= b) << 3 | (unsigned)(a > b) << 4 | (unsigned)(a >= b) << 5 |
                 (unsigned)__hequ(a, b) << 6 | (unsigned)__hneu(a, b) << 7 |
                 (unsigned)__hne(a, b) << 8 | (unsigned)(p == q) << 9 |
                 (unsigned)__hbge2(p, q) << 10 | (unsigned)__hbltu2(p, q) << 11;
    while (n < out->numbers + 24)
        *n++ = 0;
    while (two < out->pairs + 24)
        *two++ = 0;
}

__global__ void of_arithmetic(computed *results)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    compute(i, results + i);
}

// NaN has one form on the device, and several on the host.
static bool same_pair(unsigned got, unsigned wanted)
{
    return same(got & 0xffff, wanted & 0xffff) && same(got >> 16, wanted >> 16);
}

static void check_arithmetic(const computed *results)
{
    for (unsigned i = 0; i < HALVES; i++) {
        computed wanted;
        compute(i, &wanted);
        for (unsigned k = 0; k < 24; k++) {
            if (!same(results[i].numbers[k], wanted.numbers[k]))
                fail("number", i << 8 | k, results[i].numbers[k], wanted.numbers[k]);
            if (!same_pair(results[i].pairs[k], wanted.pairs[k]))
                fail("pair", i << 8 | k, results[i].pairs[k], wanted.pairs[k]);
        }
        if (results[i].flags != wanted.flags)
            fail("comparisons", i, results[i].flags, wanted.flags);
    }
}

// ---- threads

__global__ void of_warps(half *sum, half2 *pairs, half *shuffled)
{
    const half mine = (int)threadIdx.x;
    atomicAdd(sum, mine);
    atomicAdd(pairs, half2(mine, 1));
    shuffled[threadIdx.x] =
        __shfl_xor_sync(0xffffffff, mine, 3) + __shfl_down_sync(0xffffffff, half2(mine, mine), 1).y;
}

static void check_warps(const half *shuffled, half sum, half2 pairs)
{
    for (unsigned i = 0; i < 32; i++)
        if ((int)shuffled[i] != (int)((i ^ 3) + (i == 31 ? 31 : i + 1)))
            fail("shuffle", i, (unsigned)(int)shuffled[i], (i ^ 3) + i + 1);
    if ((int)sum != 496 || (int)pairs.x != 496 || (int)pairs.y != 32)
        fail("atomics", 0, (unsigned)(int)sum, 496);
}

template <class T> static T *managed(size_t count)
{
    void *memory;
    if (cudaMallocManaged(&memory, count * sizeof(T)) != cudaSuccess) {
        std::puts("no memory");
        std::exit(1);
    }
    std::memset(memory, 0, count * sizeof(T));
    return (T *)memory;
}

int main()
{
    half *const results = managed<half>((size_t)HALVES * FUNCTION_COUNT);
    converted *const conversions = managed<converted>(HALVES);
    computed *const arithmetic = managed<computed>(HALVES);
    half *const halves = managed<half>(64);
    half2 *const pairs = managed<half2>(1);
    of_one<<<HALVES / THREADS, THREADS>>>(results);
    of_conversions<<<HALVES / THREADS, THREADS>>>(conversions);
    of_arithmetic<<<HALVES / THREADS, THREADS>>>(arithmetic);
    of_warps<<<1, 32>>>(halves, pairs, halves + 1);
    if (cudaDeviceSynchronize() != cudaSuccess)
        fail("cudaDeviceSynchronize", 0, 1, 0);
    check_functions(results);
    check_conversions(conversions);
    check_rounding();
    check_arithmetic(arithmetic);
    check_warps(halves + 1, halves[0], *pairs);
    if (!failures)
        std::puts("all halves agree");
    return failures != 0;
}
