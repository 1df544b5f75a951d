// SPDX-License-Identifier: MIT
// Mistakes of kernels in PTX (K01 to K07).
#include "../api/kernel_text.h"

#define KERNEL(name, body)                                                                         \
    PTX_HEAD ".visible .entry " name "(.param .u64 p)\n{\n"                                        \
             ".reg .b64 %x<8>;\n.reg .b32 %r<8>;\n.reg .pred %q;\n"                                \
             ".shared .align 4 .b32 s[64];\n"                                                      \
             "ld.param.u64 %x0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %x1, %r0, 4;\n"           \
             "add.u64 %x2, %x0, %x1;\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\n"                     \
             "add.u32 %r2, %r1, %r2;\nxor.b32 %r3, %r2, 128;\n" body "ret;\n}\n"

// Memory for 64 words, which nothing has written.
static CUdeviceptr start(const char *check)
{
    CUdeviceptr p;
    test_setting("CARDLESS_CHECK", check);
    ptx_start();
    MUST(cuMemAlloc(&p, 256));
    return p;
}

static CUfunction kernel(const char *text)
{
    return ptx_kernel(ptx_load(text), "k");
}

TEST(k01_past_the_end)
{
    CUdeviceptr p = start("memory");
    // [K01 wrong]
    // p has 64 words, and each thread writes one.
    CUfunction k = kernel(KERNEL("k", "st.global.u32 [%x2], %r0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 65, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    // [end]
    EXPECT_DIAGNOSTIC(K01);
}

TEST(k01_twin)
{
    CUdeviceptr p = start("memory");
    // [K01 right]
    CUfunction k = kernel(KERNEL("k", "setp.ge.u32 %q, %r0, 64;\n"
                                      "@%q ret;\n"
                                      "st.global.u32 [%x2], %r0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 65, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// A kernel with 28 bytes of shared memory at %r1.
#define SHORT(body)                                                                                \
    PTX_HEAD ".extern .shared .align 16 .b8 t[];\n"                                                \
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<2>;\n.reg .b32 %r<8>;\n"           \
             "ld.param.u64 %x0, [p];\nmov.u32 %r1, t;\nmov.u32 %r2, 7;\nst.shared.u32 [%r1+24], "  \
             "%r2;\n" body "ret;\n}\n"

static CUresult run_short(const char *text, CUdeviceptr p)
{
    MUST(cuLaunchKernel(kernel(text), 1, 1, 1, 1, 1, 1, 28, NULL, (void *[]){&p}, NULL));
    return cuCtxSynchronize();
}

// Compilers join reads of neighbours to one that may end after shared memory.
TEST(k01_joined_read)
{
    CUdeviceptr p = start("");
    EXPECT_OK(run_short(SHORT("ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1+16];\n"
                              "st.global.u32 [%x0], %r5;\n"),
                        p));
    EXPECT_EQ(ptx_word(p), 7);
    EXPECT_OK(run_short(SHORT("cvta.shared.u64 %x1, t;\n"
                              "ld.v2.u32 {%r4, %r5}, [%x1+24];\n"
                              "st.global.u32 [%x0+4], %r4;\n"),
                        p));
    EXPECT_EQ(ptx_word(p + 4), 7);
    EXPECT_NO_DIAGNOSTIC();
}

// Not a write, and not a read that begins after the end.
TEST(k01_joined_write)
{
    CUdeviceptr p = start("");
    EXPECT_ERROR(run_short(SHORT("st.shared.v4.u32 [%r1+16], {%r2, %r2, %r2, %r2};\n"), p),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_DIAGNOSTIC(K01);
}

TEST(k01_read_after_the_end)
{
    CUdeviceptr p = start("");
    EXPECT_ERROR(run_short(SHORT("ld.shared.u32 %r3, [%r1+28];\nst.global.u32 [%x0], %r3;\n"), p),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_DIAGNOSTIC(K01);
}

TEST(k03_no_barrier)
{
    CUdeviceptr p = start("race");
    // [K03 wrong]
    // Each thread writes a word of s, and reads that of a thread in the other warp.
    CUfunction k = kernel(KERNEL("k", "st.shared.u32 [%r2], %r0;\n"
                                      "ld.shared.u32 %r4, [%r3];\n"
                                      "st.global.u32 [%x2], %r4;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_DIAGNOSTIC(K03);
}

TEST(k03_twin)
{
    CUdeviceptr p = start("race");
    // [K03 right]
    CUfunction k = kernel(KERNEL("k", "st.shared.u32 [%r2], %r0;\n"
                                      "bar.sync 0;\n"
                                      "ld.shared.u32 %r4, [%r3];\n"
                                      "st.global.u32 [%x2], %r4;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TEST(k02_shared)
{
    CUdeviceptr p = start("memory");
    // [K02 wrong]
    CUfunction k = kernel(KERNEL("k", "ld.shared.u32 %r4, [%r2];\n" // no thread has written it
                                      "st.global.u32 [%x2], %r4;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_DIAGNOSTIC(K02);
}

TEST(k02_twin)
{
    CUdeviceptr p = start("memory");
    // [K02 right]
    CUfunction k = kernel(KERNEL("k", "st.shared.u32 [%r2], %r0;\n"
                                      "ld.shared.u32 %r4, [%r2];\n"
                                      "st.global.u32 [%x2], %r4;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TEST(k04_barrier_in_a_branch)
{
    CUdeviceptr p = start("race");
    // [K04 wrong]
    // The threads of the first warp wait at barrier 0, and the others at barrier 1.
    CUfunction k = kernel(KERNEL("k", "setp.ge.u32 %q, %r0, 32;\n"
                                      "@%q bar.sync 1;\n"
                                      "@!%q bar.sync 0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
    // [end]
    EXPECT_DIAGNOSTIC(K04);
}

TEST(k04_twin)
{
    CUdeviceptr p = start("race");
    // [K04 right]
    CUfunction k = kernel(KERNEL("k", "bar.sync 0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(k05_misaligned)
{
    CUdeviceptr p = start("memory");
    // [K05 wrong]
    CUfunction k = kernel(KERNEL("k", "st.global.u32 [%x0+2], %r0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
    // [end]
    EXPECT_DIAGNOSTIC(K05);
}

TEST(k05_twin)
{
    CUdeviceptr p = start("memory");
    // [K05 right]
    CUfunction k = kernel(KERNEL("k", "st.global.u32 [%x0+4], %r0;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

static CUtexObject texture_of_floats(void)
{
    CUarray a;
    CUtexObject t;
    MUST(cuArrayCreate(
        &a, &(CUDA_ARRAY_DESCRIPTOR){.Width = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}));
    MUST(cuTexObjectCreate(
        &t, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
        &(CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP}}, NULL));
    return t;
}

// A kernel whose argument is a texture.
static CUfunction fetching_kernel(void)
{
    return kernel(KERNEL("k", "mov.b32 %r4, 0f3f000000;\n"
                              "tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%x0, {%r4}];\n"));
}

TEST(k06_destroyed)
{
    ptx_start();
    // [K06 wrong]
    CUtexObject t = texture_of_floats();
    CUfunction k = fetching_kernel();
    EXPECT_OK(cuTexObjectDestroy(t));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&t}, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    // [end]
    EXPECT_DIAGNOSTIC(K06);
}

TEST(k06_twin)
{
    ptx_start();
    // [K06 right]
    CUtexObject t = texture_of_floats();
    CUfunction k = fetching_kernel();
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&t}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuTexObjectDestroy(t));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// A card reads zeros through 0, so the personality of the driver goes on.
TEST(k06_no_handle)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    ptx_start();
    CUtexObject t = 0;
    CUfunction k = fetching_kernel();
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&t}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_DIAGNOSTIC(K06);
}

TEST(k07_endless)
{
    test_setting("CARDLESS_KERNEL_MS", "1");
    CUdeviceptr p = start("memory");
    // [K07 wrong]
    // The counter goes round to 0, because the test is "not 0" instead of "less than 65536".
    CUfunction k = kernel(KERNEL("k", "mov.u32 %r4, 0;\n"
                                      "again: add.u32 %r4, %r4, 8192;\n"
                                      "setp.ne.u32 %q, %r4, 0;\n"
                                      "@%q bra again;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_DIAGNOSTIC(K07);
}

TEST(k07_twin)
{
    test_setting("CARDLESS_KERNEL_MS", "1"); // as above; 16 turns of the loop take less
    CUdeviceptr p = start("memory");
    // [K07 right]
    CUfunction k = kernel(KERNEL("k", "mov.u32 %r4, 0;\n"
                                      "again: add.u32 %r4, %r4, 8192;\n"
                                      "setp.lt.u32 %q, %r4, 65536;\n"
                                      "@%q bra again;\n"));
    EXPECT_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    // [end]
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(k01_past_the_end), CASE(k01_twin), CASE(k01_joined_read), CASE(k01_joined_write),
      CASE(k01_read_after_the_end), CASE(k02_shared), CASE(k02_twin), CASE(k03_no_barrier),
      CASE(k03_twin), CASE(k04_barrier_in_a_branch), CASE(k04_twin), CASE(k05_misaligned),
      CASE(k05_twin), CASE(k06_destroyed), CASE(k06_twin), CASE(k06_no_handle), CASE(k07_endless),
      CASE(k07_twin))
