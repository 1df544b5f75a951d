// SPDX-License-Identifier: MIT
// The kernels that docs/warps.md steps through. Each is a text of its own, so that its lines have
// small numbers. Fails if a result is wrong.
#include <cuda.h>
#include <stdio.h>

#define HEAD                                                                                       \
    ".version 7.0\n"                                                                               \
    ".target sm_70\n"                                                                              \
    ".address_size 64\n"

// out[i] = i + 1 for all threads.
static const char together[] = HEAD ".visible .entry together(.param .u64 out)\n"
                                    "{\n"
                                    "    .reg .b32 %i, %value;\n"
                                    "    .reg .b64 %out, %at;\n"
                                    "    ld.param.u64 %out, [out];\n"
                                    "    mov.u32 %i, %tid.x;\n"
                                    "    add.u32 %value, %i, 1;\n"
                                    "    mad.wide.u32 %at, %i, 4, %out;\n"
                                    "    st.global.u32 [%at], %value;\n"
                                    "    ret;\n"
                                    "}\n";

static const char branch[] = HEAD ".visible .entry branch(.param .u64 out)\n"
                                  "{\n"
                                  "    .reg .pred %even;\n"
                                  "    .reg .b32 %i, %bit, %value;\n"
                                  "    .reg .b64 %out, %at;\n"
                                  "    ld.param.u64 %out, [out];\n"
                                  "    mov.u32 %i, %tid.x;\n"
                                  "    mad.wide.u32 %at, %i, 4, %out;\n"
                                  "    and.b32 %bit, %i, 1;\n"
                                  "    setp.eq.u32 %even, %bit, 0;\n"
                                  "    @%even bra EVEN;\n"
                                  "    mul.lo.u32 %value, %i, 3;\n"
                                  "    bra STORE;\n"
                                  "EVEN:\n"
                                  "    shr.u32 %value, %i, 1;\n"
                                  "STORE:\n"
                                  "    st.global.u32 [%at], %value;\n"
                                  "    ret;\n"
                                  "}\n";

static const char guard[] = HEAD ".visible .entry guard(.param .u64 out)\n"
                                 "{\n"
                                 "    .reg .pred %even;\n"
                                 "    .reg .b32 %i, %bit, %value;\n"
                                 "    .reg .b64 %out, %at;\n"
                                 "    ld.param.u64 %out, [out];\n"
                                 "    mov.u32 %i, %tid.x;\n"
                                 "    mad.wide.u32 %at, %i, 4, %out;\n"
                                 "    and.b32 %bit, %i, 1;\n"
                                 "    setp.eq.u32 %even, %bit, 0;\n"
                                 "    @!%even mul.lo.u32 %value, %i, 3;\n"
                                 "    @%even shr.u32 %value, %i, 1;\n"
                                 "    st.global.u32 [%at], %value;\n"
                                 "    ret;\n"
                                 "}\n";

// out[i] = i * (i % 4), by adding.
static const char loop[] = HEAD ".visible .entry loop(.param .u64 out)\n"
                                "{\n"
                                "    .reg .pred %more;\n"
                                "    .reg .b32 %i, %n, %sum;\n"
                                "    .reg .b64 %out, %at;\n"
                                "    ld.param.u64 %out, [out];\n"
                                "    mov.u32 %i, %tid.x;\n"
                                "    mad.wide.u32 %at, %i, 4, %out;\n"
                                "    and.b32 %n, %i, 3;\n"
                                "    mov.u32 %sum, 0;\n"
                                "NEXT:\n"
                                "    setp.ne.u32 %more, %n, 0;\n"
                                "    @!%more bra END;\n"
                                "    add.u32 %sum, %sum, %i;\n"
                                "    sub.u32 %n, %n, 1;\n"
                                "    bra NEXT;\n"
                                "END:\n"
                                "    st.global.u32 [%at], %sum;\n"
                                "    ret;\n"
                                "}\n";

// The upper lanes compute values that the lower lanes read after a barrier.
static const char barrier[] = HEAD ".visible .entry barrier(.param .u64 out)\n"
                                   "{\n"
                                   "    .reg .pred %upper;\n"
                                   "    .reg .b32 %i, %word, %value;\n"
                                   "    .reg .b64 %out, %at;\n"
                                   "    .shared .align 4 .b32 words[32];\n"
                                   "    ld.param.u64 %out, [out];\n"
                                   "    mov.u32 %i, %tid.x;\n"
                                   "    mad.wide.u32 %at, %i, 4, %out;\n"
                                   "    mov.u32 %value, words;\n"
                                   "    mad.lo.u32 %word, %i, 4, %value;\n"
                                   "    setp.ge.u32 %upper, %i, 16;\n"
                                   "    @%upper bra UPPER;\n"
                                   "    bar.sync 0;\n"
                                   "    ld.shared.u32 %value, [%word+64];\n"
                                   "    bra STORE;\n"
                                   "UPPER:\n"
                                   "    mul.lo.u32 %value, %i, 2;\n"
                                   "    st.shared.u32 [%word], %value;\n"
                                   "    bar.sync 0;\n"
                                   "STORE:\n"
                                   "    st.global.u32 [%at], %value;\n"
                                   "    ret;\n"
                                   "}\n";

// Threads count up one word, each while it holds a lock. Those from 8 on have nothing to do.
static const char lock[] = HEAD ".global .u32 taken;\n"
                                ".visible .entry lock(.param .u64 out)\n"
                                "{\n"
                                "    .reg .pred %idle, %busy;\n"
                                "    .reg .b32 %i, %old, %value;\n"
                                "    .reg .b64 %out;\n"
                                "    mov.u32 %i, %tid.x;\n"
                                "    setp.ge.u32 %idle, %i, 8;\n"
                                "    @%idle ret;\n"
                                "    ld.param.u64 %out, [out];\n"
                                "TRY:\n"
                                "    atom.acquire.gpu.global.cas.b32 %old, [taken], 0, 1;\n"
                                "    setp.ne.u32 %busy, %old, 0;\n"
                                "    @%busy bra TRY;\n"
                                "    ld.volatile.global.u32 %value, [%out];\n"
                                "    add.u32 %value, %value, 1;\n"
                                "    st.volatile.global.u32 [%out], %value;\n"
                                "    atom.release.gpu.global.exch.b32 %old, [taken], 0;\n"
                                "    ret;\n"
                                "}\n";

static unsigned all(unsigned i)
{
    return i + 1;
}

static unsigned sides(unsigned i)
{
    return i & 1 ? 3 * i : i / 2;
}

static unsigned product(unsigned i)
{
    return i * (i % 4);
}

static unsigned neighbours(unsigned i)
{
    return 2 * (i < 16 ? i + 16 : i);
}

static unsigned eight(unsigned i)
{
    return i ? 0 : 8;
}

static const struct {
    const char *name, *text;
    unsigned (*expected)(unsigned i);
} kernels[] = {
    {"together", together, all}, {"branch", branch, sides},        {"guard", guard, sides},
    {"loop", loop, product},     {"barrier", barrier, neighbours}, {"lock", lock, eight},
};

enum { KERNELS = sizeof kernels / sizeof *kernels, THREADS = 32 };

int main(void)
{
    CUcontext context;
    CUdeviceptr out;
    int wrong = 0;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuMemAlloc(&out, THREADS * sizeof(unsigned)))
        return 2;
    for (unsigned k = 0; k < KERNELS; k++) {
        CUmodule module;
        CUfunction function;
        unsigned words[THREADS];
        if (cuModuleLoadData(&module, kernels[k].text) ||
            cuModuleGetFunction(&function, module, kernels[k].name) ||
            cuMemsetD32(out, 0, THREADS) ||
            cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&out}, NULL) ||
            cuMemcpyDtoH(words, out, sizeof words) || cuModuleUnload(module)) {
            printf("%s fails\n", kernels[k].name);
            return 1;
        }
        for (unsigned i = 0; i < THREADS; i++)
            if (words[i] != kernels[k].expected(i) && !wrong++)
                printf("%s: word %u is %u, expected %u\n", kernels[k].name, i, words[i],
                       kernels[k].expected(i));
    }
    return wrong != 0;
}
