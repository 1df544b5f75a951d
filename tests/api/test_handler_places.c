// SPDX-License-Identifier: MIT
// Calls of signal handlers that come before and after each lock that a call takes, from the first
// call of the process on. Each of them should return: with success, with the answer that the driver
// has not started, or with one sentence that names the interrupted call.
#include "../signal_places.h"
#include "kernel_text.h"

enum { SECONDS = 20, MOST_SIGNALS = 2000, CALLS = 3 };

// Counts of a child process, in memory that it shares with the test.
static struct {
    unsigned rounds, succeeded, refused, not_started, others;
} * seen;

static void count(CUresult r)
{
    if (r == CUDA_SUCCESS)
        seen->succeeded++;
    else if (r == CUDA_ERROR_NOT_PERMITTED)
        seen->refused++;
    else if (r == CUDA_ERROR_NOT_INITIALIZED)
        seen->not_started++;
    else
        seen->others++;
}

static void make_calls(int signal)
{
    (void)signal;
    int devices, version;
    CUcontext context;
    count(cuDriverGetVersion(&version));
    count(cuDeviceGetCount(&devices));
    count(cuCtxGetCurrent(&context));
    seen->rounds++;
}

static unsigned count_sentences(FILE *file)
{
    char line[1024];
    unsigned sentences = 0;
    rewind(file);
    while (fgets(line, sizeof line, file))
        if (strstr(line, "NOT_PERMITTED: ")) {
            sentences++;
            EXPECT(strstr(line, "it has interrupted cu"));
        }
    return sentences;
}

static void interrupt_once(void (*before)(void), void (*interrupted)(void))
{
    FILE *errors = tmpfile();
    int old = dup(STDERR_FILENO);
    const struct sigaction action = {.sa_handler = make_calls};
    EXPECT(errors && old >= 0 && dup2(fileno(errors), STDERR_FILENO) >= 0);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    unsetenv("CARDLESS_DIAGNOSTICS");
    alarm(SECONDS);
    before();
    signal_armed = true;
    interrupted();
    signal_armed = false;
    EXPECT_EQ(count_sentences(errors), seen->refused);
    dup2(old, STDERR_FILENO);
    const unsigned succeeded = seen->succeeded;
    make_calls(SIGUSR1);
    EXPECT_EQ(seen->succeeded - succeeded, CALLS);
    seen->rounds--;
    seen->succeeded -= CALLS;
}

// Repeats the step with a signal at the first place, the second one and so on.
static void interrupt(void (*before)(void), void (*interrupted)(void))
{
    unsigned refused = 0;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(seen != MAP_FAILED);
    for (signal_at = 1; signal_at < MOST_SIGNALS; signal_at++) {
        int status = -1;
        memset(seen, 0, sizeof *seen);
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            interrupt_once(before, interrupted);
            fflush(stdout);
            _exit(test_failures != 0);
        }
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(seen->others, 0);
        EXPECT_EQ(seen->succeeded + seen->refused + seen->not_started, CALLS * seen->rounds);
        refused += seen->refused;
        if (test_failures)
            printf("# the signal came at place %u\n", signal_at);
        if (!seen->rounds)
            break;
    }
    printf("# %u places, %u calls refused\n", signal_at - 1, refused);
    EXPECT(signal_at > 1 && signal_at < MOST_SIGNALS);
    EXPECT(refused > 0);
}

static void nothing(void)
{
}

static void first_call(void)
{
    EXPECT_OK(cuInit(0));
}

static void first_context(void)
{
    (void)test_context();
}

static const char text[] = PTX_HEAD ".visible .entry k()\n{\n  ret;\n}\n";

static void first_launch(void)
{
    EXPECT_OK(
        cuLaunchKernel(ptx_kernel(ptx_load(text), "k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT_OK(cuCtxSynchronize());
}

TEST(first_call_interrupted)
{
    interrupt(nothing, first_call);
}

TEST(first_context_interrupted)
{
    interrupt(first_call, first_context);
}

TEST(first_launch_interrupted)
{
    interrupt(first_context, first_launch);
}

TESTS(CASE(first_call_interrupted), CASE(first_context_interrupted), CASE(first_launch_interrupted))
