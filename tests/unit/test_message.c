// SPDX-License-Identifier: MIT
// The messages that receive the texts of errors are a stack, and a wrong order is noticed.
#include "../harness.h"

#include <signal.h>
#include <sys/wait.h>

#include "error.h"

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

static void begin_in_a_held_one(void)
{
    struct em_message held, inner;
    em_message_hold(&held);
    em_message_begin(&inner);
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
    EXPECT(is_noticed(begin_in_a_held_one));
#endif
}

TESTS(CASE(nested), CASE(wrong_order))
