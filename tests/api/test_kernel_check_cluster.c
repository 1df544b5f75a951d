// SPDX-License-Identifier: MIT
// CARDLESS_CHECK=race for clusters: races between blocks in distributed shared memory are found,
// and their corrected twins are not reported.
#include "kernel_text.h"

// %r2: the thread's word of v in its own block, %r3: in the other one; %r4: the word `mb` of the
// other block; %q0: thread 0; %q1: block 0.
#define KERNEL(body)                                                                               \
    ".version 8.1\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 p)\n.reqnctapercluster 2\n{\n"                                  \
    ".shared .align 8 .b64 mb;\n.shared .align 16 .b32 v[64];\n"                                   \
    ".reg .b64 %x<8>;\n.reg .b32 %r<12>;\n.reg .pred %q<8>;\n"                                     \
    "ld.param.u64 %x0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %x1, %r0, 4;\n"                    \
    "add.u64 %x2, %x0, %x1;\nmov.u32 %r1, v;\nmad.lo.u32 %r2, %r0, 4, %r1;\n"                      \
    "mov.u32 %r8, %cluster_ctarank;\nsetp.eq.u32 %q1, %r8, 0;\nxor.b32 %r8, %r8, 1;\n"             \
    "mapa.shared::cluster.u32 %r3, %r2, %r8;\nmov.u32 %r9, mb;\n"                                  \
    "mapa.shared::cluster.u32 %r4, %r9, %r8;\nsetp.eq.u32 %q0, %r0, 0;\n" body "ret;\n}\n"

#define STORE "st.shared.u32 [%r2], %r0;\n"
#define STORE_AGAIN "add.u32 %r7, %r0, 9;\nst.shared.u32 [%r2], %r7;\n"
#define STORE_OTHER "st.shared::cluster.u32 [%r3], %r0;\n"
#define LOAD "ld.shared.u32 %r6, [%r2];\n"
#define LOAD_OTHER "ld.shared::cluster.u32 %r6, [%r3];\n"
#define OUT "st.global.u32 [%x2], %r6;\n"
#define ARRIVE "barrier.cluster.arrive;\n"
#define RELAXED "barrier.cluster.arrive.relaxed;\n"
#define WAIT "barrier.cluster.wait;\n"
#define MEET ARRIVE WAIT
#define INIT                                                                                       \
    "@%q0 mbarrier.init.shared.b64 [%r9], 64;\nbar.sync 0;\n"                                      \
    "fence.mbarrier_init.release.cluster;\n" MEET
#define REMOTE_ARRIVE "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n"
#define PHASE "W:\nmbarrier.try_wait.parity.shared.b64 %q3, [%r9], 0;\n@!%q3 bra W;\n"

enum { THREADS = 64 };

static const struct {
    const char *name, *text;
    bool race;
} examples[] = {
    {"no barrier", KERNEL(STORE LOAD_OTHER OUT MEET), true},
    {"a barrier", KERNEL(STORE MEET LOAD_OTHER OUT MEET), false},
    {"a barrier of each block", KERNEL(STORE "bar.sync 0;\n" LOAD_OTHER OUT MEET), true},
    {"read before the wait", KERNEL(STORE ARRIVE LOAD_OTHER WAIT OUT MEET), true},
    {"write between arrive and wait", KERNEL(STORE ARRIVE STORE_AGAIN WAIT LOAD_OTHER OUT MEET),
     true},
    {"own word between arrive and wait", KERNEL(STORE ARRIVE LOAD WAIT LOAD_OTHER OUT MEET), false},
    {"relaxed", KERNEL(STORE RELAXED WAIT LOAD_OTHER OUT MEET), true},
    {"relaxed after a fence",
     KERNEL(STORE "fence.acq_rel.cluster;\n" RELAXED WAIT LOAD_OTHER OUT MEET), false},
    {"relaxed, fence before the store",
     KERNEL("fence.acq_rel.cluster;\n" STORE RELAXED WAIT LOAD_OTHER OUT MEET), true},
    {"write after the other's read", KERNEL(STORE MEET LOAD_OTHER STORE_AGAIN OUT MEET), true},
    {"write after read and barrier", KERNEL(STORE MEET LOAD_OTHER MEET STORE_AGAIN OUT MEET),
     false},
    {"store to the other block", KERNEL(STORE_OTHER "bar.sync 0;\n" LOAD OUT MEET), true},
    {"store to the other block and barrier", KERNEL(STORE_OTHER MEET LOAD OUT), false},
    {"both blocks store one value", KERNEL("mov.u32 %r0, 7;\n" STORE STORE_OTHER MEET), false},
    {"both blocks store different values", KERNEL(STORE "add.u32 %r0, %r0, 1;\n" STORE_OTHER MEET),
     true},
    {"atomics",
     KERNEL("red.shared::cluster.add.u32 [%r3], 1;\natom.shared.add.u32 %r6, [%r2], 1;\n" OUT MEET),
     false},
    {"atomic and load", KERNEL("red.shared::cluster.add.u32 [%r3], 1;\n" LOAD OUT MEET), true},
    {"atomic, barrier, load", KERNEL("red.shared::cluster.add.u32 [%r3], 1;\n" MEET LOAD OUT),
     false},
    {"arrival without a wait", KERNEL(INIT STORE_OTHER REMOTE_ARRIVE LOAD OUT MEET), true},
    {"arrival and wait for the phase", KERNEL(INIT STORE_OTHER REMOTE_ARRIVE PHASE LOAD OUT MEET),
     false},
    {"asynchronous store and wait",
     KERNEL("@%q0 mbarrier.init.shared.b64 [%r9], 1;\nbar.sync 0;\n"
            "@%q0 mbarrier.arrive.expect_tx.shared.b64 %x3, [%r9], 256;\n" MEET
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r0, [%r4];\n" PHASE
                LOAD OUT MEET),
     false},
    {"generic addresses",
     KERNEL(STORE "cvt.u64.u32 %x4, %r2;\ncvta.shared.u64 %x4, %x4;\nmapa.u64 %x5, %x4, %r8;\n"
                  "ld.u32 %r6, [%x5];\n" OUT MEET),
     true},
    {"one block ends early",
     KERNEL("@%q1 bra END;\n" STORE_OTHER "END:\n" MEET "@!%q1 bra OUT;\n" LOAD OUT "OUT:\n"),
     false},
};

static void run(const char *text)
{
    CUdeviceptr p;
    test_setting("CARDLESS_CHECK", "race");
    ptx_start();
    MUST(cuMemAlloc(&p, 4 * THREADS));
    EXPECT_OK(ptx_run(ptx_kernel(ptx_load(text), "k"), 4, THREADS, (void *[]){&p}));
}

static void run_example(size_t i)
{
    run(examples[i].text);
    if (strcmp(test_reported(), examples[i].race ? "K03" : ""))
        printf("# %s:\n", examples[i].name);
    EXPECT_STR(test_reported(), examples[i].race ? "K03" : "");
}

// Each in a process of its own, because a race is reported once for two lines.
TEST(clusters)
{
    test_each(sizeof examples / sizeof *examples, run_example);
}

// A report names both blocks, and the block whose memory it is.
TEST(text)
{
    run(KERNEL(STORE LOAD_OTHER OUT MEET));
    EXPECT(strstr(test_last_line(), "of block (0,0,0)"));
    EXPECT(strstr(test_last_line(), "of block (1,0,0)"));
    EXPECT(strstr(test_last_line(), " of v in shared memory of block ("));
}

TESTS(CASE(clusters), CASE(text))
