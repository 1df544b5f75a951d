// SPDX-License-Identifier: MIT
// Deadlocks of kernels in PTX: found if nobody can end the wait, and only then.
#include "../sanitizers.h"
#include "kernel_text.h"
#include <pthread.h>

// `object` is at byte 0 of shared memory, and `flag` at byte 8. %p1: this is thread 0.
#define HEAD                                                                                       \
    ".version 8.5\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".shared .align 8 .b64 object;\n.shared .align 4 .b32 flag;\n.shared .b64 other;\n"            \
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"                                    \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, object;\nmov.u32 %r3, flag;\n"  \
    "mov.u32 %r9, other;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r4, 0;\nmov.u32 %r8, %ctaid.x;\n"
#define INIT(count)                                                                                \
    "@%p1 mbarrier.init.shared.b64 [%r2], " count ";\n@%p1 mbarrier.init.shared.b64 [%r9], 1;\n"   \
    "@%p1 st.shared.u32 [%r3], 0;\nbar.sync 0;\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
#define TAIL "ret;\n}\n"

static CUdeviceptr out;

static CUresult run(const char *text, unsigned blocks, unsigned threads)
{
    ptx_start();
    MUST(cuMemAlloc(&out, 64));
    MUST(cuMemsetD8(out, 0, 64));
    return ptx_run(ptx_kernel(ptx_load(text), "k"), blocks, threads, (void *[]){&out});
}

// Expects that the driver has reported K04 alone, with these words.
static void expect_words(const char *words, int line)
{
    const char *text = test_line_with("\"K04\"");
    EXPECT_DIAGNOSTIC(K04);
    if (strstr(text, words))
        return;
    test_failed(__FILE__, line);
    printf("\"%s\" does not contain \"%s\"\n", text, words);
}
#define EXPECT_DEADLOCK(text, threads, words)                                                      \
    EXPECT_ERROR(run(text, 1, threads), CUDA_ERROR_LAUNCH_TIMEOUT);                                \
    expect_words(words, __LINE__)

// ---- deadlocks ----

TEST(one_arrival_too_few)
{
    EXPECT_DEADLOCK(HEAD INIT("65") ARRIVE "W: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                           "@!%p2 bra W;\n" TAIL,
                    64,
                    "64 threads wait for phase 0 of the mbarrier at byte 0 of object in shared "
                    "memory, which lacks 1 of 65 arrivals");
}

TEST(test_wait_in_a_loop)
{
    EXPECT_DEADLOCK(HEAD INIT("65") ARRIVE "W: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                           "@!%p2 bra W;\n" TAIL,
                    64, "64 threads wait for phase 0 of the mbarrier at byte 0 of object");
}

// The loop counts its rounds, which nothing tests.
TEST(counted_loop)
{
    EXPECT_DEADLOCK(HEAD INIT("65") ARRIVE "W: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                           "add.u32 %r4, %r4, 1;\n@!%p2 bra W;\n"
                                           "st.global.u32 [%rd1], %r4;\n" TAIL,
                    64, "1 of 65 arrivals");
}

TEST(a_full_block)
{
    EXPECT_DEADLOCK(HEAD INIT("2000") ARRIVE "W: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                             "@!%p2 bra W;\n" TAIL,
                    1024, "1024 threads wait for phase 0 of the mbarrier at byte 0 of object");
}

// A copy of 1,024 bytes is expected, and nobody makes it.
TEST(missing_bytes)
{
    EXPECT_DEADLOCK(
        HEAD INIT("1") "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 1024;\n"
                       "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra W;\n" TAIL,
        32, "which lacks 1024 bytes");
}

// The second phase: the first one is complete.
TEST(second_phase)
{
    EXPECT_DEADLOCK(HEAD INIT("1") "@%p1 mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
                                   "V: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                                   "@!%p2 bra V;\n"
                                   "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 1;\n"
                                   "@!%p2 bra W;\n" TAIL,
                    32, "32 threads wait for phase 1 of the mbarrier");
}

TEST(a_flag_that_nobody_sets)
{
    EXPECT_DEADLOCK(HEAD INIT("1") "W: ld.volatile.shared.u32 %r5, [%r3];\n"
                                   "setp.eq.u32 %p2, %r5, 0;\n@%p2 bra W;\n" TAIL,
                    64, "64 threads repeat a test whose result nobody can change");
}

// Each thread waits for its own turn, which comes when the one before has gone: thread 0 forgets.
TEST(many_fragments)
{
    EXPECT_DEADLOCK(HEAD INIT("1") "W: ld.volatile.shared.u32 %r5, [%r3];\n"
                                   "add.u32 %r6, %r1, 1;\nmul.lo.u32 %r6, %r6, %r5;\n"
                                   "nanosleep.u32 20;\n"
                                   "setp.eq.u32 %p2, %r6, %r1;\n@!%p2 bra W;\n"
                                   "setp.eq.u32 %p3, %r1, 0;\n@%p3 ret;\n"
                                   "st.volatile.shared.u32 [%r3], 1;\n" TAIL,
                    32, "31 threads repeat a test");
}

// Some threads wait for the others at a barrier in memory, and those at a barrier of the block.
TEST(two_kinds_of_barriers)
{
    EXPECT_DEADLOCK(HEAD INIT("64") "setp.lt.u32 %p3, %r1, 32;\n@%p3 bra B;\n" ARRIVE
                                    "W: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                    "@!%p2 bra W;\nbar.sync 1;\nret;\n"
                                    "B: bar.sync 1;\n" ARRIVE TAIL,
                    64, "32 of 64 threads have arrived, and thread (32,0,0) has not");
}

// Three phases are tested in turn.
TEST(a_longer_cycle)
{
    EXPECT_DEADLOCK(HEAD INIT("2") "W: rem.u32 %r5, %r4, 2;\nadd.u32 %r6, %r4, 1;\n"
                                   "rem.u32 %r4, %r6, 3;\nmad.lo.u32 %r7, %r5, 12, %r2;\n"
                                   "and.b32 %r7, %r7, 0xfffffff8;\n"
                                   "mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                                   "@!%p2 bra W;\n" TAIL,
                    64, "2 of 2 arrivals");
}

// ---- no deadlocks ----

#define EXPECT_ENDS(text, blocks, threads)                                                         \
    EXPECT_OK(run(text, blocks, threads));                                                         \
    EXPECT_NO_DIAGNOSTIC()

TEST(a_loop_that_gives_up)
{
    EXPECT_ENDS(HEAD INIT("65") ARRIVE "W: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd2;\n"
                                       "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 100000;\n"
                                       "@!%p3 bra E;\n@!%p2 bra W;\n"
                                       "E: st.global.u32 [%rd1], %r4;\n" TAIL,
                1, 64);
    EXPECT_EQ(ptx_word(out), 100000);
}

TEST(a_clock)
{
    EXPECT_ENDS(HEAD INIT("65") "mov.u64 %rd5, %clock64;\nadd.u64 %rd5, %rd5, 100000000;\n"
                                "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                                "mov.u64 %rd6, %clock64;\nsetp.lt.u64 %p3, %rd6, %rd5;\n"
                                "@%p3 bra W;\n" TAIL,
                1, 64);
}

// The first warp works for a long time before it arrives.
TEST(a_late_arrival)
{
    EXPECT_ENDS(
        HEAD INIT("1") "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra W;\n"
                       "L: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p4, %r4, 20000;\n@%p4 bra L;\n"
                       "@%p1 mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
                       "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                       "@!%p2 bra W;\n" TAIL,
        1, 96);
}

// The first block waits for the last one, and the other warps of the first block for its first.
TEST(another_block)
{
    EXPECT_ENDS(HEAD INIT("1") "setp.eq.u32 %p3, %r8, 39;\n@%p3 bra S;\n"
                               "setp.ne.u32 %p3, %r8, 0;\n@%p3 ret;\n@!%p1 bra W;\n"
                               "V: ld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p4, %r5, 0;\n"
                               "@%p4 bra V;\nmbarrier.arrive.shared.b64 %rd2, [%r2];\n"
                               "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                               "@!%p2 bra W;\nret;\nS: st.volatile.global.u32 [%rd1], 1;\n" TAIL,
                40, 96);
}

// Lanes of one warp hand a value on, each after a wait that the lane before it ends.
TEST(a_chain_of_lanes)
{
    EXPECT_ENDS(HEAD INIT("1") "W: ld.volatile.shared.u32 %r5, [%r3];\n"
                               "setp.eq.u32 %p2, %r5, %r1;\n@!%p2 bra W;\nadd.u32 %r5, %r5, 1;\n"
                               "st.volatile.shared.u32 [%r3], %r5;\n" TAIL,
                1, SANITIZED ? 256 : 1024);
}

struct host {
    volatile unsigned *words;
};

static void *set_word(void *argument)
{
    struct host *h = argument;
    while (!__atomic_load_n(&h->words[1], __ATOMIC_ACQUIRE))
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    __atomic_store_n(&h->words[0], 1, __ATOMIC_RELEASE);
    return NULL;
}

// The kernel says that it has started, and waits for a word of the program's memory. (Both use it
// at the same time, which a thread sanitizer reports.)
TEST(the_program)
{
    CUdeviceptr at;
    void *memory;
    pthread_t thread;
    if (THREAD_SANITIZER)
        return;
    ptx_start();
    MUST(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 64);
    struct host host = {memory};
    MUST(cuMemHostGetDevicePointer(&at, memory, 0));
    CUfunction f =
        ptx_kernel(ptx_load(HEAD INIT("1") "@!%p1 bra W;\nst.release.sys.global.u32 [%rd1+4], 1;\n"
                                           "V: ld.acquire.sys.global.u32 %r5, [%rd1];\n"
                                           "setp.eq.u32 %p4, %r5, 0;\n@%p4 bra V;\n"
                                           "mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
                                           "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n"
                                           "@!%p2 bra W;\n" TAIL),
                   "k");
    EXPECT_EQ(pthread_create(&thread, NULL, set_word, &host), 0);
    EXPECT_OK(ptx_run(f, 1, 64, (void *[]){&at}));
    __atomic_store_n(&host.words[1], 1, __ATOMIC_RELEASE); // if the launch has failed
    pthread_join(thread, NULL);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(one_arrival_too_few), CASE(test_wait_in_a_loop), CASE(counted_loop), CASE(a_full_block),
      CASE(missing_bytes), CASE(second_phase), CASE(a_flag_that_nobody_sets), CASE(many_fragments),
      CASE(two_kinds_of_barriers), CASE(a_longer_cycle), CASE(a_loop_that_gives_up), CASE(a_clock),
      CASE(a_late_arrival), CASE(another_block), CASE(a_chain_of_lanes), CASE(the_program))
