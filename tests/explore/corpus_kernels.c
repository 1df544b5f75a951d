// SPDX-License-Identifier: MIT
// Programs whose kernels lack a barrier: threads rely on the order in which warps, lanes or blocks
// happen to run.
#include "corpus.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
// %rd1: the memory of the result; %r0: the index of the thread.
#define ENTRY                                                                                      \
    ".visible .entry k(.param .u64 p) {\n"                                                         \
    ".reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;\n"                                          \
    ".shared .align 4 .b32 words[64];\n"                                                           \
    "ld.param.u64 %rd1, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, words;\n"                           \
    "shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;\n"

static CUfunction kernel(const char *text)
{
    CUmodule module;
    CUfunction f;
    MUST(cuModuleLoadData(&module, text));
    MUST(cuModuleGetFunction(&f, module, "k"));
    return f;
}

// Runs a kernel of some blocks, and returns the word that it has written.
static unsigned result_of(const char *text, unsigned blocks, unsigned threads)
{
    CUdeviceptr p = new_memory();
    unsigned result;
    void *arguments[] = {&p};
    MUST(cuLaunchKernel(kernel(text), blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
    MUST(cuMemcpyDtoH(&result, p, sizeof result));
    return result;
}

// Thread 63 reads the word of thread 31, which is in another warp.
bool missing_syncthreads(bool right)
{
#define STORE HEAD ENTRY "mov.b32 %r3, 7; st.shared.u32 [%r1], %r3;\n"
#define READ                                                                                       \
    "setp.ne.u32 %p, %r0, 63; @%p ret;\n"                                                          \
    "ld.shared.u32 %r4, [%r1-128]; st.global.u32 [%rd1], %r4; ret; }\n"
    return is("the result", result_of(right ? STORE "bar.sync 0;\n" READ : STORE READ, 1, 64), 7);
}

// Lane 31 reads the word of lane 0, which has taken the other path of a branch.
bool missing_syncwarp(bool right)
{
#define BRANCH                                                                                     \
    HEAD ENTRY "setp.gt.u32 %p, %r0, 0; @%p bra others;\n"                                         \
               "mov.b32 %r3, 7; st.shared.u32 [%r1], %r3;\n"
#define JOIN "bra done;\nothers:\n"
#define LAST                                                                                       \
    "setp.ne.u32 %p, %r0, 31; @%p bra done;\n"                                                     \
    "ld.shared.u32 %r4, [%r1-124]; st.global.u32 [%rd1], %r4;\ndone: ret; }\n"
    return is("the result",
              result_of(right ? BRANCH "bar.warp.sync -1;\n" JOIN "bar.warp.sync -1;\n" LAST
                              : BRANCH JOIN LAST,
                        1, 32),
              7);
}

// The second block reads a word that the first one writes. Only the end of a kernel orders them.
bool blocks_in_order(bool right)
{
#define WRITER                                                                                     \
    "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p, %r3, 0; @%p bra second;\n"                             \
    "mov.b32 %r4, 7; st.global.u32 [%rd1+4], %r4; ret;\nsecond:\n"
#define READER "ld.global.u32 %r4, [%rd1+4]; st.global.u32 [%rd1], %r4; ret; }\n"
    if (!right)
        return is("the result", result_of(HEAD ENTRY WRITER READER, 2, 1), 7);
    CUdeviceptr p = new_memory();
    unsigned result;
    void *arguments[] = {&p};
    MUST(cuLaunchKernel(kernel(HEAD ENTRY WRITER "ret; }\n"), 1, 1, 1, 1, 1, 1, 0, NULL, arguments,
                        NULL));
    MUST(cuLaunchKernel(kernel(HEAD ENTRY READER), 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    MUST(cuMemcpyDtoH(&result, p, sizeof result));
    return is("the result", result, 7);
}

// The second block of a cluster reads a word in the shared memory of the first one, which stays
// until the second one has read.
bool missing_cluster_barrier(bool right)
{
#define CLUSTER_STORE                                                                              \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 p)\n.reqnctapercluster 2\n{\n"                                  \
    ".reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;\n"                                          \
    ".shared .align 4 .b32 word;\nld.param.u64 %rd1, [p];\n"                                       \
    "mov.b32 %r1, word; mov.b32 %r3, 7; st.shared.u32 [%r1], %r3;\n"
#define CLUSTER_READ                                                                               \
    "mov.u32 %r0, %cluster_ctarank; setp.ne.u32 %p, %r0, 1; @%p bra done;\n"                       \
    "mapa.shared::cluster.u32 %r2, %r1, 0; ld.shared::cluster.u32 %r4, [%r2];\n"                   \
    "st.global.u32 [%rd1], %r4;\ndone:\n" CLUSTER_MEET "ret; }\n"
#define CLUSTER_MEET "barrier.cluster.arrive; barrier.cluster.wait;\n"
    return is(
        "the result",
        result_of(right ? CLUSTER_STORE CLUSTER_MEET CLUSTER_READ : CLUSTER_STORE CLUSTER_READ, 2,
                  1),
        7);
}
