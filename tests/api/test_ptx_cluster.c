// SPDX-License-Identifier: MIT
// Clusters of several blocks: addresses, shared memory of other blocks, and their barrier. Expected
// words are those that an H200 wrote.
#include "kernel_text.h"

enum { WORDS = 128 };

// %o: the output; %rank, %ranks: of the cluster; %block: %ctaid.x. `mb` is at 0, `v` at 16.
#define KERNEL(body)                                                                               \
    ".version 8.7\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                      \
    ".shared .align 8 .b64 mb;\n.shared .align 16 .b32 v[8];\n"                                    \
    ".reg .pred %p<8>;\n.reg .b16 %h<4>;\n.reg .b32 %r<32>, %rank, %ranks, %block;\n"              \
    ".reg .b64 %x<16>, %i, %o, %own;\n"                                                            \
    "ld.param.u64 %i, [in];\nld.param.u64 %o, [out];\nmov.u32 %block, %ctaid.x;\n"                 \
    "mov.u32 %rank, %cluster_ctarank;\nmov.u32 %ranks, %cluster_nctarank;\n"                       \
    "mul.wide.u32 %own, %block, 4;\nadd.u64 %own, %own, %o;\n"                                     \
    "mov.u32 %r1, mb;\nmov.u32 %r2, v;\n" body "ret;\n}\n"
#define MEET "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
#define NEXT_RANK "add.u32 %r5, %rank, 1;\nrem.u32 %r5, %r5, %ranks;\n"

static uint32_t got[WORDS];

static CUresult run_in(const char *text, unsigned blocks, unsigned threads,
                       CUlaunchAttribute *shape)
{
    CUdeviceptr in, out;
    uint32_t numbers[WORDS];
    ptx_start();
    MUST(cuMemAlloc(&in, sizeof got));
    MUST(cuMemAlloc(&out, sizeof got));
    for (uint32_t i = 0; i < WORDS; i++)
        numbers[i] = 1000 + i;
    MUST(cuMemcpyHtoD(in, numbers, sizeof numbers));
    MUST(cuMemsetD8(out, 0xcd, sizeof got));
    CUlaunchConfig c = {.gridDimX = blocks,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = threads,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .attrs = shape,
                        .numAttrs = shape != NULL};
    if (shape && shape->value.clusterDim.y > 1)
        c.gridDimY = shape->value.clusterDim.y;
    CUresult r = cuLaunchKernelEx(&c, ptx_kernel(ptx_load(text), "k"), (void *[]){&in, &out}, NULL);
    r = r ? r : cuCtxSynchronize();
    return r ? r : cuMemcpyDtoH(got, out, sizeof got);
}

static CUresult run(const char *text, unsigned blocks, unsigned threads, unsigned cluster)
{
    CUlaunchAttribute shape = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {cluster, 1, 1}};
    return run_in(text, blocks, threads, cluster ? &shape : NULL);
}

// ---- addresses ----

static const char addresses[] =
    KERNEL("mul.wide.u32 %x2, %block, 64;\nadd.u64 %o, %o, %x2;\n"
           "st.global.u32 [%o], %r2;\nmapa.shared::cluster.u32 %r3, %r2, 0;\n"
           "st.global.u32 [%o+4], %r3;\nmapa.shared::cluster.u32 %r3, %r2, 1;\n"
           "st.global.u32 [%o+8], %r3;\ngetctarank.shared::cluster.u32 %r4, %r3;\n"
           "st.global.u32 [%o+12], %r4;\ngetctarank.shared::cluster.u32 %r4, %r2;\n"
           "st.global.u32 [%o+16], %r4;\nmapa.shared::cluster.u32 %r3, %r2, 7;\n"
           "st.global.u32 [%o+20], %r3;\n"
           "mov.u64 %x3, v;\ncvta.shared.u64 %x3, %x3;\nmapa.u64 %x4, %x3, 1;\n"
           "sub.u64 %x5, %x4, %x3;\nst.global.u64 [%o+24], %x5;\n"
           "isspacep.shared::cluster %p1, %x3;\nselp.u32 %r6, 1, 0, %p1;\n"
           "isspacep.shared::cta %p1, %x3;\nselp.u32 %r7, 2, 0, %p1;\nadd.u32 %r6, %r6, %r7;\n"
           "isspacep.shared::cluster %p1, %x4;\nselp.u32 %r7, 4, 0, %p1;\nadd.u32 %r6, %r6, %r7;\n"
           "isspacep.shared::cta %p1, %x4;\nselp.u32 %r7, 8, 0, %p1;\nadd.u32 %r6, %r6, %r7;\n"
           "st.global.u32 [%o+32], %r6;\ngetctarank.u64 %r4, %x4;\nst.global.u32 [%o+36], %r4;\n");

// Offsets here begin at 0, and on a card at 1,024.
TEST(addresses_alone)
{
    EXPECT_OK(run(addresses, 2, 1, 0));
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *w = got + 16 * i;
        EXPECT_EQ(w[1], w[0]);
        EXPECT_EQ(w[2], w[0] + 0x1000000);
        EXPECT_EQ(w[3], 1);
        EXPECT_EQ(w[4], 0);
        EXPECT_EQ(w[5], w[0] + 0x7000000);
        EXPECT_EQ(w[6], 0x1000000);
        EXPECT_EQ(w[8], 7);
    }
}

TEST(addresses_of_two)
{
    EXPECT_OK(run(addresses, 4, 1, 2));
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t *w = got + 16 * i, rank = i % 2;
        EXPECT_EQ(w[0], got[0] + rank * 0x1000000);
        EXPECT_EQ(w[1], got[0]);
        EXPECT_EQ(w[2], got[0] + 0x1000000);
        EXPECT_EQ(w[3], 1);
        EXPECT_EQ(w[4], rank);
        EXPECT_EQ(w[5], got[0] + 0x7000000);
        EXPECT_EQ(w[6], rank ? 0 : 0x1000000);
        EXPECT_EQ(w[7], 0);
        EXPECT_EQ(w[8], rank ? 15 : 7);
        EXPECT_EQ(w[9], 1);
    }
}

// ---- shared memory of other blocks ----

static const char ring[] =
    KERNEL("mul.wide.u32 %x2, %block, 16;\nadd.u64 %o, %o, %x2;\nadd.u32 %r3, %block, 100;\n"
           "st.shared.u32 [%r2], %r3;\n" MEET NEXT_RANK "mapa.shared::cluster.u32 %r6, %r2, %r5;\n"
           "ld.shared::cluster.u32 %r7, [%r6];\nst.global.u32 [%o], %r7;\n"
           "atom.shared::cluster.add.u32 %r8, [%r6+4], 5;\n"
           "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
           "ld.shared.u32 %r9, [%r2+4];\nst.global.u32 [%o+4], %r9;\n"
           "getctarank.shared::cluster.u32 %r10, %r6;\nst.global.u32 [%o+8], %r10;\n"
           "mov.u64 %x3, v;\ncvta.shared.u64 %x3, %x3;\nmapa.u64 %x4, %x3, %r5;\n"
           "ld.u32 %r11, [%x4];\nst.global.u32 [%o+12], %r11;\n" MEET);

static void expect_ring(unsigned cluster)
{
    EXPECT_OK(run(ring, 8, 1, cluster));
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t rank = i % cluster, next = (rank + 1) % cluster;
        EXPECT_EQ(got[4 * i], 100 + i - rank + next);
        EXPECT_EQ(got[4 * i + 1], 5);
        EXPECT_EQ(got[4 * i + 2], next);
        EXPECT_EQ(got[4 * i + 3], 100 + i - rank + next);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(ring_of_one)
{
    expect_ring(1);
}

TEST(ring_of_two)
{
    expect_ring(2);
}

TEST(ring_of_eight)
{
    expect_ring(8);
}

TEST(ring_checked)
{
    test_setting("CARDLESS_CHECK", "memory,race");
    const char *text = ring;
    EXPECT_OK(run(text, 4, 1, 4));
    EXPECT_DIAGNOSTIC(K02); // nothing has written v[1] before the atomic
}

TEST(ring_in_drawn_orders)
{
    test_setting("CARDLESS_POLICY", "seed:5");
    expect_ring(4);
}

// Each block of 4 x 2 writes its rank to the memory of the first one.
TEST(two_dimensions)
{
    CUlaunchAttribute shape = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {2, 2, 1}};
    EXPECT_OK(run_in(
        KERNEL("mapa.shared::cluster.u32 %r3, %r2, 0;\nshl.b32 %r4, %rank, 2;\n"
               "add.u32 %r3, %r3, %r4;\nmov.u32 %r5, %cluster_ctaid.y;\nshl.b32 %r5, %r5, 8;\n"
               "mov.u32 %r6, %cluster_ctaid.x;\nor.b32 %r5, %r5, %r6;\nmov.u32 %r7, %clusterid.x;\n"
               "shl.b32 %r7, %r7, 16;\nor.b32 %r5, %r5, %r7;\n"
               "st.shared::cluster.u32 [%r3], %r5;\n" MEET
               "setp.ne.u32 %p1, %rank, 0;\n@%p1 ret;\nmul.wide.u32 %x1, %block, 8;\n"
               "add.u64 %x1, %x1, %o;\n"
               "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];\n"
               "st.global.v4.u32 [%x1], {%r3, %r4, %r5, %r6};\n"),
        4, 1, &shape));
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t rank = 0; rank < 4; rank++)
            EXPECT_EQ(got[4 * i + rank], i << 16 | (rank / 2) << 8 | rank % 2);
}

// Dynamic shared memory and many warps: each thread reads that of the next block.
TEST(many_threads)
{
    EXPECT_OK(run(
        KERNEL("mov.u32 %r3, %tid.x;\nshl.b32 %r4, %rank, 12;\nadd.u32 %r4, %r4, %r3;\n"
               "atom.shared.add.u32 %r6, [%r2], %r4;\n" MEET NEXT_RANK
               "mapa.shared::cluster.u32 %r6, %r2, %r5;\nld.shared::cluster.u32 %r7, [%r6];\n" MEET
               "setp.eq.u32 %p1, %r3, 999;\n@%p1 st.global.u32 [%own], %r7;\n"),
        16, 1000, 8));
    for (uint32_t i = 0; i < 16; i++)
        EXPECT_EQ(got[i], 999 * 500 + (i % 8 + 1) % 8 * 4096 * 1000);
}

// ---- the barrier ----

TEST(barrier_without_wait)
{
    EXPECT_OK(run(KERNEL("barrier.cluster.arrive;\nst.global.u32 [%own], %block;\n"), 4, 1, 2));
    EXPECT_EQ(got[3], 3);
}

TEST(barrier_after_an_end)
{
    EXPECT_OK(run(
        KERNEL("setp.eq.u32 %p1, %rank, 1;\n@%p1 ret;\n" MEET "st.global.u32 [%own], %block;\n"), 4,
        64, 2));
    EXPECT_EQ(got[0], 0);
    EXPECT_EQ(got[1], 0xcdcdcdcd);
    EXPECT_EQ(got[2], 2);
}

TEST(barrier_forms)
{
    EXPECT_OK(run(KERNEL("barrier.cluster.arrive.relaxed.aligned;\n"
                         "barrier.cluster.wait.acquire.aligned;\n"
                         "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.aligned;\n"
                         "st.global.u32 [%own], %block;\n"),
                  4, 40, 4));
    EXPECT_EQ(got[3], 3);
}

// Rounds of a sum that each block adds to: without the barrier, blocks would overtake each other.
TEST(barrier_in_a_loop)
{
    static const char text[] =
        KERNEL("mapa.shared::cluster.u32 %r3, %r2, 0;\nmov.u32 %r4, 0;\n"
               "mov.u32 %r5, %tid.x;\nor.b32 %r5, %r5, %rank;\n"
               "L:\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 ld.shared.u32 %r6, [%r2];\n"
               "@%p1 shl.b32 %r6, %r6, 1;\n@%p1 st.shared.u32 [%r2], %r6;\n" MEET
               "red.shared::cluster.add.u32 [%r3], 1;\n" MEET
               "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 10;\n@%p2 bra L;\n"
               "@%p1 ld.shared.u32 %r6, [%r2];\n@%p1 st.global.u32 [%own], %r6;\n");
    EXPECT_OK(run(text, 4, 33, 4));
    EXPECT_EQ(got[0], 4 * 33 * 1023);
}

// ---- barriers in memory, and copies ----

#define WAIT_FOR_PHASE                                                                             \
    "W:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra W;\n"
#define PREPARE(count)                                                                             \
    "mbarrier.init.shared.b64 [%r1], " count ";\nfence.mbarrier_init.release.cluster;\n"

TEST(remote_arrivals)
{
    EXPECT_OK(run(KERNEL(PREPARE("%ranks") MEET "mapa.shared::cluster.u32 %r3, %r1, 0;\n"
                                                "mbarrier.arrive.release.cluster.shared::cluster."
                                                "b64 _, [%r3];\n"
                                                "setp.ne.u32 %p2, %rank, 0;\n@%p2 bra "
                                                "E;\n" WAIT_FOR_PHASE
                                                "st.global.u32 [%own], %ranks;\nE:\n" MEET),
                  8, 1, 4));
    EXPECT_EQ(got[0], 4);
    EXPECT_EQ(got[1], 0xcdcdcdcd);
    EXPECT_EQ(got[4], 4);
}

TEST(store_to_the_next_block)
{
    EXPECT_OK(run(
        KERNEL(PREPARE("1") "mbarrier.arrive.expect_tx.shared.b64 %x1, [%r1], 4;\n" MEET NEXT_RANK
                            "mapa.shared::cluster.u32 %r6, %r2, %r5;\n"
                            "mapa.shared::cluster.u32 %r7, %r1, %r5;\n"
                            "add.u32 %r8, %block, 700;\n"
                            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                            "[%r6], %r8, [%r7];\n" WAIT_FOR_PHASE "ld.shared.u32 %r10, [%r2];\n"
                            "st.global.u32 [%own], %r10;\n" MEET),
        4, 1, 2));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ(got[i], 700 + (i ^ 1));
}

TEST(copy_to_the_next_block)
{
    EXPECT_OK(run(
        KERNEL(PREPARE("1") "mbarrier.arrive.expect_tx.shared.b64 %x1, [%r1], 16;\n"
                            "st.shared.u32 [%r2], %block;\n"
                            "fence.proxy.async.shared::cta;\n" MEET NEXT_RANK
                            "add.u32 %r6, %r2, 16;\nmapa.shared::cluster.u32 %r6, %r6, %r5;\n"
                            "mapa.shared::cluster.u32 %r7, %r1, %r5;\n"
                            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                            " [%r6], [%r2], 16, [%r7];\n" WAIT_FOR_PHASE
                            "ld.shared.u32 %r10, [%r2+16];\nst.global.u32 [%own], %r10;\n" MEET),
        4, 1, 4));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ(got[i], (i + 3) % 4);
}

// The first block copies to all.
TEST(multicast)
{
    EXPECT_OK(run(
        KERNEL(PREPARE("1") "mbarrier.arrive.expect_tx.shared.b64 %x1, [%r1], 16;\n" MEET
                            "mov.u32 %r5, 1;\nshl.b32 %r5, %r5, %ranks;\nsub.u32 %r5, %r5, 1;\n"
                            "cvt.u16.u32 %h1, %r5;\nsetp.ne.u32 %p2, %rank, 0;\n@%p2 bra S;\n"
                            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                            "multicast::cluster [%r2], [%i], 16, [%r1], %h1;\nS:\n" WAIT_FOR_PHASE
                            "ld.shared.u32 %r10, [%r2+4];\nst.global.u32 [%own], %r10;\n" MEET),
        8, 1, 4));
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(got[i], 1001);
}

// The word where others have their barrier, in a block that is not in the mask, stays as it is.
TEST(multicast_without_the_own_block)
{
    EXPECT_OK(
        run(KERNEL("setp.ne.u32 %p2, %rank, 0;\n@%p2 mbarrier.init.shared.b64 [%r1], 1;\n"
                   "@%p2 mbarrier.arrive.expect_tx.shared.b64 %x1, [%r1], 16;\n"
                   "fence.mbarrier_init.release.cluster;\n" MEET "mov.u16 %h1, 14;\n@%p2 bra W;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                   "multicast::cluster [%r2], [%i], 16, [%r1], %h1;\nbra S;\n" WAIT_FOR_PHASE
                   "S:\nld.shared.u32 %r10, [%r2+4];\nld.shared.v2.u32 {%r11, %r12}, [%r1];\n"
                   "@!%p2 add.u32 %r10, %r10, %r11;\n@!%p2 add.u32 %r10, %r10, %r12;\n"
                   "st.global.u32 [%own], %r10;\n" MEET),
            8, 1, 4));
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(got[i], i % 4 ? 1001 : 0);
}

// Each of two lanes copies once: more bytes would complete no phase.
TEST(multicast_guarded)
{
    EXPECT_OK(run(
        KERNEL(PREPARE("1") "setp.ne.u32 %p2, %rank, 0;\nmov.u32 %r3, %tid.x;\n"
                            "setp.ne.u32 %p3, %r3, 0;\nmov.u16 %h1, 2;\n"
                            "@!%p3 mbarrier.arrive.expect_tx.shared.b64 %x1, [%r1], 32;\n" MEET
                            "@%p2 bra W;\nmov.u32 %r4, 0;\n"
                            "L:\nsetp.eq.u32 %p4, %r4, %r3;\nadd.u32 %r4, %r4, 1;\n"
                            "@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                            ".multicast::cluster [%r2], [%i], 16, [%r1], %h1;\n"
                            "setp.lt.u32 %p5, %r4, 3;\n@%p5 bra L;\nbra S;\n" WAIT_FOR_PHASE
                            "ld.shared.u32 %r10, [%r2];\nst.global.u32 [%own], %r10;\nS:\n" MEET),
        2, 2, 2));
    EXPECT_EQ(got[0], 0xcdcdcdcd);
    EXPECT_EQ(got[1], 1000);
}

// ---- waits while other lanes wait ----

#define OTHERS_MEET "mov.u32 %r3, %tid.x;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra J;\n"
#define JOIN "J:\nbar.warp.sync 0xffffffff;\n"

// The first object never completes its phase, and the second one has.
TEST(two_objects_in_turn)
{
    EXPECT_OK(run(KERNEL(OTHERS_MEET PREPARE(
                      "1") "mbarrier.init.shared.b64 [%r2], 1;\n"
                           "mbarrier.arrive.shared.b64 %x1, [%r2];\n"
                           "L:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;\n@%p3 bra J;\n"
                           "mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n@!%p3 bra L;\n"
                           "st.global.u32 [%own], %rank;\n" JOIN),
                  4, 32, 2));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ(got[i], i % 2);
    EXPECT_NO_DIAGNOSTIC();
}

// Blocks that wait for each other in turn: the second one has the last word.
#define PING_PONG(rounds)                                                                          \
    KERNEL(PREPARE("1") MEET NEXT_RANK                                                             \
           "mapa.shared::cluster.u32 %r6, %r1, %r5;\nmov.u32 %r4, 0;\n"                            \
           "L:\nadd.u32 %r7, %r4, %rank;\nand.b32 %r7, %r7, 1;\nsetp.eq.u32 %p1, %r7, 0;\n"        \
           "shr.u32 %r8, %r4, 1;\nand.b32 %r8, %r8, 1;\n@%p1 bra A;\n"                             \
           "W:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], %r8;\n"       \
           "@!%p2 bra W;\nbra N;\n"                                                                \
           "A:\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"                   \
           "N:\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p3, %r4, " rounds ";\n@%p3 bra L;\n"            \
           "st.global.u32 [%own], %r4;\n" MEET)

TEST(ping_pong)
{
    EXPECT_OK(run(PING_PONG("3000"), 2, 1, 2));
    EXPECT_EQ(got[0], 3000);
    EXPECT_EQ(got[1], 3000);
}

TEST(ping_pong_for_ever)
{
    test_setting("CARDLESS_KERNEL_BRANCHES", "1000");
    EXPECT_ERROR(run(PING_PONG("0"), 2, 1, 2), CUDA_ERROR_LAUNCH_TIMEOUT);
}

// ---- mistakes ----

// (recorded: st.async own cluster 0, bulk own cluster 0)
TEST(launch_without_clusters)
{
    EXPECT_ERROR(
        run(KERNEL(PREPARE("1") "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], "
                                "1, [%r1];\n"),
            1, 1, 0),
        CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

TEST(launch_without_clusters_guarded)
{
    EXPECT_OK(run(KERNEL(PREPARE("1") "setp.eq.u32 %p1, %block, 0;\nsetp.ne.u32 %p2, %block, 0;\n"
                                      "@!%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes"
                                      ".b32 [%r2], 1, [%r1];\n"
                                      "@%p2 st.async.shared::cluster.mbarrier::complete_tx::bytes"
                                      ".b32 [%r2], 1, [%r1];\nst.global.u32 [%own], 3;\n"),
                  1, 1, 0));
    EXPECT_EQ(got[0], 3);
}

TEST(missing_rank)
{
    EXPECT_ERROR(run(KERNEL("mapa.shared::cluster.u32 %r3, %r2, 9;\n"
                            "ld.shared::cluster.u32 %r4, [%r3];\nst.global.u32 [%o], %r4;\n"),
                     4, 1, 2),
                 CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_DIAGNOSTIC(K01);
}

TEST(far_past_the_end)
{
    EXPECT_ERROR(run(KERNEL("mapa.shared::cluster.u32 %r3, %r2, 1;\n"
                            "ld.shared::cluster.u32 %r4, [%r3+131072];\n"
                            "st.global.u32 [%o], %r4;\n"),
                     4, 1, 2),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_DIAGNOSTIC(K01);
}

TEST(just_past_the_end)
{
    test_setting("CARDLESS_CHECK", "memory");
    EXPECT_ERROR(run(KERNEL("mapa.shared::cluster.u32 %r3, %r2, 1;\n"
                            "st.shared::cluster.u32 [%r3+32], %r4;\n"),
                     4, 1, 2),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_DIAGNOSTIC(K01);
}

// The first block never comes, because it waits for itself.
TEST(deadlock)
{
    EXPECT_ERROR(run(KERNEL("setp.ne.u32 %p1, %rank, 0;\n@%p1 bra S;\nbar.sync 0;\n"
                            "mov.u32 %r3, %tid.x;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra E;\n"
                            "S:\n" MEET "E:\nbarrier.cluster.wait;\nbar.sync 1, 96;\n"),
                     4, 64, 2),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_DIAGNOSTIC(K04);
}

// The blocks wait for phases that only the other one could complete.
TEST(deadlock_at_phases)
{
    EXPECT_ERROR(run(KERNEL(PREPARE("2") MEET
                            "mapa.shared::cluster.u32 %r3, %r1, 1;\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\n"
                            "W:\nmbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, "
                            "[%r1], 0;\n@!%p1 bra W;\n"),
                     2, 1, 2),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_DIAGNOSTIC(K04);
}

// Lane 0 lacks an arrival, and the others wait for it.
TEST(deadlock_of_one_lane)
{
    EXPECT_ERROR(run(KERNEL(OTHERS_MEET PREPARE(
                         "2") "mbarrier.arrive.shared.b64 %x1, [%r1];\n" WAIT_FOR_PHASE JOIN),
                     2, 32, 2),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_DIAGNOSTIC(K04);
}

// The register of the object's address is used for others after the test.
TEST(deadlock_with_another_address)
{
    EXPECT_ERROR(run(KERNEL(PREPARE("2") "mov.u64 %x3, mb;\ncvta.shared.u64 %x3, %x3;\n"
                                         "add.u64 %x4, %x3, 1048576;\nW:\nmov.u64 %x5, %x3;\n"
                                         "mbarrier.test_wait.parity.b64 %p1, [%x5], 0;\n"
                                         "mov.u64 %x5, %x4;\n@!%p1 bra W;\n"),
                     2, 1, 2),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_DIAGNOSTIC(K04);
}

TESTS(CASE(addresses_alone), CASE(addresses_of_two), CASE(ring_of_one), CASE(ring_of_two),
      CASE(ring_of_eight), CASE(ring_checked), CASE(ring_in_drawn_orders), CASE(two_dimensions),
      CASE(many_threads), CASE(barrier_without_wait), CASE(barrier_after_an_end),
      CASE(barrier_forms), CASE(barrier_in_a_loop), CASE(remote_arrivals),
      CASE(store_to_the_next_block), CASE(copy_to_the_next_block), CASE(multicast),
      CASE(multicast_without_the_own_block), CASE(multicast_guarded), CASE(two_objects_in_turn),
      CASE(ping_pong), CASE(ping_pong_for_ever), CASE(launch_without_clusters),
      CASE(launch_without_clusters_guarded), CASE(missing_rank), CASE(far_past_the_end),
      CASE(just_past_the_end), CASE(deadlock), CASE(deadlock_at_phases), CASE(deadlock_of_one_lane),
      CASE(deadlock_with_another_address))
