// SPDX-License-Identifier: MIT
// Waits that cannot end (S05). Each is reported, goes on, and ends once another thread helps.
#include <pthread.h>

#include "../sanitizers.h"
#include "../semaphore.h"

// Ends the wait of the main thread after the driver has reported it.
struct helper {
    pthread_t thread;
    cardlessSemaphore semaphore; // to be signalled, or NULL
    uint64_t value;
    unsigned *word; // to be set to 1, or NULL
};

static void *help(void *argument)
{
    const struct helper *h = argument;
    while (!strstr(test_last_line(), "\"S05\""))
        usleep(2000);
    if (h->semaphore)
        EXPECT_OK(cardlessSemaphoreSignal(h->semaphore, h->value));
    else
        __atomic_store_n(h->word, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void start_helper(struct helper *h)
{
    EXPECT_EQ(pthread_create(&h->thread, NULL, help, h), 0);
}

static void expect_report(struct helper *h, const char *text)
{
    EXPECT_EQ(pthread_join(h->thread, NULL), 0);
    EXPECT_DIAGNOSTIC(S05);
    if (!strstr(test_last_line(), text)) {
        test_failed(__FILE__, __LINE__);
        printf("the report \"%s\" does not contain \"%s\"\n", test_last_line(), text);
    }
}

static void start(const char *milliseconds)
{
    test_setting("CARDLESS_DEADLOCK_MS", milliseconds);
    test_context();
}

TEST(s05_two_streams_wait_for_each_other)
{
    start("50");
    struct both s = timeline(0), t = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    struct helper h = {.semaphore = s.host, .value = 1};
    start_helper(&h);
    // [S05 wrong]
    EXPECT_OK(cu_wait(s.cuda, 1, a));
    EXPECT_OK(cu_signal(t.cuda, 1, a));
    EXPECT_OK(cu_wait(t.cuda, 1, b));
    EXPECT_OK(cu_signal(s.cuda, 2, b)); // each stream waits for the other one
    EXPECT_OK(cuStreamSynchronize(a));
    // [end]
    expect_report(&h, ": a cycle");
    EXPECT_OK(cuStreamSynchronize(b));
    EXPECT_EQ(value_of(s), 2);
    EXPECT_EQ(value_of(t), 1);
}

TEST(s05_through_an_event)
{
    start("50");
    struct both s = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    CUevent e;
    struct helper h = {.semaphore = s.host, .value = 1};
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    start_helper(&h);
    EXPECT_OK(cu_wait(s.cuda, 1, a));
    EXPECT_OK(cuEventRecord(e, a));
    EXPECT_OK(cuStreamWaitEvent(b, e, 0));
    EXPECT_OK(cu_signal(s.cuda, 2, b));
    EXPECT_OK(cuCtxSynchronize());
    expect_report(&h, ": a cycle");
}

TEST(s05_binary_that_nobody_signals)
{
    start("50");
    struct both s = binary();
    struct helper h = {.semaphore = s.host};
    start_helper(&h);
    EXPECT_OK(cu_wait(s.cuda, 0, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    expect_report(&h, "a signal of CUexternalSemaphore #1");
}

TEST(s05_value_that_is_too_high)
{
    start("50");
    struct both s = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    struct helper h = {.semaphore = s.host, .value = 2};
    start_helper(&h);
    EXPECT_OK(cu_wait(s.cuda, 2, a));
    EXPECT_OK(cu_signal(s.cuda, 1, b));
    EXPECT_OK(cuStreamSynchronize(a));
    expect_report(&h, "value 2 of CUexternalSemaphore #1");
}

TEST(s05_word_that_nobody_writes)
{
    start("50");
    CUstream a = new_stream();
    CUdeviceptr p;
    struct helper h = {.semaphore = NULL};
    MUST(cuMemHostAlloc((void **)&h.word, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    *h.word = 0;
    MUST(cuMemHostGetDevicePointer(&p, h.word, 0));
    EXPECT_OK(cuStreamWaitValue32(a, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    start_helper(&h);
    EXPECT_OK(cuStreamSynchronize(a));
    expect_report(&h, "no pending command of this process brings it");
}

TEST(s05_host_waits)
{
    start("50");
    struct both s = timeline(0);
    struct helper h = {.semaphore = s.host, .value = 1};
    start_helper(&h);
    EXPECT_OK(cardlessSemaphoreWait(s.host, 1, UINT64_MAX));
    expect_report(&h, "no command of this process is pending");
}

TEST(s05_twin)
{
    start("50");
    struct both s = timeline(0), t = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    // [S05 right]
    EXPECT_OK(cu_signal(t.cuda, 1, a));
    EXPECT_OK(cu_wait(s.cuda, 1, a));
    EXPECT_OK(cu_wait(t.cuda, 1, b));
    EXPECT_OK(cu_signal(s.cuda, 2, b));
    EXPECT_OK(cuStreamSynchronize(a));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

static void sleep_in_function(void *unused)
{
    (void)unused;
    usleep(200000);
}

// A graph whose first node waits for a signal that its second node would bring.
TEST(s05_inside_a_graph)
{
    start("50");
    struct both s = timeline(0);
    struct helper h = {.semaphore = s.host, .value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 2};
    CUDA_EXT_SEM_WAIT_NODE_PARAMS waits = {&s.cuda, &wait, 1};
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals = {&s.cuda, &signal, 1};
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuGraphAddExternalSemaphoresWaitNode(&nodes[0], graph, NULL, 0, &waits));
    EXPECT_OK(cuGraphAddExternalSemaphoresSignalNode(&nodes[1], graph, nodes, 1, &signals));
    EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
    start_helper(&h);
    EXPECT_OK(cuGraphLaunch(exec, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    expect_report(&h, "the semaphore wait (step 1 of 2) of the graph launch of call ");
    EXPECT(strstr(test_last_line(), " needs value 1 of CUexternalSemaphore #1"));
    EXPECT(
        strstr(test_last_line(), "; the semaphore signal (step 2 of 2) of the graph launch of "));
    EXPECT(strstr(test_last_line(), ": a cycle"));
    EXPECT_EQ(value_of(s), 2);
}

// A stream and a graph that wait for each other.
TEST(s05_graph_and_stream)
{
    start("50");
    struct both s = timeline(0), t = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    struct helper h = {.semaphore = s.host, .value = 1};
    CUgraph graph;
    CUgraphExec exec;
    EXPECT_OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(cu_wait(s.cuda, 1, a));
    EXPECT_OK(cu_signal(t.cuda, 1, a));
    EXPECT_OK(cuStreamEndCapture(a, &graph));
    EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
    start_helper(&h);
    EXPECT_OK(cu_wait(t.cuda, 1, b));
    EXPECT_OK(cu_signal(s.cuda, 2, b));
    EXPECT_OK(cuGraphLaunch(exec, a));
    EXPECT_OK(cuStreamSynchronize(b));
    expect_report(&h, "; the semaphore signal (step 2 of 2) of the graph launch of call ");
    EXPECT(strstr(test_last_line(), "after the semaphore wait (step 1 of 2) of the graph launch"));
    EXPECT(strstr(test_last_line(), ": a cycle"));
    EXPECT_OK(cuStreamSynchronize(a));
}

// A wait for work that takes long is no deadlock. Neither is a wait with a time limit.
TEST(long_work_is_no_deadlock)
{
    start("20");
    struct both s = timeline(0);
    EXPECT_OK(cuLaunchHostFunc(NULL, sleep_in_function, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_ERROR(cardlessSemaphoreWait(s.host, 1, 100000000), CUDA_ERROR_TIMEOUT);
    EXPECT_NO_DIAGNOSTIC();
}

static void *signal_later(void *argument)
{
    usleep(150000);
    EXPECT_OK(cardlessSemaphoreSignal(argument, 1));
    return NULL;
}

// 0 switches the report off.
TEST(no_report_without_a_time)
{
    pthread_t thread;
    start("0");
    struct both s = timeline(0);
    EXPECT_OK(cu_wait(s.cuda, 1, NULL));
    EXPECT_EQ(pthread_create(&thread, NULL, signal_later, s.host), 0);
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(a_deadlock_can_end_the_process)
{
    int status = 0;
    if (THREAD_SANITIZER)
        SKIP("ThreadSanitizer has a thread of its own, which might end the wait");
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        test_setting("CARDLESS_DEADLOCK", "abort");
        start("50");
        struct both s = timeline(0);
        cu_wait(s.cuda, 1, NULL);
        cuStreamSynchronize(NULL);
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT_DIAGNOSTIC(S05);
}

TESTS(CASE(s05_two_streams_wait_for_each_other), CASE(s05_through_an_event),
      CASE(s05_binary_that_nobody_signals), CASE(s05_value_that_is_too_high),
      CASE(s05_word_that_nobody_writes), CASE(s05_host_waits), CASE(s05_twin),
      CASE(s05_inside_a_graph), CASE(s05_graph_and_stream), CASE(long_work_is_no_deadlock),
      CASE(no_report_without_a_time), CASE(a_deadlock_can_end_the_process))
