// SPDX-License-Identifier: MIT
// The functions that CUDA gives to kernels: printf, assert, malloc and free; and the statements
// that end them. Expected texts and codes are a card's (tests/silicon x_modules), unless they are
// the manual's.
#include "kernel_text.h"

#define DECLARE                                                                                    \
    PTX_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"              \
             ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l,"             \
             " .param .b64 n, .param .b64 c);\n"                                                   \
             ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                              \
             ".extern .func free(.param .b64 p);\n"
#define REGISTERS ".reg .b64 %x<12>;\n.reg .b32 %r<12>;\n.reg .pred %q;\n"
// %r0 = vprintf(%x0, %x1)
#define CALL_PRINTF                                                                                \
    "{\n.param .b64 f;\n.param .b64 a;\n.param .b32 r;\nst.param.b64 [f], %x0;\n"                  \
    "st.param.b64 [a], %x1;\ncall (r), vprintf, (f, a);\nld.param.b32 %r0, [r];\n}\n"

// ---- printf ----

// Prints with a format at p + 1024 and arguments at p + 512, and writes the result to p.
static const char print_text[] =
    DECLARE ".visible .entry k(.param .u64 p)\n{\n" REGISTERS
            "ld.param.u64 %x9, [p];\nadd.u64 %x0, %x9, 1024;\nadd.u64 %x1, %x9, 512;\n" CALL_PRINTF
            "st.global.u32 [%x9], %r0;\nret;\n}\n";

enum { MEMORY_B = 1 << 17, STRING_AT = 256, ARGUMENTS_AT = 512, FORMAT_AT = 1024 };

union argument {
    int i;
    unsigned u;
    long long l;
    double d;
};
struct print_case {
    const char *format, *kinds; // i: 4 bytes, l: 8, d: a double, s: the string "hello"
    union argument values[5];
    int result;
    const char *text;
};

static void put_arguments(CUdeviceptr p, const struct print_case *c)
{
    unsigned char bytes[FORMAT_AT - ARGUMENTS_AT] = {0};
    size_t at = 0;
    for (unsigned k = 0; c->kinds[k]; k++) {
        const size_t size_B = c->kinds[k] == 'i' ? 4 : 8;
        const CUdeviceptr string = p + STRING_AT;
        at = (at + size_B - 1) / size_B * size_B;
        memcpy(bytes + at, c->kinds[k] == 's' ? (const void *)&string : &c->values[k], size_B);
        at += size_B;
    }
    EXPECT_OK(cuMemcpyHtoD(p + ARGUMENTS_AT, bytes, sizeof bytes));
}

static void check_print(CUfunction f, CUdeviceptr p, const struct print_case *c)
{
    EXPECT_OK(cuMemsetD8(p, 0, MEMORY_B));
    EXPECT_OK(cuMemcpyHtoD(p + STRING_AT, "hello", 6));
    EXPECT_OK(cuMemcpyHtoD(p + FORMAT_AT, c->format, strlen(c->format) + 1));
    put_arguments(p, c);
    const struct captured out = capture_begin(1);
    const CUresult r = ptx_run(f, 1, 1, (void *[]){&p});
    char *text = capture_end(out);
    EXPECT_OK(r);
    EXPECT_STR(text, c->text);
    EXPECT_EQ((int)ptx_word(p), c->result);
    free(text);
}

TEST(print_conversions)
{
    static const struct print_case cases[] = {
        {"hello\n", "", {{0}}, 0, "hello\n"},
        {"", "", {{0}}, 0, ""},
        {"100%%\n", "", {{0}}, 0, "100%\n"},
        {"%i|%+d|% d", "iii", {{.i = 5}, {.i = 5}, {.i = 5}}, 3, "5|+5| 5"},
        {"%u", "i", {{.i = -1}}, 1, "4294967295"},
        {"%x %X %o %#x", "iiii", {{255}, {255}, {255}, {255}}, 4, "ff FF 377 0xff"},
        {"[%5d][%-5d][%05d]", "iii", {{42}, {42}, {42}}, 3, "[   42][42   ][00042]"},
        {"[%.3d][%8.3d]", "ii", {{7}, {7}}, 2, "[007][     007]"},
        {"[%*d]", "ii", {{6}, {7}}, 2, "[     7]"},
        {"[%*d]", "ii", {{-6}, {7}}, 2, "[7     ]"},
        {"[%.*f]", "id", {{1}, {.d = 2.25}}, 0, "[%.*f]"}, // CUDA has no such precision
        {"%c%c", "ii", {{65}, {66}}, 2, "AB"},
        {"[%3c][%-3c]", "ii", {{65}, {66}}, 2, "[  A][B  ]"},
        {"%s world", "s", {{0}}, 1, "hello world"},
        {"[%.3s][%8s][%-8s]", "sss", {{0}}, 3, "[hel][   hello][hello   ]"},
        {"%s", "l", {{.l = 0}}, 1, "(null)"},
        {"%lld %llu %llx",
         "lll",
         {{.l = -5000000000}, {.l = -1}, {.l = 0x123456789abcdef}},
         3,
         "-5000000000 18446744073709551615 123456789abcdef"},
        {"%ld %lu", "ll", {{.l = -5000000000}, {.l = 7}}, 2, "-5000000000 7"},
        {"%f %.2f %10.1f",
         "ddd",
         {{.d = 1.5}, {.d = 3.14159}, {.d = -100}},
         3,
         "1.500000 3.14     -100.0"},
        {"%e %g %a %E",
         "dddd",
         {{.d = 1.5}, {.d = 1.5}, {.d = 1.5}, {.d = 5e13}},
         4,
         "1.500000e+00 1.5 0x1.8p+0 5.000000E+13"},
        {"%p %p", "ll", {{.l = 0x1234abcd}, {.l = 0}}, 2, "0x1234abcd (nil)"},
        {"%d %s %f %c %llu",
         "isdil",
         {{3}, {0}, {.d = 0.5}, {122}, {.l = 9}},
         5,
         "3 hello 0.500000 z 9"},
        {"x %", "", {{0}}, 0, "x %"},
        {"a%nb", "l", {{0}}, 0, "a%nb"},
        {"%zu|%Lf|%5%|", "ll", {{0}}, 0, "%zu|%Lf|%5%|"},
        // Before a conversion, glibc's way with others is the card's.
        {"%q %d", "ii", {{1}, {2}}, 1, "% 1"},
        {"%5.3%|%.-3d|%d", "i", {{5}}, 1, "%|%.0-3d|5"},
        {"%hhhd|%d|%T", "i", {{5}}, 1, "%hd|5|%T"},
        // The device does not know hh, so the host prints the next argument there.
        {"%hd %hhd %hu\n", "iii", {{65537}, {257}, {65537}}, 2, "1 1 26661\n"},
        {"%.2s|%5s", "ll", {{.l = 0}, {.l = 0}}, 2, "|(null)"},
        {"%9999999999d|%d", "ii", {{5}, {6}}, 2, "|6"},
    };
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(print_text), "k");
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, MEMORY_B));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_print(f, p, &cases[i]);
    EXPECT_NO_DIAGNOSTIC();
}

// A format of 100,000 bytes, and a width of many.
TEST(print_long)
{
    enum { LONG = 100000 };
    static char format[LONG + 1], wide[LONG + 1];
    memset(format, 'a', LONG);
    memset(wide, ' ', 5000);
    wide[4999] = '7';
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(print_text), "k");
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, MEMORY_B));
    check_print(f, p, &(struct print_case){format, "", {{0}}, 0, format});
    check_print(f, p, &(struct print_case){"%5000d", "i", {{7}}, 1, wide});
}

// A format, or a string, in memory that the kernel may not read is a fault, which does not lose the
// text that was printed before.
TEST(print_wild_format)
{
    ptx_start();
    static const char text[] =
        DECLARE ".global .align 1 .b8 F[4] = {97, 98, 10, 0};\n.visible .entry k()\n{\n" REGISTERS
                "mov.u64 %x0, F;\nmov.u64 %x1, 0;\n" CALL_PRINTF "mov.u64 %x0, 4096;\n" CALL_PRINTF
                "ret;\n}\n";
    CUfunction f = ptx_kernel(ptx_load(text), "k");
    const struct captured out = capture_begin(1);
    const CUresult r = ptx_run(f, 1, 1, NULL);
    char *got = capture_end(out);
    EXPECT_ERROR(r, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_STR(got, "ab\n");
    free(got);
}

// Prints its number: lanes in their order, blocks in theirs.
static const char numbers_text[] = DECLARE
    ".global .align 1 .b8 F[4] = {37, 100, 10, 0};\n.visible .entry k(.param .u64 p)\n{\n"
    ".local .align 8 .b8 A[8];\n" REGISTERS "ld.param.u64 %x9, [p];\nmov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "st.local.u32 [A], %r1;\nmov.u64 %x0, F;\nmov.u64 %x1, A;\ncvta.local.u64 %x1, "
    "%x1;\n" CALL_PRINTF "ret;\n}\n";

static char *print_numbers(CUfunction f, unsigned blocks, unsigned threads)
{
    CUdeviceptr p = 0;
    const struct captured out = capture_begin(1);
    const CUresult r = ptx_run(f, blocks, threads, (void *[]){&p});
    char *text = capture_end(out);
    EXPECT_OK(r);
    return text;
}

TEST(print_order)
{
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(numbers_text), "k");
    char *text = print_numbers(f, 5, 70), *at = text;
    for (int i = 0; i < 5 * 70; i++)
        EXPECT_EQ(strtol(at, &at, 10), i);
    EXPECT_STR(at, "\n");
    free(text);
}

// "It is circular and if more output is produced … older output is overwritten." Each short call
// has 256 bytes (recorded on an H200).
TEST(print_overflow)
{
    enum { BLOCKS = 100, THREADS = 32, COUNT = BLOCKS * THREADS, KEPT = 2048 };
    ptx_start();
    size_t limit_B = 0;
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1));
    EXPECT_OK(cuCtxGetLimit(&limit_B, CU_LIMIT_PRINTF_FIFO_SIZE));
    EXPECT_EQ(limit_B, KEPT * 256);
    CUfunction f = ptx_kernel(ptx_load(numbers_text), "k");
    char *text = print_numbers(f, BLOCKS, THREADS), *at = text;
    for (int i = COUNT - KEPT; i < COUNT; i++)
        EXPECT_EQ(strtol(at, &at, 10), i);
    EXPECT_STR(at, "\n");
    free(text);
}

// "Setting … must be performed before launching any kernel that uses the printf() device system
// call, otherwise CUDA_ERROR_INVALID_VALUE will be returned."
TEST(print_limit)
{
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(numbers_text), "k");
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20));
    free(print_numbers(f, 1, 1));
    EXPECT_ERROR(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 3 << 20), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
}

// ---- assert ----

// Threads below `w` fail.
static const char assert_text[] =
    DECLARE ".global .align 1 .b8 M[4] = {120, 61, 49, 0};\n"
            ".global .align 1 .b8 FI[5] = {97, 46, 99, 117, 0};\n"
            ".global .align 1 .b8 N[4] = {102, 40, 41, 0};\n"
            ".visible .entry k(.param .u64 p, .param .u32 w)\n{\n" REGISTERS
            "ld.param.u64 %x9, [p];\nld.param.u32 %r5, [w];\n"
            "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %q, %r1, %r5;\n@%q bra D;\nmov.u64 %x2, M;\n"
            "mov.u64 %x3, FI;\nmov.u64 %x4, N;\n{\n.param .b64 m;\n.param .b64 f;\n.param .b32 l;\n"
            ".param .b64 n;\n.param .b64 c;\nst.param.b64 [m], %x2;\nst.param.b64 [f], %x3;\n"
            "st.param.b32 [l], 42;\nst.param.b64 [n], %x4;\nst.param.b64 [c], 1;\n"
            "call __assertfail, (m, f, l, n, c);\n}\nst.global.u32 [%x9], 7;\nD:\nret;\n}\n";

static CUresult run_assert(CUfunction f, CUdeviceptr p, unsigned failing, char **line)
{
    const struct captured out = capture_begin(2);
    const CUresult r = ptx_run(f, 2, 4, (void *[]){&p, &failing});
    *line = capture_end(out);
    return r;
}

TEST(assert_fails)
{
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(assert_text), "k");
    CUdeviceptr p;
    char *line;
    MUST(cuMemAlloc(&p, 16));
    EXPECT_OK(run_assert(f, p, 0, &line));
    EXPECT_STR(line, "");
    free(line);
    EXPECT_ERROR(run_assert(f, p, 2, &line), CUDA_ERROR_ASSERT);
    EXPECT_STR(line, "a.cu:42: f(): block: [0,0,0], thread: [0,0,0] Assertion `x=1` failed.\n"
                     "a.cu:42: f(): block: [0,0,0], thread: [1,0,0] Assertion `x=1` failed.\n"
                     "a.cu:42: f(): block: [1,0,0], thread: [0,0,0] Assertion `x=1` failed.\n"
                     "a.cu:42: f(): block: [1,0,0], thread: [1,0,0] Assertion `x=1` failed.\n");
    free(line);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ASSERT); // sticky
    EXPECT_ERROR(cuMemAlloc(&p, 16), CUDA_ERROR_ASSERT);
}

// ---- malloc ----

#define CALL_MALLOC                                                                                \
    "{\n.param .b64 n;\n.param .b64 r;\nst.param.b64 [n], %x1;\ncall (r), malloc, (n);\n"          \
    "ld.param.b64 %x2, [r];\n}\n"
#define CALL_FREE "{\n.param .b64 q;\nst.param.b64 [q], %x2;\ncall free, (q);\n}\n"
// get: the thread's pointer to p + 8 * thread, and its number to that memory. put: adds 1 to the
// number and frees the memory. wild: frees an address.
static const char malloc_text[] =
    DECLARE ".visible .entry get(.param .u64 p, .param .u64 n)\n{\n" REGISTERS
            "ld.param.u64 %x0, [p];\nld.param.u64 %x1, [n];\nmov.u32 %r0, %tid.x;\n"
            "mad.wide.u32 %x0, %r0, 8, %x0;\n" CALL_MALLOC "st.global.u64 [%x0], %x2;\n"
            "setp.ne.u64 %q, %x2, 0;\n@%q st.u32 [%x2], %r0;\nret;\n}\n"
            ".visible .entry put(.param .u64 p, .param .u64 n)\n{\n" REGISTERS
            "ld.param.u64 %x0, [p];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %x0, %r0, 8, %x0;\n"
            "ld.global.u64 %x2, [%x0];\nld.u32 %r1, [%x2];\nadd.u32 %r1, %r1, 1;\n"
            "st.global.u32 [%x0], %r1;\n" CALL_FREE "ret;\n}\n"
            ".visible .entry wild(.param .u64 p, .param .u64 n)\n{\n" REGISTERS
            "ld.param.u64 %x2, [n];\n" CALL_FREE "ret;\n}\n";

static CUresult run_heap(CUmodule m, const char *kernel, CUdeviceptr p, uint64_t n,
                         unsigned threads)
{
    return ptx_run(ptx_kernel(m, kernel), 1, threads, (void *[]){&p, &n});
}

// Memory stays across launches, and threads have memory of their own.
TEST(malloc_and_free)
{
    enum { THREADS = 100 };
    ptx_start();
    CUmodule m = ptx_load(malloc_text);
    CUdeviceptr p;
    uint64_t pointers[THREADS], numbers[THREADS];
    MUST(cuMemAlloc(&p, sizeof pointers));
    EXPECT_OK(run_heap(m, "get", p, 20, THREADS));
    EXPECT_OK(cuMemcpyDtoH(pointers, p, sizeof pointers));
    EXPECT_OK(run_heap(m, "put", p, 0, THREADS));
    EXPECT_OK(cuMemcpyDtoH(numbers, p, sizeof numbers));
    for (unsigned i = 0; i < THREADS; i++) {
        EXPECT_EQ(pointers[i] % 16, 0);
        EXPECT_EQ((unsigned)numbers[i], i + 1);
        for (unsigned k = 0; k < i; k++)
            EXPECT(pointers[i] - pointers[k] + 31 >= 63); // blocks of 32 bytes
    }
    EXPECT_OK(run_heap(m, "wild", p, 0, 1)); // free(NULL)
    EXPECT_ERROR(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuModuleUnload(m));
}

TEST(malloc_full)
{
    enum { BLOCK_B = 1 << 20, THREADS = 32 };
    ptx_start();
    size_t heap_B = 0;
    uint64_t pointers[THREADS];
    unsigned full = 0;
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 8 * BLOCK_B));
    EXPECT_OK(cuCtxGetLimit(&heap_B, CU_LIMIT_MALLOC_HEAP_SIZE));
    CUmodule m = ptx_load(malloc_text);
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, sizeof pointers));
    EXPECT_OK(run_heap(m, "get", p, BLOCK_B, THREADS));
    EXPECT_OK(cuMemcpyDtoH(pointers, p, sizeof pointers));
    for (unsigned i = 0; i < THREADS; i++)
        full += !pointers[i];
    EXPECT(full < THREADS && full >= THREADS - heap_B / BLOCK_B);
    EXPECT_OK(run_heap(m, "put", p, 0, THREADS - full));
    EXPECT_OK(run_heap(m, "get", p, 4 * BLOCK_B, 1));
    EXPECT_OK(cuMemcpyDtoH(pointers, p, 8));
    EXPECT(pointers[0] != 0);
    EXPECT_OK(run_heap(m, "get", p, UINT64_MAX, 1));
    EXPECT_OK(cuMemcpyDtoH(pointers, p, 8));
    EXPECT_EQ(pointers[0], 0);
}

// Each ends the context, so the cases have processes of their own.
static void free_wrong(uint64_t offset, bool twice, bool foreign, const char *why)
{
    test_setting("CARDLESS_DIAGNOSTICS", "text");
    ptx_start();
    CUmodule m = ptx_load(malloc_text);
    CUdeviceptr p, block = 0;
    MUST(cuMemAlloc(&p, 64));
    EXPECT_OK(run_heap(m, "get", p, 100, 1));
    EXPECT_OK(cuMemcpyDtoH(&block, p, sizeof block));
    if (twice)
        EXPECT_OK(run_heap(m, "wild", p, block, 1));
    const struct captured out = capture_begin(2);
    const CUresult r = run_heap(m, "wild", p, foreign ? p : block + offset, 1);
    char *text = capture_end(out);
    EXPECT_ERROR(r, CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(strstr(text, "kernel wild") && strstr(text, why));
    free(text);
}

TEST(free_twice)
{
    free_wrong(0, true, false, "the block was freed before");
}

TEST(free_inside)
{
    free_wrong(16, false, false, "16 bytes inside a block of 112 bytes");
}

TEST(free_foreign)
{
    free_wrong(0, false, true, "malloc() in a kernel has not returned this address");
}

// ---- statements ----

static void run_statement(const char *statement, CUresult code)
{
    static const char before[] =
        PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n" REGISTERS
                 "ld.param.u64 %x0, [p];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %q, %r0, 17;\n";
    char text[1000];
    snprintf(text, sizeof text, "%s%s\nst.global.u32 [%%x0], 7;\nret;\n}\n", before, statement);
    ptx_start();
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4));
    EXPECT_ERROR(ptx_run(ptx_kernel(ptx_load(text), "k"), 1, 32, (void *[]){&p}), code);
    if (!code)
        EXPECT_EQ(ptx_word(p), 7);
    EXPECT_ERROR(cuCtxSynchronize(), code);
}

TEST(trap)
{
    run_statement("@%q trap;", CUDA_ERROR_LAUNCH_FAILED);
}

TEST(breakpoint)
{
    run_statement("@%q brkpt;", CUDA_ERROR_LAUNCH_FAILED);
}

TEST(thread_exit)
{
    run_statement("@%q exit;\nnanosleep.u32 100;", CUDA_SUCCESS);
}

// No function has the address 0.
TEST(call_null)
{
    run_statement("mov.u64 %x1, 0;\nP: .callprototype _ ();\ncall %x1, P;",
                  CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

// ---- the grid: functions of the driver that libcudadevrt.a calls ----

#define CGS "__cuda_syscall_CGS_"
#define CALL_SYNC                                                                                  \
    "{\n.param .b64 h;\n.param .b32 f;\n.param .b32 r;\nst.param.b64 [h], %x1;\n"                  \
    "st.param.b32 [f], 0;\ncall (r), " CGS "sync, (h, f);\nld.param.b32 %r3, [r];\n}\n"
#define CALL_TWO_POINTERS(name, result)                                                            \
    "{\n.param .b64 t;\n.param .b64 g;\n.param .b64 h;\n.param .b32 r;\nst.param.b64 [t], %x2;\n"  \
    "st.param.b64 [g], %x3;\nst.param.b64 [h], %x1;\ncall (r), " CGS name                          \
    ", (t, g, h);\nld.param.b32 " result ", [r];\n}\n"

// Each thread writes its rank, waits for the grid, and copies the word of the next rank. The third
// word of the memory becomes the sum of the calls' results.
static const char grid_text[] = PTX_HEAD
    ".extern .func (.param .b64 r) " CGS "get_intrinsic_handle(.param .b32 s);\n"
    ".extern .func (.param .b32 r) " CGS "sync(.param .b64 h, .param .b32 f);\n"
    ".extern .func (.param .b32 r) " CGS "get_size(.param .b64 t, .param .b64 g, .param .b64 h);\n"
    ".extern .func (.param .b32 r) " CGS "get_rank(.param .b64 t, .param .b64 g, .param .b64 h);\n"
    ".visible .entry k(.param .u64 p, .param .u32 scope)\n{\n" REGISTERS
    ".local .align 4 .b32 ranks[2];\n"
    "ld.param.u64 %x0, [p];\nld.param.u32 %r0, [scope];\n"
    "{\n.param .b32 s;\n.param .b64 r;\nst.param.b32 [s], %r0;\n"
    "call (r), " CGS "get_intrinsic_handle, (s);\nld.param.b64 %x1, [r];\n}\n"
    "mov.u64 %x2, %x0;\nadd.u64 %x3, %x0, 4;\n" CALL_TWO_POINTERS(
        "get_size",
        "%r1") "mov.u64 %x2, ranks;\ncvta.local.u64 %x2, %x2;\nadd.u64 %x3, %x2, "
               "4;\n" CALL_TWO_POINTERS("get_rank",
                                        "%r2") "mov.u32 %r9, 0;\nsetp.ne.u64 %q, %x1, 0;\n@%q "
                                               "ld.local.u32 %r9, [ranks];\n"
                                               "mul.wide.u32 %x4, %r9, 4;\nadd.u64 %x4, %x4, "
                                               "%x0;\nst.global.u32 [%x4+64], %r9;\n" CALL_SYNC
                                               "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, "
                                               "%r3;\nst.global.u32 [%x0+8], %r1;\n"
                                               "@!%q ret;\nld.global.u32 %r4, [%x0];\nadd.u32 %r5, "
                                               "%r9, 1;\nrem.u32 %r5, %r5, %r4;\n"
                                               "mul.wide.u32 %x5, %r5, 4;\nadd.u64 %x5, %x5, "
                                               "%x0;\nld.volatile.global.u32 %r6, "
                                               "[%x5+64];\n" CALL_SYNC
                                               "st.global.u32 [%x4+64], %r6;\nld.local.u32 %r7, "
                                               "[ranks+4];\n"
                                               "st.global.u32 [%x0+12], %r7;\nret;\n}\n";

TEST(grid_functions)
{
    enum { BLOCKS = 6, THREADS = 12, WORDS = 16 + BLOCKS * THREADS };
    unsigned words[WORDS], scope = 1;
    CUdeviceptr p;
    ptx_start();
    CUfunction f = ptx_kernel(ptx_load(grid_text), "k");
    MUST(cuMemAlloc(&p, sizeof words));
    MUST(cuMemsetD8(p, 0xff, sizeof words));
    void *parameters[] = {&p, &scope};
    EXPECT_OK(cuLaunchCooperativeKernel(f, 3, 1, 2, 2, 3, 2, 0, NULL, parameters));
    EXPECT_OK(cuMemcpyDtoH(words, p, sizeof words));
    EXPECT_EQ(words[0], BLOCKS * THREADS);
    EXPECT_EQ(words[1], 1);
    EXPECT_EQ(words[2], 0);
    EXPECT_EQ(words[3], 0);
    for (unsigned i = 0; i < BLOCKS * THREADS; i++)
        EXPECT_EQ(words[16 + i], (i + 1) % (BLOCKS * THREADS));
    // Without a cooperative launch, or for another scope, there is no grid to wait for.
    EXPECT_OK(ptx_run(f, 1, 1, parameters));
    EXPECT_EQ(ptx_word(p + 8), 3);
    scope = 2;
    EXPECT_OK(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, parameters));
    EXPECT_EQ(ptx_word(p + 8), 3);
}

TESTS(CASE(print_conversions), CASE(print_long), CASE(print_wild_format), CASE(print_order),
      CASE(print_overflow), CASE(print_limit), CASE(assert_fails), CASE(malloc_and_free),
      CASE(malloc_full), CASE(free_twice), CASE(free_inside), CASE(free_foreign), CASE(trap),
      CASE(breakpoint), CASE(thread_exit), CASE(call_null), CASE(grid_functions))
