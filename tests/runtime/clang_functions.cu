// SPDX-License-Identifier: MIT
// The device functions of clang_device.h and clang_math.h, with the results that the manual states.
// cuda_runtime.h is included by an option, as nvcc does by itself, so that the C++ library may come
// first. Prints the first value that differs.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures;

template <class T> static void expect(const char *what, int number, T value, T wanted)
{
    if (value != wanted && !failures++)
        std::printf("%s %d is %.9g, not %.9g\n", what, number, (double)value, (double)wanted);
}

// Copies the results of a kernel from the device and compares them.
template <class T, int N>
static void compare(const char *what, const T *results, const T (&wanted)[N])
{
    T host[N];
    expect(what, -1, (int)cudaDeviceSynchronize(), (int)cudaSuccess);
    expect(what, -2, (int)cudaMemcpy(host, results, sizeof host, cudaMemcpyDefault), 0);
    for (int i = 0; i < N; i++)
        expect(what, i, host[i], wanted[i]);
}

__global__ void integers(long long *o, int a, int b, long long wide)
{
    *o++ = __popc((unsigned)a);
    *o++ = __clz(a);
    *o++ = __clz(0);
    *o++ = __ffs(a);
    *o++ = __ffs(0);
    *o++ = (int)__brev((unsigned)a);
    *o++ = __umulhi((unsigned)a, (unsigned)b);
    *o++ = __mulhi(a, b);
    *o++ = min(a, b);
    *o++ = max((unsigned)a, (unsigned)b);
    *o++ = __byte_perm((unsigned)a, (unsigned)b, 0x7210);
    *o++ = abs(b);
    *o++ = __clzll(wide);
    *o++ = __popcll((unsigned long long)wide);
    *o++ = __ffsll(wide);
    *o++ = (long long)__brevll((unsigned long long)wide);
    *o++ = (long long)__umul64hi((unsigned long long)wide, 1ull << 32);
    *o++ = __mul64hi(-wide, 1ll << 32);
    *o++ = llabs(-wide);
}

__global__ void rounded(double *o, float two, float tiny, float half, double tenth)
{
    *o++ = __fadd_rn(two, tiny);
    *o++ = __fadd_ru(two, tiny);
    *o++ = __fsub_rd(two, tiny);
    *o++ = __fadd_rz(-two, -tiny);
    *o++ = __float2int_rn(half);
    *o++ = __float2int_ru(half);
    *o++ = __float2int_rd(-half);
    *o++ = __float2uint_rz(half);
    *o++ = __double2int_rn(tenth * 35);
    *o++ = __double2float_ru(tenth);
    *o++ = __double2float_rd(tenth);
    *o++ = __int2float_ru(0x1000001);
    *o++ = __uint2float_rd(0x1000001);
    *o++ = __fmul_ru(half, half);
    *o++ = __fdiv_rd(two, half);
    *o++ = __fsqrt_ru(two);
    *o++ = __frcp_rn(two);
    *o++ = __fmaf_rn(two, two, -half);
    *o++ = __dadd_rd(tenth, 1e-30);
    *o++ = __dmul_rn(tenth, 10);
    *o++ = __ddiv_rn(1, tenth);
    *o++ = __dsqrt_rn((double)two * two);
    *o++ = __fma_rn(tenth, 2, 1);
}

__global__ void functions(double *o, float two, float half, float negative)
{
    *o++ = sqrtf(two * two);
    *o++ = sqrt((double)two * two);
    *o++ = floorf(half);
    *o++ = ceil((double)half);
    *o++ = truncf(negative);
    *o++ = rintf(half);
    *o++ = nearbyint((double)half + 1);
    *o++ = fmaf(two, two, -half);
    *o++ = fma((double)two, 3, 1);
    *o++ = fminf(two, negative);
    *o++ = fmax((double)two, (double)half);
    *o++ = fabsf(negative);
    *o++ = copysignf(two, negative);
    *o++ = rsqrtf(two * two);
    *o++ = __int_as_float(__float_as_int(negative));
    *o++ = __uint_as_float(__float_as_uint(half) + 1) > half;
    *o++ = __longlong_as_double(__double_as_longlong(negative));
    *o++ = __saturatef(half);
    *o++ = __fdividef(half, two);
    *o++ = __powf(two, 3.f);
    *o++ = __log2f(8.f);
    *o++ = __sinf(0.f) + __cosf(0.f);
    *o++ = __expf(0.f) + __logf(1.f);
}

__global__ void warps(long long *o, unsigned *counters)
{
    const int lane = threadIdx.x;
    const long long wide = __shfl_xor_sync(0xffffffff, (1ll << 40) + lane, 1);
    const double down = __shfl_down_sync(0xffffffff, lane + 0.5, 1);
    const int count = __syncthreads_count(lane & 1), all = __syncthreads_and(lane < 32);
    const int any = __syncthreads_or(lane == 5), not_all = __syncthreads_and(lane != 5);
    const unsigned same = __match_any_sync(0xffffffff, (unsigned)lane / 4);
    long long bytes, copy;
    const long long began = clock64();
    atomicInc(&counters[0], 20);
    atomicDec(&counters[1], 100);
    memset(&bytes, lane, sizeof bytes);
    memcpy(&copy, &bytes, sizeof copy);
    if (lane != 3)
        return;
    __nanosleep(1);
    *o++ = wide;
    *o++ = (long long)(down * 2);
    *o++ = count;
    *o++ = all;
    *o++ = any;
    *o++ = not_all;
    *o++ = same;
    *o++ = __ldg(&copy);
    *o++ = clock64() > began;
}

__global__ void fail()
{
    __trap();
}

int main()
{
    void *memory;
    expect("cudaMalloc", 0, (int)cudaMalloc(&memory, 4096), 0);
    long long *const numbers = (long long *)memory;
    unsigned *const counters = (unsigned *)memory + 512;
    expect("cudaMemset", 0, (int)cudaMemset(memory, 0, 4096), 0);

    integers<<<1, 1>>>(numbers, 0xf0, -7, 3ll << 40);
    compare("integers", numbers,
            {4LL, 24LL, 32LL, 5LL, 0LL, 0x0f000000LL, 239LL, -1LL, -7LL, 0xfffffff9LL, 0xff0000f0LL,
             7LL, 22LL, 2LL, 41LL, 3LL << 22, 3LL << 8, -(3LL << 8), 3LL << 40});
    rounded<<<1, 1>>>((double *)memory, 2, 1e-8f, 2.5f, 0.1);
    compare("rounded", (double *)memory,
            {2.0,
             2 + 0x1p-22,
             2 - 0x1p-23,
             -2.0,
             2.0,
             3.0,
             -3.0,
             2.0,
             4.0,
             (double)0.1f,
             (double)0.1f - 0x1p-27,
             16777218.0,
             16777216.0,
             6.25,
             (double)0.8f - 0x1p-24,
             (double)1.41421366f,
             0.5,
             1.5,
             0.1,
             1.0,
             10.0,
             2.0,
             1.2});
    functions<<<1, 1>>>((double *)memory, 2, 2.5f, -1.75f);
    compare("functions", (double *)memory,
            {2.0,  2.0, 2.0,   3.0, -1.0,  2.0, 4.0,  1.5, 7.0, -1.75, 2.5, 1.75,
             -2.0, 0.5, -1.75, 1.0, -1.75, 1.0, 1.25, 8.0, 3.0, 1.0,   1.0});
    warps<<<1, 32>>>(numbers, counters);
    compare("warps", numbers,
            {(1LL << 40) + 2, 9LL, 16LL, 1LL, 1LL, 0LL, 15LL, 0x0303030303030303LL, 1LL});
    compare("counters", counters, {32u % 21, 100u - 31});
    fail<<<1, 1>>>();
    expect("trap", 0, (int)cudaDeviceSynchronize(), (int)cudaErrorLaunchFailure);

    // Functions of the host of the same names.
    const std::complex<float> imaginary(0, 1);
    expect("host", 0, std::min(1, 2) + max(3, 4) + abs(-5), 10);
    expect("host", 1, (double)(sqrtf(4) + std::fabs(-1.5f) + (imaginary * imaginary).real()), 2.5);
    if (!failures)
        std::puts("all functions agree");
    return failures != 0;
}
