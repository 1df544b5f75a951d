// SPDX-License-Identifier: MIT
// Kernels with barriers in memory (mbarrier) and asynchronous copies.
#include "../harness.h"

enum { WORDS = 256, THREADS = 64 };

#define HEAD                                                                                       \
    ".version 8.5\n.target sm_90\n.address_size 64\n"                                              \
    ".shared .align 8 .b64 object;\n.shared .align 16 .b32 tile[256];\n"                           \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                      \
    ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"                                     \
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n"                  \
    "mov.u32 %r2, object;\nmov.u32 %r3, tile;\nmad.wide.u32 %rd3, %r1, 4, %rd2;\n"                 \
    "setp.eq.u32 %p1, %r1, 0;\n"

// Runs a kernel of one block: `in` has numbers, and `got` receives the words that it writes.
static CUresult run(const char *text, uint32_t *got)
{
    CUdevice device;
    CUcontext context;
    CUmodule m;
    CUfunction f;
    CUdeviceptr in, out;
    uint32_t words[WORDS];
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = 1000 + i;
    CUresult r = cuModuleLoadData(&m, text);
    r = r ? r : cuModuleGetFunction(&f, m, "k");
    if (r)
        return r;
    EXPECT_OK(cuMemAlloc(&in, sizeof words));
    EXPECT_OK(cuMemAlloc(&out, sizeof words));
    EXPECT_OK(cuMemcpyHtoD(in, words, sizeof words));
    EXPECT_OK(cuMemsetD8(out, 0, sizeof words));
    void *arguments[] = {&in, &out};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    r = cuCtxSynchronize();
    return r ? r : cuMemcpyDtoH(got, out, sizeof words);
}

#define INIT(count)                                                                                \
    "@%p1 mbarrier.init.shared.b64 [%r2], " count ";\nbar.sync 0;\n"                               \
    "fence.mbarrier_init.release.cluster;\n"

// Each thread writes a word, arrives, and waits until all have.
TEST(arrivals)
{
    uint32_t got[WORDS];
    EXPECT_OK(
        run(HEAD INIT("64") "mad.lo.u32 %r4, %r1, 4, %r3;\nst.shared.u32 [%r4], %r1;\n"
                            "mbarrier.arrive.shared.b64 %rd4, [%r2];\n"
                            "W:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd4;\n"
                            "@!%p2 bra W;\n"
                            "xor.b32 %r5, %r1, 63;\nmad.lo.u32 %r4, %r5, 4, %r3;\n"
                            "ld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd3], %r6;\nret;\n}\n",
            got));
    for (uint32_t i = 0; i < THREADS; i++)
        EXPECT_EQ(got[i], THREADS - 1 - i);
}

// One arrival too few.
TEST(deadlock)
{
    uint32_t got[WORDS];
    EXPECT_ERROR(run(HEAD INIT("65") "mbarrier.arrive.shared.b64 %rd4, [%r2];\n"
                                     "W:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd4;\n"
                                     "@!%p2 bra W;\nret;\n}\n",
                     got),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
}

// The same with a program that gives up: the time limit passes, and the wait answers false.
TEST(time_limit)
{
    uint32_t got[WORDS];
    EXPECT_OK(run(HEAD INIT("65") "mbarrier.arrive.shared.b64 %rd4, [%r2];\nmov.u32 %r4, 0;\n"
                                  "W:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd4;\n"
                                  "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 100;\n"
                                  "@%p3 bra W;\nselp.u32 %r5, 7, %r4, %p2;\n"
                                  "st.global.u32 [%rd3], %r5;\nret;\n}\n",
                  got));
    EXPECT_EQ(got[0], 100);
    EXPECT_EQ(got[THREADS - 1], 100);
}

// A bulk copy of 1,024 bytes that an object counts.
#define BULK(size)                                                                                 \
    HEAD INIT("1") "@!%p1 bra W;\n"                                                                \
                   "mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r2], " size ";\n"                 \
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "            \
                   "[%r3], [%rd1], " size ", [%r2];\n"                                             \
                   "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra W;\n"        \
                   "mad.lo.u32 %r4, %r1, 4, %r3;\nld.shared.u32 %r5, [%r4+768];\n"                 \
                   "st.global.u32 [%rd3], %r5;\nret;\n}\n"

TEST(bulk)
{
    uint32_t got[WORDS];
    EXPECT_OK(run(BULK("1024"), got));
    for (uint32_t i = 0; i < THREADS; i++)
        EXPECT_EQ(got[i], 1000 + 192 + i);
}

// "The size must be a multiple of 16."
TEST(bulk_size)
{
    uint32_t got[WORDS];
    EXPECT_ERROR(run(BULK("1020"), got), CUDA_ERROR_MISALIGNED_ADDRESS);
}

// Past the end of shared memory.
TEST(bulk_range)
{
    uint32_t got[WORDS];
    EXPECT_ERROR(run(BULK("1048576"), got), CUDA_ERROR_ILLEGAL_ADDRESS);
}

#define COPY(operands)                                                                             \
    HEAD "mad.lo.u32 %r4, %r1, 16, %r3;\nmad.wide.u32 %rd4, %r1, 16, %rd1;\n"                      \
         "cp.async.ca.shared.global [%r4], [%rd4], " operands ";\ncp.async.commit_group;\n"        \
         "cp.async.wait_group 0;\nld.shared.u32 %r5, [%r4+8];\nst.global.u32 [%rd3], %r5;\n"       \
         "ret;\n}\n"

TEST(copy)
{
    uint32_t got[WORDS];
    EXPECT_OK(run(COPY("16"), got));
    EXPECT_EQ(got[THREADS - 1], 1000 + 4 * (THREADS - 1) + 2);
}

// Bytes after the source's are 0.
TEST(copy_partly)
{
    uint32_t got[WORDS];
    EXPECT_OK(run(COPY("16, 9"), got));
    EXPECT_EQ(got[1], (1000 + 4 + 2) & 0xff);
}

TEST(copy_size)
{
    uint32_t got[WORDS];
    EXPECT_ERROR(run(COPY("12"), got), CUDA_ERROR_INVALID_PTX);
}

// Lanes that arrive together get the state before all of them.
TEST(states)
{
    uint32_t got[WORDS];
    EXPECT_OK(run(HEAD INIT("70") "mbarrier.arrive.shared.b64 %rd4, [%r2];\n"
                                  "mbarrier.pending_count.b64 %r4, %rd4;\n"
                                  "st.global.u32 [%rd3], %r4;\nret;\n}\n",
                  got));
    EXPECT_EQ(got[0], got[31]);
    EXPECT_EQ(got[32], got[63]);
    EXPECT_EQ(got[0] + got[32], 70 + 38);
}

// mapa names another block's shared memory.
static void mapa(unsigned blocks_of_cluster)
{
    CUdevice device;
    CUcontext context;
    CUmodule m;
    CUfunction f;
    static const char text[] = HEAD "mapa.shared::cluster.u32 %r4, %r3, 0;\n"
                                    "st.shared::cluster.u32 [%r4], %r1;\nret;\n}\n";
    uint64_t unused = 0;
    void *arguments[] = {&unused, &unused};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {blocks_of_cluster, 1, 1}};
    const CUlaunchConfig config = {.gridDimX = 4,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuModuleLoadData(&m, text));
    EXPECT_OK(cuModuleGetFunction(&f, m, "k"));
    EXPECT_OK(cuLaunchKernelEx(&config, f, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
}

TEST(mapa_alone)
{
    mapa(1);
}

TEST(mapa_cluster)
{
    mapa(2);
}

// Tensor maps are refused if a kernel uses them.
TEST(tensor)
{
    uint32_t got[WORDS];
    EXPECT_ERROR(run(HEAD "cp.async.bulk.tensor.2d.shared::cluster.global.tile."
                          "mbarrier::complete_tx::bytes [%r3], [%rd1, {%r4, %r5}], [%r2];\n"
                          "ret;\n}\n",
                     got),
                 CUDA_ERROR_NOT_SUPPORTED);
}

TESTS(CASE(arrivals), CASE(deadlock), CASE(time_limit), CASE(bulk), CASE(bulk_size),
      CASE(bulk_range), CASE(copy), CASE(copy_partly), CASE(copy_size), CASE(states),
      CASE(mapa_alone), CASE(mapa_cluster), CASE(tensor))
