// SPDX-License-Identifier: MIT
// Kernels with matrix instructions: products, and operands that do not fit.
#include "../harness.h"

enum { LANES = 32, REGISTERS = 8, WORDS = LANES * REGISTERS };

// Each lane reads 8 words, and writes 4.
#define HEAD                                                                                       \
    ".version 8.5\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[1024];\n"           \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                      \
    ".reg .b16 %h<2>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"                                     \
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r9, %tid.x;\n"                  \
    "mad.wide.u32 %rd3, %r9, 32, %rd1;\nmad.wide.u32 %rd4, %r9, 16, %rd2;\nmov.u32 %r10, tile;\n"  \
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd3];\n"                                             \
    "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd3+16];\n"
#define TAIL "st.global.v4.b32 [%rd4], {%r11, %r12, %r13, %r14};\nret;\n}\n"

static CUresult run(const char *text, const uint32_t *words, uint32_t *got)
{
    CUdevice device;
    CUcontext context;
    CUmodule m;
    CUfunction f;
    CUdeviceptr in, out;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
    CUresult r = cuModuleLoadData(&m, text);
    r = r ? r : cuModuleGetFunction(&f, m, "k");
    if (r)
        return r;
    EXPECT_OK(cuMemAlloc(&in, WORDS * 4));
    EXPECT_OK(cuMemAlloc(&out, WORDS * 4));
    EXPECT_OK(cuMemcpyHtoD(in, words, WORDS * 4));
    EXPECT_OK(cuMemsetD8(out, 0, WORDS * 4));
    void *arguments[] = {&in, &out};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL));
    r = cuCtxSynchronize();
    return r ? r : cuMemcpyDtoH(got, out, WORDS * 2);
}

// A has -3 in row i, column i (of 16), B has i + 10 j in row i, column j, and C is 1000.
TEST(integers)
{
    uint32_t in[WORDS] = {0}, got[WORDS];
    for (int lane = 0; lane < LANES; lane++)
        for (int j = 0; j < 4; j++) {
            const int k = 4 * (lane % 4) + j, row = lane / 4;
            const uint32_t minus = 0xfd;
            in[lane * REGISTERS] |= (k == row ? minus : 0) << 8 * j;
            in[lane * REGISTERS + 1] |= (k == row + 8 ? minus : 0) << 8 * j;
            in[lane * REGISTERS + 4] |= (uint32_t)(k + 10 * row) << 8 * j;
        }
    EXPECT_OK(run(HEAD "mov.b32 %r7, 1000;\nmma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 "
                       "{%r11, %r12, %r13, %r14}, {%r1, %r2}, {%r5}, {%r7, %r7, %r7, %r7};\n" TAIL,
                  in, got));
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < 4; r++) {
            const int row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
            EXPECT_EQ((int)got[4 * lane + r], 1000 - 3 * (row + 10 * column));
        }
}

// "satfinite: the result is clamped"; otherwise it wraps around.
static void overflow(const char *text, uint32_t expected)
{
    uint32_t in[WORDS], got[WORDS];
    for (int i = 0; i < WORDS; i++)
        in[i] = 0x01010101;
    EXPECT_OK(run(text, in, got));
    EXPECT_EQ(got[0], expected);
    EXPECT_EQ(got[4 * LANES - 1], expected);
}
#define OVERFLOW(modifier)                                                                         \
    HEAD "mov.b32 %r7, 0x7fffffff;\nmma.sync.aligned.m16n8k16.row.col" modifier ".s32.s8.u8.s32 "  \
         "{%r11, %r12, %r13, %r14}, {%r1, %r2}, {%r5}, {%r7, %r7, %r7, %r7};\n" TAIL

TEST(saturated)
{
    overflow(OVERFLOW(".satfinite"), 0x7fffffff);
}

TEST(wrapped)
{
    overflow(OVERFLOW(""), 0x8000000f);
}

static void refused(const char *text)
{
    static const uint32_t in[WORDS];
    uint32_t got[WORDS];
    EXPECT_ERROR(run(text, in, got), CUDA_ERROR_INVALID_PTX);
}
#define MMA(d, a, b, c, more)                                                                      \
    HEAD "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " d ", " a ", " b ", " c more       \
         ";\nret;\n}\n"
#define D "{%r11, %r12, %r13, %r14}"

TEST(sparse)
{
    static const uint32_t in[WORDS];
    uint32_t got[WORDS];
    EXPECT_OK(run(MMA(D, "{%r1, %r2}", "{%r3, %r4}", D, ", %r5, 3"), in, got));
}

TEST(selector)
{
    refused(MMA(D, "{%r1, %r2}", "{%r3, %r4}", D, ", %r5, 4"));
}

TEST(no_metadata)
{
    refused(MMA(D, "{%r1, %r2}", "{%r3, %r4}", D, ""));
}

// Vectors of a wrong size, or with a wrong register.
static void unfit(const char *text)
{
    static const uint32_t in[WORDS];
    uint32_t got[WORDS];
    const CUresult r = run(text, in, got);
    EXPECT(r == CUDA_ERROR_INVALID_PTX || r == CUDA_ERROR_NOT_SUPPORTED);
}

TEST(short_vector)
{
    unfit(MMA(D, "{%r1}", "{%r3, %r4}", D, ", %r5, 3"));
}

TEST(long_vector)
{
    unfit(MMA(D, "{%r1, %r2, %r3, %r4, %r1, %r1, %r1, %r1, %r1}", "{%r3, %r4}", D, ", %r5, 3"));
}

TEST(wrong_register)
{
    unfit(MMA(D, "{%r1, %h1}", "{%r3, %r4}", D, ", %r5, 3"));
}

// Rows of ldmatrix are 16 bytes; lane 0 reads element 0 of the first row and of the second.
#define LDMATRIX(stride, vector)                                                                   \
    HEAD "mad.lo.u32 %r15, %r9, " stride ", %r10;\nmov.b32 %r11, 0;\nmov.b32 %r12, 0;\n"           \
         "mov.b32 %r13, 0;\nmov.b32 %r14, 0;\nst.shared.b32 [%r15], %r9;\n"                        \
         "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 " vector               \
         ", [%r15];\n" TAIL

TEST(ldmatrix)
{
    static const uint32_t in[WORDS];
    uint32_t got[WORDS];
    EXPECT_OK(run(LDMATRIX("16", "{%r11}"), in, got));
    EXPECT_EQ(got[0], 1u << 16);
    EXPECT_EQ(got[4 * 3], 7u << 16 | 6);
}

TEST(ldmatrix_misaligned)
{
    static const uint32_t in[WORDS];
    uint32_t got[WORDS];
    EXPECT_ERROR(run(LDMATRIX("8", "{%r11}"), in, got), CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST(ldmatrix_vector)
{
    refused(LDMATRIX("16", "{%r11, %r12}"));
}

// The product of two matrices of 16 x 16 elements that are 2.
TEST(wmma)
{
    uint32_t in[WORDS], got[WORDS];
    for (int i = 0; i < WORDS; i++)
        in[i] = 0x40004000;
    EXPECT_OK(run(HEAD "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                       "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], 16;\n"
                       "mov.b32 %r15, 0;\n"
                       "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r11, %r12, %r13, %r14}, "
                       "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
                       "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r15, %r15, %r15, %r15};\n"
                       "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd2], "
                       "{%r11, %r12, %r13, %r14};\nret;\n}\n",
                  in, got));
    for (int i = 0; i < 4 * LANES; i++)
        EXPECT_EQ(got[i], 0x54005400);
}

TEST(wmma_vector)
{
    refused(HEAD "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2}, [%rd1], 16;\n"
                 "ret;\n}\n");
}

TESTS(CASE(integers), CASE(saturated), CASE(wrapped), CASE(sparse), CASE(selector),
      CASE(no_metadata), CASE(short_vector), CASE(long_vector), CASE(wrong_register),
      CASE(ldmatrix), CASE(ldmatrix_misaligned), CASE(ldmatrix_vector), CASE(wmma),
      CASE(wmma_vector))
