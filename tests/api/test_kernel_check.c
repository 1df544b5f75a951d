// SPDX-License-Identifier: MIT
// CARDLESS_CHECK=memory and race: kernels with the mistakes that compute-sanitizer's manual shows,
// and others. Each is found, and its corrected twin is not reported.
#include "kernel_text.h"

// A kernel with the word p[thread] at %x2, a word of shared memory for each thread at %r2, and that
// of the thread whose index differs by 1 at %r3, by 32 at %r4.
#define KERNEL(body)                                                                               \
    PTX_HEAD ".shared .align 16 .b32 s[128];\n.visible .entry k(.param .u64 p)\n{\n"               \
             ".reg .b64 %x<8>;\n.reg .b32 %r<12>;\n.reg .b16 %h<4>;\n.reg .pred %q<4>;\n"          \
             "ld.param.u64 %x0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %x1, %r0, 4;\n"           \
             "add.u64 %x2, %x0, %x1;\nmov.u32 %r1, s;\nshl.b32 %r5, %r0, 2;\n"                     \
             "add.u32 %r2, %r1, %r5;\nxor.b32 %r3, %r2, 4;\nxor.b32 %r4, %r2, 128;\n"              \
             "setp.eq.u32 %q0, %r0, 0;\n" body "ret;\n}\n"

enum { WORDS = 64, MEMORY_B = WORDS * 4 };

struct example {
    const char *name, *text;
    const char *ids; // reported, or ""
    CUresult result;
};

static void run_example(const struct example *e, CUdeviceptr p)
{
    CUfunction f = ptx_kernel(ptx_load(e->text), "k");
    const CUresult r = ptx_run(f, 1, WORDS, (void *[]){&p});
    if (r != e->result || strcmp(test_reported(), e->ids))
        printf("# %s:\n", e->name);
    EXPECT_ERROR(r, e->result);
    EXPECT_STR(test_reported(), e->ids);
}

static CUdeviceptr begin(const char *check)
{
    CUdeviceptr p;
    test_setting("CARDLESS_CHECK", check);
    ptx_start();
    MUST(cuMemAlloc(&p, MEMORY_B));
    return p;
}

// ---- races ----

#define STORE "st.shared.u32 [%r2], %r0;\n"
#define BARRIER "bar.sync 0;\n"
#define WARP_BARRIER "bar.warp.sync -1;\n"
#define LOAD_NEIGHBOUR "ld.shared.u32 %r6, [%r3];\n"
#define LOAD_OTHER_WARP "ld.shared.u32 %r6, [%r4];\n"
#define OUT "st.global.u32 [%x2], %r6;\n"
// One thread adds all words.
#define SUM                                                                                        \
    "@!%q0 bra DONE;\nmov.u32 %r7, 0;\nmov.u32 %r6, 0;\n"                                          \
    "LOOP:\nadd.u32 %r8, %r1, %r7;\nld.shared.u32 %r9, [%r8];\nadd.u32 %r6, %r6, %r9;\n"           \
    "add.u32 %r7, %r7, 4;\nsetp.lt.u32 %q1, %r7, 256;\n@%q1 bra LOOP;\n" OUT "DONE:\n"

static const struct example races[] = {
    {"sum without a barrier", KERNEL(STORE SUM), "K03", 0},
    {"other warp without a barrier", KERNEL(STORE LOAD_OTHER_WARP OUT), "K03", 0},
    {"same warp without a barrier", KERNEL(STORE LOAD_NEIGHBOUR OUT), "K03", 0},
    {"other warp, only a warp's barrier", KERNEL(STORE WARP_BARRIER LOAD_OTHER_WARP OUT), "K03", 0},
    {"write after read", KERNEL(STORE BARRIER LOAD_OTHER_WARP STORE OUT), "K03", 0},
    {"different values at one address", KERNEL("st.shared.u32 [%r1], %r0;\n"), "K03", 0},
    {"two bytes of a word by one and the word by another",
     KERNEL("cvt.u16.u32 %h0, %r0;\n@%q0 st.shared.u8 [%r1+1], %h0;\n@!%q0 bra DONE;\n"
            "bra.uni END;\nDONE:\nsetp.ne.u32 %q1, %r0, 40;\n@%q1 bra END;\n"
            "ld.shared.u32 %r6, [%r1];\nEND:\n"),
     "K03", 0},
    {"atomic and plain", KERNEL("red.shared.add.u32 [%r1], 1;\nld.shared.u32 %r6, [%r1];\n" OUT),
     "K03", 0},
    {"generic address",
     KERNEL("cvt.u64.u32 %x3, %r2;\ncvta.shared.u64 %x3, %x3;\n"
            "st.u32 [%x3], %r0;\n" LOAD_OTHER_WARP OUT),
     "K03", 0},
    {"cleared without a barrier",
     KERNEL("@%q0 st.shared.u32 [%r1], 0;\nred.shared.add.u32 [%r1], 1;\n"), "K03", 0},
};

static void run_race(size_t i)
{
    run_example(&races[i], begin("race"));
}

TEST(races)
{
    test_each(sizeof races / sizeof *races, run_race);
}

TEST(race_twins)
{
    static const struct example examples[] = {
        {"sum with a barrier", KERNEL(STORE BARRIER SUM), "", 0},
        {"other warp with a barrier", KERNEL(STORE BARRIER LOAD_OTHER_WARP OUT), "", 0},
        {"same warp with a warp's barrier", KERNEL(STORE WARP_BARRIER LOAD_NEIGHBOUR OUT), "", 0},
        {"same warp with a shuffle",
         KERNEL(STORE "shfl.sync.idx.b32 %r7, %r0, 0, 31, -1;\n" LOAD_NEIGHBOUR OUT), "", 0},
        {"write after read", KERNEL(STORE BARRIER LOAD_OTHER_WARP BARRIER STORE OUT), "", 0},
        {"one value at one address", KERNEL("st.shared.u32 [%r1], 7;\n"), "", 0},
        {"a flag", KERNEL("setp.gt.u32 %q1, %r0, 20;\n@%q1 st.shared.u32 [%r1], 1;\n"), "", 0},
        {"bytes of a word",
         KERNEL("add.u32 %r6, %r1, %r0;\ncvt.u16.u32 %h0, %r0;\n"
                "st.shared.u8 [%r6], %h0;\n"),
         "", 0},
        {"atomics", KERNEL("red.shared.add.u32 [%r1], 1;\natom.shared.max.u32 %r6, [%r1], %r0;\n"),
         "", 0},
        {"cleared with a barrier",
         KERNEL("@%q0 st.shared.u32 [%r1], 0;\n" BARRIER "red.shared.add.u32 [%r1], 1;\n"), "", 0},
        {"volatile flag and fence",
         KERNEL("setp.ne.u32 %q1, %r0, 32;\n@%q1 bra WAIT;\nst.shared.u32 [%r1+8], 5;\n"
                "membar.cta;\nst.volatile.shared.u32 [%r1], 1;\nbra.uni END;\nWAIT:\n"
                "@!%q0 bra END;\nAGAIN:\nld.volatile.shared.u32 %r6, [%r1];\n"
                "setp.eq.u32 %q2, %r6, 0;\n@%q2 bra AGAIN;\nmembar.cta;\n"
                "ld.shared.u32 %r6, [%r1+8];\nEND:\n"),
         "", 0},
        {"arrive and sync",
         KERNEL("setp.ge.u32 %q1, %r0, 32;\n@%q1 bra READ;\n" STORE "bar.arrive 1, 64;\n"
                "bra.uni END;\nREAD:\nbar.sync 1, 64;\n" LOAD_OTHER_WARP "END:\n"),
         "", 0},
        {"threads that end before the barrier",
         KERNEL("setp.ge.u32 %q1, %r0, 40;\n" STORE
                "@%q1 ret;\n" BARRIER LOAD_OTHER_WARP LOAD_NEIGHBOUR OUT),
         "", 0},
    };
    const CUdeviceptr p = begin("race");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        run_example(&examples[i], p);
}

// A report names both lines and both threads.
TEST(race_text)
{
    const struct example e = {"text", KERNEL(STORE LOAD_OTHER_WARP OUT), "K03", 0};
    CUdeviceptr p = begin("race");
    run_example(&e, p);
    EXPECT(strstr(test_last_line(),
                  "kernel k, PTX line 21, block (0,0,0): thread (32,0,0) writes 4 "
                  "bytes at byte 128 of s in shared memory, which thread (0,0,0) "
                  "reads at PTX line 22"));
    CUfunction f = ptx_kernel(ptx_load(e.text), "k"); // of another module: once more
    EXPECT_OK(ptx_run(f, 2, WORDS / 2, (void *[]){&p}));
    EXPECT_DIAGNOSTIC(K03); // one warp a block: no other warp
    EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
    EXPECT_STR(test_reported(), "K03 K03");
    EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
    EXPECT_STR(test_reported(), "K03 K03");
}

// ---- accesses outside of memory ----

#define ILLEGAL CUDA_ERROR_ILLEGAL_ADDRESS

struct outside {
    struct example example;
    bool freed; // the memory, before the kernel runs
};

#define OUTSIDE(text, ids, result, freed)                                                          \
    {                                                                                              \
        {"memory", KERNEL(text), ids, result}, freed                                               \
    }
static const struct outside outside[] = {
    OUTSIDE("st.global.u32 [%x2+4], %r0;\n", "K01", ILLEGAL, false),
    OUTSIDE("st.u32 [%x2+-4], %r0;\n", "K01", ILLEGAL, false),
    OUTSIDE("ld.global.u8 %r6, [%x0+256];\n", "K01", ILLEGAL, false),
    OUTSIDE("@%q0 red.global.add.u32 [%x0+256], 1;\n", "K01", ILLEGAL, false),
    OUTSIDE("st.global.u32 [%x2], %r0;\n", "K01", ILLEGAL, true),
    OUTSIDE("st.shared.u32 [%r1+512], %r0;\n", "K01", ILLEGAL, false),
    OUTSIDE("st.global.u32 [%x0+1], %r0;\n", "K05", CUDA_ERROR_MISALIGNED_ADDRESS, false),
    OUTSIDE("st.global.u32 [%x2], %r0;\n", "", CUDA_SUCCESS, false),
    OUTSIDE("@%q0 st.global.v4.u32 [%x0+240], {%r0, %r0, %r0, %r0};\n", "", CUDA_SUCCESS, false),
};

static void run_outside(size_t i)
{
    const struct outside *o = &outside[i];
    const CUdeviceptr p = begin("memory");
    if (o->freed)
        MUST(cuMemFree(p));
    run_example(&o->example, p);
}

TEST(outside)
{
    test_each(sizeof outside / sizeof *outside, run_outside);
}

// The text says how far it is from which memory.
TEST(outside_text)
{
    const struct example e = {"text", KERNEL("st.global.u32 [%x2+4], %r0;\n"), "K01", ILLEGAL};
    const CUdeviceptr p = begin("memory");
    char line[8192];
    run_example(&e, p);
    FILE *f = fopen(test_diagnostics, "r");
    EXPECT(f && fgets(line, sizeof line, f));
    EXPECT(strstr(line, "thread (63,0,0): 4-byte write at"));
    EXPECT(strstr(line, "is 0 bytes past the end of device memory"));
    fclose(f);
}

// Memory of all kinds is inside.
TEST(inside)
{
    const struct example e = {"inside", KERNEL("st.global.u32 [%x2], %r0;\n"), "", CUDA_SUCCESS};
    void *host;
    CUdeviceptr p = begin("memory"), managed, pooled;
    run_example(&e, p);
    MUST(cuMemHostAlloc(&host, MEMORY_B, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&p, host, 0));
    run_example(&e, p);
    MUST(cuMemAllocManaged(&managed, MEMORY_B, CU_MEM_ATTACH_GLOBAL));
    run_example(&e, managed);
    MUST(cuMemAllocAsync(&pooled, MEMORY_B, NULL));
    run_example(&e, pooled);
}

// ---- bytes that nothing has written ----

#define READ "ld.global.u32 %r6, [%x2];\n" STORE
#define ADD_ONE "red.global.add.u32 [%x2], 1;\n"

static CUfunction reader(void)
{
    return ptx_kernel(ptx_load(KERNEL(READ)), "k");
}

TEST(unwritten)
{
    CUdeviceptr p = begin("memory");
    const struct example e = {"nothing", KERNEL(READ), "K02", 0};
    run_example(&e, p);
    EXPECT(strstr(test_last_line(), "thread (0,0,0): a read of 4 bytes that nothing has written"));
    EXPECT(strstr(test_last_line(), "is byte 0 of device memory"));
}

// As in compute-sanitizer's manual: only half of the memory is filled.
TEST(unwritten_half)
{
    CUdeviceptr p = begin("memory");
    MUST(cuMemsetD8(p, 0, MEMORY_B / 2));
    const struct example e = {"half", KERNEL(ADD_ONE), "K02", 0};
    run_example(&e, p);
    EXPECT(strstr(test_last_line(), "thread (32,0,0)"));
    EXPECT(strstr(test_last_line(), "is byte 128 of device memory"));
}

TEST(unwritten_again)
{
    CUdeviceptr p = begin("memory");
    CUfunction f = reader();
    MUST(cuMemsetD8(p, 0, MEMORY_B));
    EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
    EXPECT_NO_DIAGNOSTIC();
    MUST(cuMemFree(p));
    MUST(cuMemAlloc(&p, MEMORY_B)); // perhaps the same addresses
    EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
    EXPECT_DIAGNOSTIC(K02);
    EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p})); // reported once for a line
    EXPECT_DIAGNOSTIC(K02);
}

TEST(unwritten_rows)
{
    CUdeviceptr p = begin("memory");
    char bytes[MEMORY_B] = {0};
    CUfunction f = reader();
    // 4 rows of 60 bytes, 64 bytes apart: word 15 stays unwritten
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = bytes,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = p,
                                .dstPitch = 64,
                                .WidthInBytes = 60,
                                .Height = 4};
    MUST(cuMemcpy2D(&copy));
    EXPECT_OK(ptx_run(f, 1, 15, (void *[]){&p}));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(ptx_run(f, 1, 16, (void *[]){&p}));
    EXPECT_DIAGNOSTIC(K02);
}

static void fill_by(int way, CUdeviceptr p)
{
    static char bytes[MEMORY_B];
    CUdeviceptr other;
    CUgraph graph;
    CUgraphExec exec;
    CUfunction writer = ptx_kernel(ptx_load(KERNEL("st.global.u32 [%x2], %r0;\n")), "k");
    switch (way) {
    case 0:
        EXPECT_OK(cuMemcpyHtoD(p, bytes, MEMORY_B));
        return;
    case 1:
        EXPECT_OK(cuMemcpyHtoDAsync(p, bytes, MEMORY_B, NULL));
        return;
    case 2:
        MUST(cuMemAlloc(&other, MEMORY_B));
        EXPECT_OK(cuMemcpyDtoD(p, other, MEMORY_B));
        return;
    case 3:
        EXPECT_OK(cuMemsetD2D32(p, 32, 1, 8, 8));
        return;
    case 4:
        EXPECT_OK(ptx_run(writer, 1, WORDS, (void *[]){&p}));
        return;
    case 5:
        for (int i = 0; i < WORDS; i++)
            EXPECT_OK(cuStreamWriteValue32(NULL, p + 4 * (unsigned)i, 1, 0));
        return;
    default:
        MUST(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
        EXPECT_OK(cuMemsetD8Async(p, 1, MEMORY_B, CU_STREAM_PER_THREAD));
        MUST(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
        MUST(cuGraphInstantiate(&exec, graph, 0));
        EXPECT_OK(cuGraphLaunch(exec, NULL));
    }
}

// Every way of writing counts.
TEST(written)
{
    CUdeviceptr p = begin("memory");
    CUfunction f = reader();
    for (int way = 0; way < 7; way++) {
        MUST(cuMemAlloc(&p, MEMORY_B));
        fill_by(way, p);
        EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
        EXPECT_NO_DIAGNOSTIC();
    }
}

// ---- settings ----

TEST(no_check)
{
    test_setting("CARDLESS_CHECK", "order");
    ptx_start();
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, MEMORY_B));
    const struct example e = {"no check", KERNEL(STORE LOAD_OTHER_WARP READ), "", 0};
    run_example(&e, p);
}

TEST(check_exits)
{
    const pid_t child = fork();
    if (!child) {
        CUdeviceptr p = begin("race,memory,exit");
        CUfunction f = ptx_kernel(ptx_load(KERNEL(STORE LOAD_OTHER_WARP OUT)), "k");
        EXPECT_OK(ptx_run(f, 1, WORDS, (void *[]){&p}));
        exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 66);
}

TESTS(CASE(races), CASE(race_twins), CASE(race_text), CASE(outside), CASE(outside_text),
      CASE(inside), CASE(unwritten), CASE(unwritten_half), CASE(unwritten_again),
      CASE(unwritten_rows), CASE(written), CASE(no_check), CASE(check_exits))
