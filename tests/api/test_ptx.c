// SPDX-License-Identifier: MIT
// Kernels of PTX texts: loading, launching, refusals and faults.
#include "kernel_text.h"
#include "resident.h"

static CUcontext start(void)
{
    CUcontext context;
    CUdevice device;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
    return context;
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

// out[i] = factor + i, at an address that `off` shifts.
static const char numbers[] =
    HEAD ".visible .global .align 4 .u32 factor = 1000;\n"
         ".visible .entry numbers(.param .u64 out, .param .u64 off)\n"
         "{\n"
         ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [off];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
         "mad.lo.s32 %r4, %r1, %r2, %r3;\nld.global.u32 %r5, [factor];\nadd.s32 %r6, %r5, %r4;\n"
         "mul.wide.s32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd4, %rd2;\n"
         "st.global.u32 [%rd5], %r6;\nret;\n}\n";

enum { BLOCKS = 3, THREADS = 50, COUNT = BLOCKS * THREADS };

static CUresult launch(CUfunction f, CUdeviceptr out, uint64_t off)
{
    void *parameters[] = {&out, &off};
    CUresult r = cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL);
    return r ? r : cuCtxSynchronize();
}

TEST(numbers)
{
    start();
    CUmodule m;
    CUfunction f;
    CUdeviceptr out, factor;
    size_t size_B;
    uint32_t got[COUNT], other = 5;
    EXPECT_OK(cuModuleLoadData(&m, numbers));
    EXPECT_OK(cuModuleGetFunction(&f, m, "numbers"));
    EXPECT_OK(cuModuleGetGlobal(&factor, &size_B, m, "factor"));
    EXPECT_EQ(size_B, 4);
    EXPECT_OK(cuMemAlloc(&out, sizeof got));
    EXPECT_OK(launch(f, out, 0));
    EXPECT_OK(cuMemcpyDtoH(got, out, sizeof got));
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT_EQ(got[i], 1000 + i);
    EXPECT_OK(cuMemcpyHtoD(factor, &other, sizeof other));
    EXPECT_OK(launch(f, out, 0));
    EXPECT_OK(cuMemcpyDtoH(got, out, sizeof got));
    EXPECT_EQ(got[COUNT - 1], 5 + COUNT - 1);
    EXPECT_OK(cuModuleUnload(m));
}

static void fault(uint64_t out, uint64_t off, CUresult expected)
{
    start();
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    EXPECT_OK(cuModuleLoadData(&m, numbers));
    EXPECT_OK(cuModuleGetFunction(&f, m, "numbers"));
    EXPECT_OK(cuMemAlloc(&p, 4 * COUNT));
    EXPECT_ERROR(launch(f, out ? out : p, off), expected);
    EXPECT_ERROR(cuCtxSynchronize(), expected); // a sticky error
}

TEST(misaligned)
{
    fault(0, 2, CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST(unmapped)
{
    fault(4096, 0, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(host_memory)
{
    static uint32_t own[COUNT];
    fault((uintptr_t)own, 0, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(own[0], 0);
}

// An instruction that is not supported refuses its kernel alone.
TEST(not_supported)
{
    start();
    static const char text[] = HEAD ".visible .entry good()\n{\nret;\n}\n"
                                    ".visible .entry bad()\n{\n.reg .b64 %rd<2>;\n"
                                    "cvta.shared::cluster.u64 %rd1, %rd1;\nret;\n}\n";
    CUmodule m;
    CUfunction f;
    EXPECT_OK(cuModuleLoadData(&m, text));
    EXPECT_ERROR(cuModuleGetFunction(&f, m, "bad"), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuModuleGetFunction(&f, m, "good"));
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    EXPECT_OK(cuCtxSynchronize());
}

// nvcc writes the scope after the space, and the manual before it.
TEST(scope_after_the_space)
{
    static const char text[] = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %a;\n"
                                    ".reg .b32 %r;\nld.param.u64 %a, [p];\n"
                                    "atom.global.sys.add.u32 %r, [%a], 5;\n"
                                    "red.global.sys.add.u32 [%a], 2;\n"
                                    "atom.global.sys.cas.b32 %r, [%a], 7, 40;\n"
                                    "atom.global.gpu.exch.b32 %r, [%a+4], %r;\nret;\n}\n";
    uint32_t got[2] = {0};
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    start();
    MUST(cuModuleLoadData(&m, text));
    MUST(cuModuleGetFunction(&f, m, "k"));
    MUST(cuMemAlloc(&p, sizeof got));
    MUST(cuMemcpyHtoD(p, got, sizeof got));
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    EXPECT_OK(cuMemcpyDtoH(got, p, sizeof got));
    EXPECT_EQ(got[0], 40);
    EXPECT_EQ(got[1], 7);
}

// So does a form that PTX does not have, because it may be newer than Cardless.
static const char unknown_form[] = HEAD ".visible .entry good()\n{\nret;\n}\n"
                                        ".visible .entry bad()\n{\nbar.sync.release 0;\nret;\n}\n";

TEST(unknown_form)
{
    start();
    CUmodule m;
    CUfunction f;
    EXPECT_OK(cuModuleLoadData(&m, unknown_form));
    EXPECT_MESSAGE(cuModuleGetFunction(&f, m, "bad"), CUDA_ERROR_NOT_SUPPORTED,
                   "line 10: bar.sync.release: .release is not possible here");
    EXPECT_OK(cuModuleGetFunction(&f, m, "good"));
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    EXPECT_OK(cuCtxSynchronize());
}

// The driver refuses the text.
TEST(unknown_form_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    start();
    CUmodule m = NULL;
    EXPECT_MESSAGE(cuModuleLoadData(&m, unknown_form), CUDA_ERROR_INVALID_PTX,
                   "line 10: bar.sync.release: .release is not possible here");
    EXPECT_EQ(m, 0);
}

// A kernel with `size_B` bytes of static shared memory, after a comment of `comment_B` bytes.
static CUresult load_shared(unsigned size_B, unsigned comment_B, CUmodule *out)
{
    char *text = NULL, *comment = malloc(comment_B + 1);
    memset(comment, '/', comment_B);
    comment[comment_B] = 0;
    EXPECT(asprintf(&text,
                    HEAD "%s\n.visible .entry good()\n{\nret;\n}\n.visible .entry k()\n{\n"
                         ".shared .b8 s[%u];\nst.shared.u8 [s], 1;\nret;\n}\n",
                    comment, size_B) > 0);
    const CUresult r = cuModuleLoadData(out, text);
    free(text);
    free(comment);
    return r;
}

TEST(static_shared_memory)
{
    start();
    int most_B;
    CUmodule m = NULL;
    CUfunction f;
    MUST(cuDeviceGetAttribute(&most_B, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    EXPECT_MESSAGE(load_shared((unsigned)most_B + 1, 0, &m), CUDA_ERROR_INVALID_PTX,
                   "bytes of static shared memory; a block has at most");
    EXPECT_EQ(m, 0);
    EXPECT_OK(load_shared((unsigned)most_B, 0, &m));
    EXPECT_OK(cuModuleGetFunction(&f, m, "k"));
    EXPECT_OK(cuModuleUnload(m));
}

// The kernels of a long text are checked when they are asked for.
TEST(static_shared_memory_of_a_long_text)
{
    enum { LONG_B = 300 << 10 };
    start();
    CUmodule m = NULL;
    CUfunction f;
    EXPECT_OK(load_shared(LONG_B, LONG_B, &m));
    EXPECT_OK(cuModuleGetFunction(&f, m, "good"));
    EXPECT_MESSAGE(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_INVALID_PTX,
                   "kernel k has 307200 bytes of static shared memory");
    EXPECT_ERROR(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_INVALID_PTX);
    EXPECT_OK(cuModuleUnload(m));
}

// A library's kernel is checked for each device that it is used on.
TEST(static_shared_memory_of_another_device)
{
    static const char text[] =
        PTX_HEAD ".visible .entry k()\n{\n.shared .align 4 .b8 s[100000];\n.reg .b32 %r;\n"
                 "mov.u32 %r, s;\nst.shared.u32 [%r], %r;\nret;\n}\n";
    CUcontext contexts[2];
    CUlibrary library;
    CUkernel kernel;
    CUfunction f[2];
    test_setting("CARDLESS_DEVICES", "h100,t4");
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxSetCurrent(contexts[0]));
    EXPECT_OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_OK(cuLibraryGetKernel(&kernel, library, "k"));
    EXPECT_OK(cuKernelGetFunction(&f[0], kernel));
    EXPECT_OK(ptx_run(f[0], 1, 1, NULL));
    MUST(cuCtxSetCurrent(contexts[1]));
    EXPECT_MESSAGE(cuKernelGetFunction(&f[1], kernel), CUDA_ERROR_INVALID_PTX,
                   "100000 bytes of static shared memory; a block has at most 65536");
    MUST(cuCtxSetCurrent(contexts[0]));
    EXPECT_OK(ptx_run(f[0], 1, 1, NULL));
    EXPECT_OK(cuLibraryUnload(library));
}

// Zeros of a large variable are neither written nor resident, and those of a small one, whose
// memory may have been used before, are written.
TEST(large_variables)
{
    enum { SLACK_KIB = 32 << 10 };
    static const char text[] =
        PTX_HEAD ".visible .global .b8 x[4294967296];\n"
                 ".visible .global .align 4 .b32 y[268435456] = {1, 2, 3};\n"
                 ".visible .global .attribute(.managed) .b8 z[1073741824];\n"
                 ".visible .global .b8 small[4096];\n.visible .entry k()\n{\nret;\n}\n";
    static const struct {
        const char *name;
        uint64_t at;
        unsigned word;
    } words[] = {{"x", 0, 0},          {"x", (UINT64_C(1) << 32) - 4, 0},
                 {"y", 8, 3},          {"y", 12, 0},
                 {"y", 1073741820, 0}, {"z", 1073741820, 0},
                 {"small", 0, 0}};
    ptx_start();
    const long before = touched_KiB();
    for (int round = 0; round < 2; round++) {
        CUmodule m = ptx_load(text);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            CUdeviceptr p;
            size_t size_B;
            EXPECT_OK(cuModuleGetGlobal(&p, &size_B, m, words[i].name));
            EXPECT_EQ(ptx_word(p + words[i].at), words[i].word);
            EXPECT_OK(cuMemsetD32(p + words[i].at, 77, 1));
        }
        EXPECT(touched_KiB() - before < SLACK_KIB);
        EXPECT_OK(cuModuleUnload(m));
    }
}

// Operations of .f64 values that come from later places of the text. (The order of NaNs depends on
// how their values are made.)
static const char made_later[] =
    HEAD ".visible .entry made_later(.param .u64 out)\n{\n"
         ".reg .pred %p;\n.reg .f64 %a, %b, %c, %d, %e, %f;\n.reg .b64 %out;\n"
         "ld.param.u64 %out, [out];\nbra.uni LAST;\n"
         "FIRST:\nselp.f64 %c, %a, %b, %p;\nmin.f64 %d, %b, %f;\nmul.f64 %e, %c, %d;\n"
         "add.f64 %e, %e, %b;\nst.global.f64 [%out], %e;\nret;\n"
         "LAST:\nsetp.ne.u64 %p, %out, 0;\nmov.f64 %a, 0d4008000000000000;\n"
         "ld.global.f64 %b, [%out];\nld.global.f64 %f, [%out];\nbra.uni FIRST;\n}\n";

TEST(values_made_later)
{
    double value = 5;
    CUdeviceptr out;
    start();
    EXPECT_OK(cuMemAlloc(&out, sizeof value));
    EXPECT_OK(cuMemcpyHtoD(out, &value, sizeof value));
    EXPECT_OK(ptx_run(ptx_kernel(ptx_load(made_later), "made_later"), 1, 1, (void *[]){&out}));
    EXPECT_OK(cuMemcpyDtoH(&value, out, sizeof value));
    EXPECT_EQ(value, 3 * 5 + 5);
}

TESTS(CASE(values_made_later), CASE(static_shared_memory_of_another_device), CASE(large_variables),
      CASE(numbers), CASE(misaligned), CASE(unmapped), CASE(host_memory), CASE(not_supported),
      CASE(scope_after_the_space), CASE(unknown_form), CASE(unknown_form_as_the_driver),
      CASE(static_shared_memory), CASE(static_shared_memory_of_a_long_text))
