// SPDX-License-Identifier: MIT
// Kernels of a few instructions whose results follow from the manual's words.
#include <string.h>

#include "expect.h"
#include "guard.h"
#include "module.h"
#include "program.h"
#include "run_text.h"

// What kernels write, a word for each of 32 threads.
static uint32_t words[32];

// Runs `body` in 32 threads: %t is the thread, and %r0 is written to words[%t].
static void run(const char *version, const char *target, const char *body)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version %s\n.target %s\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%t, %%r<8>;\n.reg .pred %%p<8>;\n.reg .b64 %%m, %%q;\n"
             "ld.param.u64 %%m, [p];\nmov.u32 %%t, %%tid.x;\nmad.wide.u32 %%q, %%t, 4, %%m;\n"
             "mov.u32 %%r0, 0;\n%s\nst.global.u32 [%%q], %%r0;\n}\n",
             version, target, body);
    memset(words, 0xcd, sizeof words);
    EXPECT_EQ(run_text(text, 32, words, sizeof words), 0);
}

// "vote, shfl without .sync": the active threads take part. Threads that a branch or a guard
// excludes do not.
static void vote_of_active_threads(void)
{
    run("6.0", "sm_30",
        "setp.lt.u32 %p0, %t, 5; setp.lt.u32 %p1, %t, 12; setp.ge.u32 %p2, %t, 3;\n"
        "@!%p1 bra E;\n"
        "vote.ballot.b32 %r0, %p0;\n"
        "@%p2 vote.ballot.b32 %r1, %p0;\n"
        "@%p2 mad.lo.u32 %r0, %r1, 256, %r0;\n"
        "E:");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], i >= 12 ? 0 : i < 3 ? 0x1f : 0x181f);
    run("6.0", "sm_30",
        "setp.lt.u32 %p0, %t, 5; setp.lt.u32 %p1, %t, 12;\n"
        "@!%p1 bra E;\n"
        "vote.all.pred %p3, %p0; vote.any.pred %p4, !%p0; vote.uni.pred %p5, %p1;\n"
        "vote.all.pred %p6, %p1;\n"
        "selp.u32 %r1, 1, 0, %p3; selp.u32 %r2, 2, 0, %p4; selp.u32 %r3, 4, 0, %p5;\n"
        "selp.u32 %r4, 8, 0, %p6; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;\n"
        "add.u32 %r0, %r0, %r4;\n"
        "E:");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], i < 12 ? 2 + 4 + 8 : 0);
}

static void shuffle_of_active_threads(void)
{
    run("6.0", "sm_30",
        "setp.lt.u32 %p1, %t, 16; @!%p1 bra E;\n"
        "shfl.down.b32 %r0|%p2, %t, 4, 15; @!%p2 add.u32 %r0, %r0, 100; E:");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], i >= 16 ? 0 : i < 12 ? i + 4 : i + 100);
    run("3.0", "sm_30", "shfl.idx.b32 %r0, %t, 7, 31;");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], 7);
}

// Events of the profiler have no effect here; %tid and its like could be 16 bits wide.
static void old_spellings(void)
{
    run("3.0", "sm_20",
        "{ .reg .u16 %h; mov.u16 %h, %tid.x; cvt.u32.u16 %r0, %h; cvt.u32.u16 %r1, %ntid.x; }\n"
        "pmevent 3; pmevent.mask 0xff; membar.gl; add.u32 %r0, %r0, %r1;");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], i + 32);
}

// "mov.u32 ptr, A[5]; // get address of array element with index 5"
static void address_of_element(void)
{
    run("8.0", "sm_80",
        ".shared .b32 a[8]; .shared .v2 .b32 b[4]; mov.u32 %r1, a; mov.u32 %r0, a[5];\n"
        "sub.u32 %r0, %r0, %r1; mov.u32 %r2, b; mov.u32 %r3, b[3]; sub.u32 %r3, %r3, %r2;\n"
        "mad.lo.u32 %r0, %r3, 256, %r0;");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], 3 * 8 * 256 + 5 * 4);
}

// Compilers write atom for red. The program then waits for nobody, and what sums leave in memory
// does not depend on the order of blocks.
static void results_that_are_not_used(void)
{
    static const struct {
        const char *body;
        bool waits, order_free;
    } kernels[] = {
        {"atom.global.add.u32 %r0, [%m], 1;", false, true},
        {"atom.shared.add.u32 %r0, [s], 1;", false, true},
        {"atom.global.add.f32 %f, [%m], 0f3F800000;", false, false},
        {"atom.global.exch.b32 %r0, [%m], 1;", false, false},
        {"atom.global.add.u32 %r0, [%m], 1; st.global.u32 [%m+4], %r0;", true, false},
        {"atom.shared.add.u32 %r0, [s], 1; st.global.u32 [%m+4], %r0;", true, true},
        {"atom.global.add.u32 %r0, [%m], 1; atom.global.add.u32 %r1, [%m], %r0;", true, false},
    };
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct px_module *m = NULL;
        const struct px_program *program = NULL;
        struct px_report report;
        char text[512];
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
                 ".reg .b32 %%r<2>;\n.reg .f32 %%f;\n.reg .b64 %%m;\n.shared .b32 s;\n"
                 "ld.param.u64 %%m, [p];\n%s\n}\n",
                 kernels[i].body);
        EXPECT_EQ(px_module_load(text, strlen(text), &m, &report), 0);
        EXPECT_EQ(px_program_get(m, 0, &program, &report), 0);
        EXPECT_EQ(program->waits, kernels[i].waits);
        EXPECT_EQ(program->order_free, kernels[i].order_free);
        px_module_free(m);
    }
    run("7.0", "sm_70",
        ".shared .b32 s; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], %t; bar.warp.sync -1;\n"
        "setp.lt.u32 %p2, %t, 20; @%p2 atom.shared.add.u32 %r1, [s], %t; bar.warp.sync -1;\n"
        "ld.shared.u32 %r0, [s];");
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(words[i], 19 * 20 / 2);
}

int main(void)
{
    dm_guard_init();
    vote_of_active_threads();
    shuffle_of_active_threads();
    old_spellings();
    address_of_element();
    results_that_are_not_used();
    return 0;
}
