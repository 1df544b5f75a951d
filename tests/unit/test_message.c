// SPDX-License-Identifier: MIT
// The messages that receive the texts of errors are a stack, and a wrong order is noticed.
#include "../harness.h"

#include <signal.h>
#include <sys/wait.h>

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

static void end_the_outer_one(void)
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
static bool is_noticed(void (*mistake)(void))
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
                  "3 x 1 x 1 blocks; there are 1 devices";
    em_wording_singular(text);
    EXPECT_STR(text, "1 byte, 11 bytes, 0.1 bytes, 1 bytesize, (1 row of 1 level), x1 bytes; "
                     "3 x 1 x 1 blocks; there are 1 devices");
}

TEST(arguments)
{
    char text[128] = "dptr: ByteCount (3) of dstDevice and size (4); a size is not renamed";
    em_wording_arguments(text, sizeof text,
                         "CUdeviceptr dstDevice, const void *dptr, size_t ByteCount",
                         "void *dst, const void *src, size_t count, enum cudaMemcpyKind kind");
    EXPECT_STR(text, "src: count (3) of dst and size (4); a size is not renamed");

    // A direction is skipped, a handle has two names, and the first difference ends the list.
    char other[128] = "hStream (1), Flags (2), extra (3)";
    em_wording_arguments(other, sizeof other,
                         "void *p, CUstream hStream, unsigned int Flags, CUarray extra",
                         "void *p, enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags, "
                         "cudaEvent_t event");
    EXPECT_STR(other, "stream (1), flags (2), extra (3)");

    // A text that does not fit stays as it is.
    char small[] = "Flags (2)";
    em_wording_arguments(small, sizeof small, "int Flags", "int longer_name_of_flags");
    EXPECT_STR(small, "Flags (2)");
}

TESTS(CASE(nested), CASE(begun_in_a_held_one), CASE(wrong_order), CASE(singular), CASE(arguments))
