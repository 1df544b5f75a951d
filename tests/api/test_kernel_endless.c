// SPDX-License-Identifier: MIT
// Kernels that never end: CARDLESS_KERNEL_BRANCHES ends them, and no others; CARDLESS_KERNEL_MS
// reports them.
#include "../sanitizers.h"
#include "kernel_text.h"
#include <pthread.h>

#define KERNEL(body)                                                                               \
    PTX_HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                                \
             ".reg .b64 %x, %s;\n.reg .b32 %r, %n, %i;\n.reg .pred %q;\n"                          \
             ".shared .align 8 .b64 phase;\n"                                                      \
             "ld.param.u64 %x, [p];\nld.param.u32 %n, [n];\nmov.u32 %i, 0;\n" body                 \
             "st.global.u32 [%x], %i;\nret;\n}\n"

// Counts to n, with barriers, or with reads that wait for other threads.
static const char *const counts[] = {
    KERNEL("$again: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra $again;\n"),
    KERNEL("bar.sync 0;\n"
           "$again: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra $again;\nbar.sync 0;\n"),
    KERNEL("$again: ld.volatile.global.u32 %r, [%x]; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n;\n"
           "@%q bra $again;\n"),
    KERNEL("$again: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; selp.u32 %r, 1, 0, %q;\n"
           "$list: .branchtargets $out, $again;\nbrx.idx %r, $list;\n$out:\n"),
};
enum { COUNTS = sizeof counts / sizeof *counts };

static CUresult run(const char *text, unsigned n, CUdeviceptr *p)
{
    MUST(cuMemAlloc(p, 4));
    MUST(cuMemsetD32(*p, 0, 1));
    return ptx_run(ptx_kernel(ptx_load(text), "k"), 2, 64, (void *[]){p, &n});
}

static void expect_ended(unsigned kernel)
{
    CUdeviceptr p;
    test_setting("CARDLESS_KERNEL_BRANCHES", "1000");
    ptx_start();
    EXPECT_ERROR(run(counts[kernel], UINT32_MAX, &p), CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_ERROR(cuMemsetD32(p, 0, 1), CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST(loop)
{
    expect_ended(0);
}

TEST(loop_between_barriers)
{
    expect_ended(1);
}

TEST(loop_that_waits)
{
    expect_ended(2);
}

TEST(loop_by_table)
{
    expect_ended(3);
}

// A wait for a phase that nothing completes.
TEST(phase)
{
    CUdeviceptr p;
    test_setting("CARDLESS_KERNEL_BRANCHES", "1000");
    ptx_start();
    EXPECT_ERROR(run(KERNEL("mov.u32 %r, phase; mbarrier.init.shared.b64 [%r], 1;\n"
                            "$again: mbarrier.test_wait.parity.shared.b64 %q, [%r], 0;\n"
                            "@!%q bra $again;\n"),
                     0, &p),
                 CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST(says_where)
{
    CUdeviceptr p;
    unsigned n = UINT32_MAX;
    test_setting("CARDLESS_KERNEL_BRANCHES", "1000");
    ptx_start();
    MUST(cuMemAlloc(&p, 4));
    EXPECT_MESSAGE(cuLaunchKernel(ptx_kernel(ptx_load(counts[0]), "k"), 2, 1, 1, 64, 1, 1, 0, NULL,
                                  (void *[]){&p, &n}, NULL),
                   CUDA_SUCCESS,
                   "kernel k, PTX line 13, block (0,0,0), thread (0,0,0): the kernel has not ended "
                   "after 1000 backward branches");
}

// A loop that polls, and would give up long after the limit.
TEST(polls_for_a_phase)
{
    CUdeviceptr p;
    unsigned n = UINT32_MAX;
    test_setting("CARDLESS_KERNEL_BRANCHES", "1000");
    ptx_start();
    MUST(cuMemAlloc(&p, 4));
    EXPECT_MESSAGE(
        cuLaunchKernel(
            ptx_kernel(ptx_load(KERNEL("mov.u32 %r, phase; mbarrier.init.shared.b64 [%r], 1;\n"
                                       "$again: mbarrier.try_wait.parity.shared.b64 %q, [%r], 0;\n"
                                       "@%q bra $out;\nadd.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n;\n"
                                       "@%q bra $again;\n$out:\n")),
                       "k"),
            2, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL),
        CUDA_SUCCESS, "the kernel has not ended after 1000 backward branches");
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
}

// Kernels that end are not harmed, and without the setting no number is too high.
static void expect_good(unsigned n)
{
    for (unsigned i = 0; i < COUNTS; i++) {
        CUdeviceptr p;
        EXPECT_OK(run(counts[i], n, &p));
        EXPECT_EQ(ptx_word(p), n);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(below_the_limit)
{
    test_setting("CARDLESS_KERNEL_BRANCHES", "10000");
    ptx_start();
    expect_good(1000);
}

TEST(no_limit)
{
    ptx_start();
    expect_good(SANITIZED ? 20000 : 70000);
}

// Each warp of each block has several turns, and adds once.
TEST(many_turns)
{
    CUdeviceptr p;
    ptx_start();
    MUST(cuMemAlloc(&p, 4));
    MUST(cuMemsetD32(p, 0, 1));
    unsigned n = 70000;
    CUfunction f = ptx_kernel(
        ptx_load(KERNEL("$again: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra $again;\n"
                        "red.global.add.u32 [%x], %i;\nret;\n")),
        "k");
    EXPECT_OK(ptx_run(f, 2, 40, (void *[]){&p, &n}));
    EXPECT_EQ(ptx_word(p), 2 * 40 * n);
}

// ---- reports ----

// Sets the word for which a kernel waits, when the driver has reported the kernel.
static void *set_when_reported(void *word)
{
    while (!*test_reported())
        sched_yield();
    __atomic_store_n((unsigned *)word, 1, __ATOMIC_RELEASE);
    return NULL;
}

#define WAIT(load)                                                                                 \
    KERNEL(                                                                                        \
        "mov.u32 %i, 1; mov.u32 %r, %tid.x; setp.ne.u32 %q, %r, 0;\n.loc 1 7 0\n@%q bra $wait;\n"  \
        "$again:\n.loc 1 8 0\n" load " %r, [%x];\nsetp.eq.u32 %q, %r, 0;\n@%q bra $again;\n"       \
        "$wait: bar.sync 0;\n")                                                                    \
    ".file 1 \"wait.cu\"\n"

// The kernel and the program use the word at the same time, which a thread sanitizer reports.
static void expect_report(const char *text)
{
    if (THREAD_SANITIZER)
        return;
    CUdeviceptr p;
    unsigned *word, n = 0;
    pthread_t thread;
    test_setting("CARDLESS_KERNEL_MS", "1");
    ptx_start();
    MUST(cuMemHostAlloc((void **)&word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&p, word, 0));
    *word = 0;
    CUfunction f = ptx_kernel(ptx_load(text), "k");
    EXPECT_EQ(pthread_create(&thread, NULL, set_when_reported, word), 0);
    EXPECT_OK(ptx_run(f, 2, 64, (void *[]){&p, &n}));
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_DIAGNOSTIC(K07);
    EXPECT(strstr(test_last_line(), "1 thread at PTX line 18 (wait.cu:8)") != NULL);
    EXPECT(strstr(test_last_line(), "63 threads at PTX line 21") != NULL);
}

TEST(slow_reported)
{
    expect_report(WAIT("ld.global.u32"));
}

TEST(slow_reported_if_lanes_wait)
{
    expect_report(WAIT("ld.volatile.global.u32"));
}

TEST(slow_not_reported)
{
    test_setting("CARDLESS_KERNEL_MS", "0");
    ptx_start();
    expect_good(20000);
}

TESTS(CASE(loop), CASE(loop_between_barriers), CASE(loop_that_waits), CASE(loop_by_table),
      CASE(phase), CASE(polls_for_a_phase), CASE(says_where), CASE(below_the_limit), CASE(no_limit),
      CASE(many_turns), CASE(slow_reported), CASE(slow_reported_if_lanes_wait),
      CASE(slow_not_reported))
