// SPDX-License-Identifier: MIT
// The messages of calls whose context another thread ends. A message names the call that ended the
// context by its number and its function, and both must come from the same end.
#include <pthread.h>
#include <stdatomic.h>

#include "../harness.h"

enum { THREADS = 2, FAILURES = 4000, CALLS_MAX = 1 << 22 };

static CUcontext primary;
static const char *ended_by[CALLS_MAX]; // by the number of the main thread's call
static unsigned calls;                  // of the main thread

static void retain(void)
{
    CUcontext context = NULL;
    calls++;
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    if (!primary) // the handle stays the same, and other threads read it
        primary = context;
    EXPECT(context == primary);
}

static void expect_ended(void)
{
    unsigned flags;
    int active;
    calls++;
    EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_EQ(active, 0);
}

static void end_by_reset(void)
{
    ended_by[++calls] = "cuDevicePrimaryCtxReset_v2";
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    expect_ended();
    calls++;
    EXPECT_OK(cuDevicePrimaryCtxRelease(0)); // a reset keeps the usage count
}

static void end_by_release(void)
{
    ended_by[++calls] = "cuDevicePrimaryCtxRelease_v2";
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    expect_ended();
}

// Counts the messages that name an end, and checks each of them.
static unsigned check_messages(void)
{
    FILE *f = fopen(test_diagnostics, "r");
    char line[4096], name[64];
    unsigned count = 0, call;
    while (f && fgets(line, sizeof line, f)) {
        const char *text = strstr(line, "was destroyed by ");
        if (!text || sscanf(text, "was destroyed by %63s in call %u", name, &call) != 2)
            continue;
        count++;
        EXPECT(call < CALLS_MAX && ended_by[call]);
        EXPECT_STR(name, ended_by[call]);
    }
    if (f)
        fclose(f);
    return count;
}

static void start(void)
{
    calls++;
    EXPECT_OK(cuInit(0));
    retain();
}

// ---- an end in the middle of a message

// The linker sends the driver's calls of em_call_text through this function. The driver writes the
// number of the call that ended the context, and the main thread ends the context once more before
// the driver goes on.
void __real_em_call_text(uint64_t call, char *out, size_t size);
void __wrap_em_call_text(uint64_t call, char *out, size_t size);
static _Thread_local const char *stop_at; // the text of the call that ended the context
static atomic_int stage; // 1: the thread is in the message; 2: the context has ended again

static void wait_for_stage(int wanted)
{
    while (atomic_load(&stage) < wanted)
        usleep(100);
}

void __wrap_em_call_text(uint64_t call, char *out, size_t size)
{
    __real_em_call_text(call, out, size);
    if (!stop_at || strcmp(out, stop_at))
        return;
    stop_at = NULL;
    atomic_store(&stage, 1);
    wait_for_stage(2);
}

static void *fail_once(void *end)
{
    cuCtxSetCurrent(primary);
    stop_at = end;
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return NULL;
}

TEST(end_inside_message)
{
    pthread_t thread;
    start();
    char end[32];
    snprintf(end, sizeof end, "call %u", calls + 1);
    end_by_reset();
    EXPECT_EQ(pthread_create(&thread, NULL, fail_once, end), 0);
    wait_for_stage(1);
    retain();
    end_by_release();
    atomic_store(&stage, 2);
    pthread_join(thread, NULL);
    EXPECT_EQ(check_messages(), 1);
}

// ---- ends at any time, for the sanitizers

static atomic_uint failures; // of all threads

static void *fail_often(void *unused)
{
    (void)unused;
    cuCtxSetCurrent(primary);
    while (atomic_load(&failures) < FAILURES) {
        CUstream stream;
        if (cuStreamCreate(&stream, 0))
            atomic_fetch_add(&failures, 1);
        else
            cuStreamDestroy(stream);
    }
    return NULL;
}

TEST(ends_at_any_time)
{
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, fail_often, NULL), 0);
    while (atomic_load(&failures) < FAILURES && calls + 8 < CALLS_MAX) {
        end_by_reset();
        retain();
        end_by_release();
        retain();
    }
    atomic_store(&failures, FAILURES);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(check_messages() > 0);
}

TESTS(CASE(end_inside_message), CASE(ends_at_any_time))
