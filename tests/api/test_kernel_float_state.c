// SPDX-License-Identifier: MIT
// Kernels compute the same in threads with another rounding mode, with flushing of subnormal values
// and with exceptions that interrupt, and these threads keep their state.
#include <cardless.h>
#include <fenv.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../harness.h"

// Results of which each depends on the rounding mode, on subnormal values, or divides by zero. The
// constants and the initial value depend on the rounding mode when the text is read.
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 8 .f64 third = 0.3333;\n"
    ".visible .entry compute(.param .u64 out)\n"
    "{\n"
    ".reg .f32 %f<8>;\n.reg .f64 %d<8>;\n.reg .b64 %x<4>;\n.reg .b32 %r<4>;\n.reg .b16 %h<4>;\n"
    "ld.param.u64 %x0, [out];\n"
    "mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f32000000; mov.f32 %f2, 0f00000123;\n"
    "add.f32 %f3, %f0, %f1; st.global.f32 [%x0], %f3;\n"            // 1 + 2^-27
    "add.f32 %f3, %f2, %f2; st.global.f32 [%x0+4], %f3;\n"          // subnormal values
    "mul.f32 %f3, %f0, 0f00ABCDEF; mul.f32 %f3, %f3, 0f3E000000;\n" // a subnormal result
    "st.global.f32 [%x0+8], %f3;\n"
    "div.rn.f32 %f3, %f0, 0f40400000; st.global.f32 [%x0+12], %f3;\n"
    "div.rn.f32 %f3, %f0, 0f00000000; st.global.f32 [%x0+16], %f3;\n"
    "mov.f64 %d0, 0.1; st.global.f64 [%x0+24], %d0;\n"
    "ld.global.f64 %d1, [third]; st.global.f64 [%x0+32], %d1;\n"
    "add.f64 %d2, %d0, %d1; st.global.f64 [%x0+40], %d2;\n"
    "fma.rn.f64 %d2, %d0, %d1, %d0; st.global.f64 [%x0+48], %d2;\n"
    "cvt.rn.f32.f64 %f3, %d0; st.global.f32 [%x0+56], %f3;\n"
    "cvt.rn.f16.f32 %h0, %f3; st.global.b16 [%x0+60], %h0;\n"
    "add.rz.f32 %f3, %f0, %f1; st.global.f32 [%x0+64], %f3;\n"
    "add.rp.f32 %f3, %f0, %f1; st.global.f32 [%x0+68], %f3;\n"
    "sin.approx.f32 %f3, 0f3F123456; st.global.f32 [%x0+72], %f3;\n"
    "lg2.approx.f32 %f3, 0f00000123; st.global.f32 [%x0+76], %f3;\n"
    "ret;\n}\n";

enum { WORDS = 20 };

// Other states, of which each would change results.
enum state { DEFAULT, UPWARD, FLUSH, EXCEPTIONS };

static void choose(enum state state)
{
    if (state == UPWARD)
        EXPECT_EQ(fesetround(FE_UPWARD), 0);
#if defined(__x86_64__)
    if (state == FLUSH)
        _mm_setcsr(0x1f80 | 0x8000 | 0x40 | 0x6000); // FTZ, DAZ, toward zero
    if (state == EXCEPTIONS)
        _mm_setcsr(0x1f80 & ~0x680); // invalid operations, divisions by zero, overflow
#endif
}

// The whole state, with the flags of exceptions.
static unsigned current(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return (unsigned)fegetround();
#endif
}

static void start(void)
{
    CUcontext context;
    CUdevice device;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuCtxCreate(&context, NULL, 0, device));
}

static void compute(enum state state, uint32_t words[WORDS])
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    void *arguments[] = {&out};

    EXPECT_OK(cuMemAlloc(&out, 4 * WORDS));
    EXPECT_OK(cuMemsetD8(out, 0, 4 * WORDS));
    choose(state);
    const unsigned before = current();
    EXPECT_OK(cuModuleLoadData(&module, text));
    EXPECT_OK(cuModuleGetFunction(&function, module, "compute"));
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(current(), before);
    EXPECT_OK(cuMemcpyDtoH(words, out, 4 * WORDS));
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_OK(cuMemFree(out));
}

static void compare(enum state state)
{
    uint32_t expected[WORDS], got[WORDS];
    start();
    compute(DEFAULT, expected);
    EXPECT_EQ(expected[0], 0x3f800000);
    EXPECT_EQ(expected[1], 0x246);
    compute(state, got);
    for (unsigned i = 0; i < WORDS; i++)
        EXPECT_EQ(got[i], expected[i]);
}

TEST(rounds_up)
{
    compare(UPWARD);
}

TEST(flushes)
{
    compare(FLUSH);
}

TEST(exceptions)
{
    compare(EXCEPTIONS);
}

// ---- host functions as kernels ----

static void kernel_add(float *out, float a, float b)
{
    volatile float sum = a + b;
    out[0] = sum;
    fesetround(FE_DOWNWARD); // concerns this call only
}

static const cardlessParam parameters[] = {
    {.type = CARDLESS_POINTER}, {.type = CARDLESS_FLOAT}, {.type = CARDLESS_FLOAT}};
static const cardlessKernelDesc kernels[] = {
    {.name = "add", .function = (void (*)(void))kernel_add, .params = parameters, .param_count = 3},
};
static const cardlessModuleDesc table = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = 1,
    .kernels = kernels,
};

TEST(host_function)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    float a = 1, b = 0x1p-27F, got;
    void *arguments[] = {&out, &a, &b};

    start();
    const CUresult r = cuModuleLoadData(&module, &table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    EXPECT_OK(r);
    EXPECT_OK(cuModuleGetFunction(&function, module, "add"));
    EXPECT_OK(cuMemAlloc(&out, sizeof got));
    choose(UPWARD);
    const unsigned before = current();
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(current(), before);
    EXPECT_OK(cuMemcpyDtoH(&got, out, sizeof got));
    EXPECT(got == 1);
}

TESTS(CASE(rounds_up), CASE(flushes), CASE(exceptions), CASE(host_function))
