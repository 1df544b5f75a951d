// SPDX-License-Identifier: MIT
// A program for the tests of `cardless step`: four kernels, of which `odd` is launched twice.
// Fails if a result is wrong, because stepping must not change it. Its argument, if any, is the
// kernel that runs alone.
#include <cuda.h>
#include <stdio.h>
#include <string.h>

static const char text[] = ".version 7.8\n"
                           ".target sm_90\n"
                           ".address_size 64\n"
                           ".file 1 \"/src/odd.cu\"\n"
                           ".func (.reg .b32 out) twice(.reg .b32 in)\n"
                           "{\n"
                           "    add.s32 out, in, in;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry odd(.param .u64 data)\n"
                           "{\n"
                           "    .reg .pred %p;\n"
                           "    .reg .b32 %r<4>;\n"
                           "    .reg .b64 %rd<3>;\n"
                           "    .loc 1 3 0\n"
                           "    ld.param.u64 %rd1, [data];\n"
                           "    mov.u32 %r1, %tid.x;\n"
                           "    mul.wide.u32 %rd2, %r1, 4;\n"
                           "    add.s64 %rd1, %rd1, %rd2;\n"
                           "    and.b32 %r2, %r1, 1;\n"
                           "    setp.eq.u32 %p, %r2, 0;\n"
                           "    .loc 1 4 0\n"
                           "    @%p bra EVEN;\n"
                           "    mul.lo.u32 %r3, %r1, 100;\n"
                           "    bra.uni STORE;\n"
                           "EVEN:\n"
                           "    .loc 1 6 0\n"
                           "    call (%r3), twice, (%r1);\n"
                           "STORE:\n"
                           "    .loc 1 7 0\n"
                           "    st.global.u32 [%rd1], %r3;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry meet(.param .u64 data)\n"
                           "{\n"
                           "    .reg .pred %p;\n"
                           "    .reg .b32 %r<4>;\n"
                           "    .reg .f32 %f<3>;\n"
                           "    .reg .b64 %rd<3>;\n"
                           "    .shared .align 4 .b32 words[64];\n"
                           "    ld.param.u64 %rd1, [data];\n"
                           "    mov.u32 %r1, %tid.x;\n"
                           "    mul.wide.u32 %rd2, %r1, 4;\n"
                           "    add.s64 %rd1, %rd1, %rd2;\n"
                           "    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;\n"
                           "    bar.sync 0;\n"
                           "    cvt.rn.f32.u32 %f1, %r2;\n"
                           "    div.rn.f32 %f2, %f1, 0f40000000;\n"
                           "    setp.lt.u32 %p, %r1, 4;\n"
                           "    @%p mov.f32 %f2, 0f3e800000;\n"
                           "    mul.f32 %f2, %f2, 0f40800000;\n"
                           "    cvt.rni.u32.f32 %r3, %f2;\n"
                           "    st.global.u32 [%rd1], %r3;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry out_of_bounds(.param .u64 data)\n"
                           "{\n"
                           "    .reg .b32 %r1;\n"
                           "    .reg .b64 %rd1;\n"
                           "    ld.param.u64 %rd1, [data];\n"
                           "    ld.global.u32 %r1, [%rd1+0x40000000];\n"
                           "    st.global.u32 [%rd1], %r1;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry late(.param .u64 data)\n"
                           "{\n"
                           "    .reg .pred %p;\n"
                           "    .reg .b32 %r<4>;\n"
                           "    .reg .b64 %rd<3>;\n"
                           "    ld.param.u64 %rd1, [data];\n"
                           "    mov.u32 %r1, %tid.x;\n"
                           "    mul.wide.u32 %rd2, %r1, 4;\n"
                           "    add.s64 %rd1, %rd1, %rd2;\n"
                           "    and.b32 %r2, %r1, 1;\n"
                           "    setp.ne.u32 %p, %r2, 0;\n"
                           "    mul.lo.u32 %r3, %r1, 2;\n"
                           "    @%p bra LATE;\n"
                           "    barrier.cluster.arrive;\n"
                           "    barrier.cluster.wait;\n"
                           "    bra STORE;\n"
                           "LATE:\n"
                           "    mul.lo.u32 %r3, %r1, 100;\n"
                           "    barrier.cluster.arrive;\n"
                           "    barrier.cluster.wait;\n"
                           "STORE:\n"
                           "    st.global.u32 [%rd1], %r3;\n"
                           "    ret;\n"
                           "}\n";

enum { THREADS = 40 };

static unsigned expected(const char *kernel, unsigned i)
{
    if (strcmp(kernel, "meet"))
        return i & 1 ? 100 * i : 2 * i;
    return i < 4 ? 1 : 2 * (i ^ 1);
}

// Runs a kernel with two blocks that do the same. Returns the number of wrong words.
static int run(CUmodule module, const char *kernel, CUdeviceptr data)
{
    CUfunction function;
    unsigned words[THREADS];
    int wrong = 0;
    if (cuModuleGetFunction(&function, module, kernel) ||
        cuLaunchKernel(function, 2, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&data}, NULL) ||
        cuMemcpyDtoH(words, data, sizeof words)) {
        printf("%s fails\n", kernel);
        return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        wrong += words[i] != expected(kernel, i);
    if (wrong)
        printf("%s: %d of %d words are wrong\n", kernel, wrong, THREADS);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    CUcontext context;
    CUmodule module;
    CUdeviceptr data;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, text) || cuMemAlloc(&data, THREADS * sizeof(unsigned)))
        return 2;
    if (only)
        return run(module, only, data) != 0;
    const int wrong =
        run(module, "odd", data) + run(module, "meet", data) + run(module, "odd", data);
    printf("%d words are wrong\n", wrong);
    return wrong != 0;
}
