// SPDX-License-Identifier: MIT
// The messages that receive the texts of errors are a stack, and a wrong order is noticed.
#include "../harness.h"

#include <signal.h>
#include <sys/wait.h>

#include "api_names.h"
#include "argument_names.h"
#include "call.h"
#include "error.h"
#include "wording.h"

static CUresult fail_with(const char *text)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s", text);
}

TEST(nested)
{
    struct em_message outer, held, inner;
    em_message_begin(&outer);
    fail_with("one");
    em_message_hold(&held);
    fail_with("two");
    em_message_hold(&inner);
    EXPECT_STR(inner.text, "");
    em_message_end(&inner);
    fail_with("three");
    em_message_end(&held);
    fail_with("four");
    em_message_end(&outer);
    fail_with("five");
    EXPECT_STR(outer.text, "one\nfour");
    EXPECT_STR(held.text, "two\nthree");
    em_message_begin(&outer); // begins empty
    em_message_end(&outer);
    EXPECT_STR(outer.text, "");
}

static __attribute__((unused)) void end_the_outer_one(void)
{
    struct em_message outer, held;
    em_message_begin(&outer);
    em_message_hold(&held);
    em_message_end(&outer);
}

// Texts that an inner message receives are held back as well.
TEST(begun_in_a_held_one)
{
    struct em_message held, inner;
    em_message_hold(&held);
    em_message_begin(&inner);
    fail_with("one");
    em_message_end(&inner);
    fail_with("two");
    em_message_end(&held);
    EXPECT_STR(inner.text, "one");
    EXPECT_STR(held.text, "one\ntwo");
    EXPECT_STR(test_last_line(), "");
}

// Whether an assertion ends a process that calls the function.
static __attribute__((unused)) bool is_noticed(void (*mistake)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        mistake();
        _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(wrong_order)
{
#ifdef NDEBUG
    SKIP("assertions are off");
#else
    EXPECT(is_noticed(end_the_outer_one));
#endif
}

TEST(singular)
{
    char text[] = "1 bytes, 11 bytes, 0.1 bytes, 1 bytesize, (1 rows of 1 levels), x1 bytes; "
                  "3 x 1 x 1 blocks; there are 1 devices, \"/1 bytes\"";
    em_wording_singular(text);
    EXPECT_STR(text, "1 byte, 11 bytes, 0.1 bytes, 1 bytesize, (1 row of 1 level), x1 bytes; "
                     "3 x 1 x 1 blocks; there are 1 devices, \"/1 bytes\"");
}

static void report_eleven(void)
{
    unsetenv("CARDLESS_DIAGNOSTICS");
    for (int i = 0; i < 10; i++)
        em_null("often");
    em_null("seldom");
}

// A message is shown eight times for each subject.
TEST(budget)
{
    static char text[8192];
    int pipe_ends[2], status;
    MUST((CUresult)pipe(pipe_ends));
    const pid_t child = fork();
    if (!child) {
        dup2(pipe_ends[1], STDERR_FILENO);
        report_eleven();
        _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(read(pipe_ends[0], text, sizeof text - 1) > 0);
    unsigned often = 0;
    for (const char *at = strstr(text, "often"); at; at = strstr(at + 1, "often"))
        often++;
    EXPECT_EQ(often, 8);
    EXPECT(strstr(text, "argument seldom is NULL"));
}

static const char *renamed(const char *message, const char *driver, const char *library)
{
    static char text[128];
    snprintf(text, sizeof text, "%s", message);
    em_argument_names(text, sizeof text, driver, library);
    return text;
}

TEST(arguments)
{
    EXPECT_STR(renamed("dptr: ByteCount (3) of dstDevice and size (4); a size is not renamed",
                       "CUdeviceptr dstDevice, const void *dptr, size_t ByteCount",
                       "void *dst, const void *src, size_t count, enum cudaMemcpyKind kind"),
               "src: count (3) of dst and size (4); a size is not renamed");
    // A direction is skipped, a handle has two names, and a handle without a pair has none.
    EXPECT_STR(renamed("hStream (1), Flags (2), extra (3)",
                       "void *p, CUstream hStream, unsigned int Flags, CUarray extra",
                       "void *p, enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags, "
                       "cudaEvent_t event"),
               "stream (1), flags (2), the handle (3)");
    // The order may differ, and a struct's members are arguments.
    EXPECT_STR(renamed("f (1), gridDimX (0), sharedMemBytes (2), kernelParams (3)",
                       "CUfunction f, unsigned int gridDimX, unsigned int sharedMemBytes, "
                       "CUstream hStream, void **kernelParams, void **extra",
                       "const void *func, dim3 gridDim, void **args, size_t sharedMem, "
                       "cudaStream_t stream"),
               "func (1), gridDim.x (0), sharedMem (2), args (3)");
    EXPECT_STR(renamed("location.id (5) of devPtr",
                       "CUdeviceptr devPtr, size_t count, "
                       "CUmemLocation location, unsigned int flags, CUstream hStream",
                       "const void *devPtr, size_t count, int dstDevice, cudaStream_t stream"),
               "dstDevice (5) of devPtr");
    // Two numbers may change their places.
    EXPECT_STR(renamed("count (1) is less than value (2)", "size_t count, int value",
                       "size_t value, int count"),
               "count (1) is less than value (2)");
    // English words stay, also those that are names.
    EXPECT_STR(renamed("the pool has no value", "CUmemoryPool pool, int value",
                       "cudaMemPool_t memPool, int number"),
               "the pool has no value");
    EXPECT_STR(renamed("pool is NULL", "CUmemoryPool pool", "cudaMemPool_t memPool"),
               "memPool is NULL");
    // A text that does not fit stays as it is.
    char small[] = "Flags (2)";
    em_argument_names(small, sizeof small, "int Flags", "int longer_name_of_flags");
    EXPECT_STR(small, "Flags (2)");
}

TEST(names)
{
    static const char *const names[] = {"CU_STREAM_",        "cudaStream", "CU_STREAM_DEFAULT",
                                        "cudaStreamDefault", "CUstream",   "cudaStream_t",
                                        "cuMemAlloc",        "cudaMalloc", NULL};
    char text[128] = "CUstream #1 is no CUstream: use CU_STREAM_*, CU_STREAM_DEFAULT or "
                     "cuMemAlloc, MY_CUstream";
    em_api_names(text, sizeof text, names);
    EXPECT_STR(text, "CUstream #1 is no cudaStream_t: use cudaStream*, cudaStreamDefault or "
                     "cudaMalloc, MY_CUstream");
    // A text that does not fit stays as it is.
    char small[] = "CUstream";
    em_api_names(small, sizeof small, names);
    EXPECT_STR(small, "CUstream");
}

TESTS(CASE(nested), CASE(begun_in_a_held_one), CASE(wrong_order), CASE(singular), CASE(budget),
      CASE(arguments), CASE(names))
