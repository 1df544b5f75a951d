// SPDX-License-Identifier: MIT
// Kernels with alloca, stacksave and stackrestore, and calls that are too deep.
#include "kernel_text.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) HEAD BODY(body)
#define BODY(body)                                                                                 \
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                       \
    ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %x<12>;\n"                                    \
    "ld.param.u64 %x0, [out];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n"                     \
    "mad.wide.u32 %x1, %r1, 4, %x0;\n" body "ret;\n}\n"

enum { THREADS = 64 };
static CUdeviceptr out;

static CUresult run(const char *text, unsigned n)
{
    ptx_start();
    MUST(cuMemAlloc(&out, 4 * THREADS));
    return ptx_run(ptx_kernel(ptx_load(text), "k"), 2, THREADS, (void *[]){&out, &n});
}

static void expect_all(unsigned step)
{
    uint32_t got[THREADS];
    EXPECT_OK(cuMemcpyDtoH(got, out, sizeof got));
    for (uint32_t i = 0; i < THREADS; i++)
        EXPECT_EQ(got[i], i * step);
}

static void expect_words(const char *words, int line)
{
    if (test_was_reported(words))
        return;
    test_failed(__FILE__, line);
    printf("no message contains \"%s\"; the last one: %s\n", words, test_last_line());
}

// Each thread fills a block of its own size, then one more, and adds both up.
TEST(sizes)
{
    EXPECT_OK(run(KERNEL("add.u32 %r2, %r1, 1;\nmul.wide.u32 %x2, %r2, 4;\n"
                         "alloca.u64 %x3, %x2, 4;\nalloca.u64 %x4, 4;\n"
                         "st.local.u32 [%x4], %r1;\nmov.u32 %r3, 0;\n"
                         "L:\nmad.wide.u32 %x5, %r3, 4, %x3;\nst.local.u32 [%x5], 1;\n"
                         "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;\n"
                         "ld.local.u32 %r4, [%x4];\nld.local.u32 %r5, [%x5];\n"
                         "mul.lo.u32 %r4, %r4, %r5;\nst.global.u32 [%x1], %r4;\n"),
                  0));
    expect_all(1);
}

TEST(alignments)
{
    EXPECT_OK(run(KERNEL("alloca.u64 %x2, 1;\nalloca.u64 %x3, 1, 64;\nalloca.u64 %x4, 3, 1;\n"
                         "and.b64 %x5, %x2, 7;\nand.b64 %x6, %x3, 63;\nor.b64 %x5, %x5, %x6;\n"
                         "sub.u64 %x6, %x3, %x4;\nsub.u64 %x6, %x6, 3;\nor.b64 %x5, %x5, %x6;\n"
                         "cvt.u32.u64 %r2, %x5;\nadd.u32 %r2, %r2, %r1;\n"
                         "st.global.u32 [%x1], %r2;\n"),
                  0));
    expect_all(1);
}

// 4,096 times 1 KiB: only with the restored top there is enough.
#define LOOP(restore)                                                                              \
    KERNEL("stacksave.u64 %x9;\nmov.u32 %r3, 0;\n"                                                 \
           "L:\nalloca.u64 %x3, 1024;\nst.local.u32 [%x3], %r1;\n" restore                         \
           "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 4096;\n@%p1 bra L;\n"                      \
           "st.global.u32 [%x1], %r1;\n")

TEST(restored)
{
    EXPECT_OK(run(LOOP("stackrestore.u64 %x9;\n"), 0));
    expect_all(1);
}

TEST(not_restored)
{
    EXPECT_ERROR(run(LOOP(""), 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_words("alloca exceeds the stack of 16384 bytes (CU_LIMIT_STACK_SIZE", __LINE__);
}

// A function gives its memory back when it returns.
TEST(given_back)
{
    EXPECT_OK(run(
        HEAD ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\n"
             ".reg .b64 %y<3>;\nld.param.b32 %q0, [a];\nalloca.u64 %y0, 1024;\n"
             "st.local.u32 [%y0+1020], %q0;\nld.local.u32 %q1, [%y0+1020];\n"
             "st.param.b32 [r], %q1;\nret;\n}\n" BODY(
                 "mov.u32 %r3, 0;\nL:\n{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %r1;\n"
                 "call (r), f, (a);\nld.param.b32 %r4, [r];\n}\nadd.u32 %r3, %r3, 1;\n"
                 "setp.lt.u32 %p1, %r3, 1000;\n@%p1 bra L;\n"
                 "st.global.u32 [%x1], %r4;\n"),
        0));
    expect_all(1);
}

// Calls itself n times; each call keeps a value in memory of its own.
#define DEEP(own)                                                                                  \
    HEAD ".func (.param .b32 r) f(.param .b32 a, .param .b32 n)\n{\n.reg .b32 %q<6>;\n"            \
         ".reg .b64 %y<3>;\n.reg .pred %z;\nld.param.b32 %q0, [a];\nld.param.b32 %q1, [n];\n" own  \
         "setp.eq.u32 %z, %q1, 0;\nmov.u32 %q3, 0;\n@%z bra E;\nsub.u32 %q2, %q1, 1;\n"            \
         "{\n.param .b32 pa;\n.param .b32 pn;\n.param .b32 pr;\nst.param.b32 [pa], "               \
         "%q0;\nst.param.b32 [pn], %q2;\n"                                                         \
         "call (pr), f, (pa, pn);\nld.param.b32 %q3, [pr];\n}\n"                                   \
         "E:\nld.local.u32 %q4, [%y0];\nadd.u32 %q3, %q3, %q4;\nst.param.b32 [r], "                \
         "%q3;\nret;\n}\n" BODY(                                                                   \
             "{\n.param .b32 a;\n.param .b32 n1;\n.param .b32 r;\nst.param.b32 [a], "              \
             "%r1;\nst.param.b32 [n1], %r0;\n"                                                     \
             "call (r), f, (a, n1);\nld.param.b32 %r4, [r];\n}\nst.global.u32 [%x1], %r4;\n")

static const char deep_alloca[] = DEEP("alloca.u64 %y0, 16;\nst.local.u32 [%y0], %q0;\n");
static const char deep_array[] =
    DEEP(".local .align 4 .b8 own[16];\nmov.u64 %y0, own;\nst.local.u32 [%y0], %q0;\n");

TEST(recursion)
{
    EXPECT_OK(run(deep_alloca, 20));
    expect_all(21);
}

TEST(recursion_too_deep_with_alloca)
{
    EXPECT_ERROR(run(deep_alloca, 100000), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_words("alloca exceeds the stack of 16384 bytes", __LINE__);
}

TEST(recursion_too_deep)
{
    EXPECT_ERROR(run(deep_array, 100000), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_words("calls are too deep for the stack of 16384 bytes (CU_LIMIT_STACK_SIZE", __LINE__);
}

// With a larger limit, the calls of the previous test fit.
TEST(raised_limit)
{
    ptx_start();
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 65536));
    EXPECT_OK(run(KERNEL("alloca.u64 %x3, 50000;\nst.local.u32 [%x3+49996], %r1;\n"
                         "st.local.u32 [%x3], 5;\nld.local.u32 %r2, [%x3+49996];\n"
                         "st.global.u32 [%x1], %r2;\n"),
                  0));
    expect_all(1);
    EXPECT_OK(run(deep_array, 250));
    expect_all(251);
}

// Only some threads allocate too much, or nobody does because the guard is false.
TEST(guarded)
{
    EXPECT_OK(run(KERNEL("setp.gt.u32 %p1, %r1, 100;\n@%p1 alloca.u64 %x3, 1000000;\n"
                         "st.global.u32 [%x1], %r1;\n"),
                  0));
    expect_all(1);
    EXPECT_ERROR(run(KERNEL("setp.gt.u32 %p1, %r1, 40;\n@%p1 alloca.u64 %x3, 1000000;\n"
                            "st.global.u32 [%x1], %r1;\n"),
                     0),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_words("thread (41,0,0)", __LINE__);
}

TEST(wrong_alignment)
{
    CUmodule m;
    CUfunction f;
    ptx_start();
    CUresult r = cuModuleLoadData(&m, KERNEL("alloca.u64 %x3, 16, 3;\n"));
    r = r ? r : cuModuleGetFunction(&f, m, "k");
    EXPECT_ERROR(r, CUDA_ERROR_INVALID_PTX);
}

TESTS(CASE(sizes), CASE(alignments), CASE(restored), CASE(not_restored), CASE(given_back),
      CASE(recursion), CASE(recursion_too_deep_with_alloca), CASE(recursion_too_deep),
      CASE(raised_limit), CASE(guarded), CASE(wrong_alignment))
