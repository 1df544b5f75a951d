// SPDX-License-Identifier: MIT
// Events shared between processes: who waits is woken by the completion of the record, or by the
// end of the process that made it, and sleeps until then.
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

#include "../harness.h"

// The process that creates an event and records it. It holds the record back, and obeys letters.
static struct {
    pid_t process;
    int orders, answers; // pipes to it and from it
} other;

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

static void other_main(int orders, int answers)
{
    CUstream stream;
    CUevent event;
    CUipcEventHandle handle;
    char order;
    test_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    MUST(cuIpcGetEventHandle(&handle, event));
    pthread_mutex_lock(&held);
    MUST(cuLaunchHostFunc(stream, hold, NULL));
    MUST(cuEventRecord(event, stream));
    if (write(answers, &handle, sizeof handle) != sizeof handle)
        _exit(1);
    while (read(orders, &order, 1) == 1) {
        pthread_mutex_unlock(&held);
        MUST(cuStreamSynchronize(stream));
    }
    _exit(0);
}

// Starts the other process, and opens its event here.
static CUevent start(void)
{
    int to[2], from[2];
    CUipcEventHandle handle;
    CUevent event = NULL;
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    other.process = fork();
    if (!other.process) {
        close(to[1]);
        other_main(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    other.orders = to[1];
    other.answers = from[0];
    EXPECT_EQ(read(other.answers, &handle, sizeof handle), sizeof handle);
    test_context();
    MUST(cuIpcOpenEventHandle(&event, handle));
    return event;
}

static void complete_record(void)
{
    EXPECT_EQ(write(other.orders, "c", 1), 1);
}

static void *complete_later(void *unused)
{
    (void)unused;
    usleep(50000);
    complete_record();
    return NULL;
}

static void end_other(void)
{
    int status = -1;
    close(other.orders);
    EXPECT_EQ(waitpid(other.process, &status, 0), other.process);
    EXPECT_EQ(status, 0);
}

// A stream that waits for the event, and writes a word afterwards.
static CUstream stream;
static CUdeviceptr word;

static void wait_in_stream(CUevent event)
{
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&word, 4));
    MUST(cuMemsetD32(word, 0, 1));
    EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
    EXPECT_OK(cuMemsetD32Async(word, 7, 1, stream));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
}

static void expect_written(void)
{
    unsigned value = 0;
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cuMemcpyDtoH(&value, word, 4));
    EXPECT_EQ(value, 7);
}

TEST(stream_waits)
{
    CUevent event = start();
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    wait_in_stream(event);
    complete_record();
    for (int i = 0; i < 5000 && cuStreamQuery(stream); i++) // nothing but the driver's thread waits
        usleep(1000);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
    expect_written();
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
    end_other();
}

TEST(thread_waits)
{
    pthread_t thread;
    CUevent event = start();
    EXPECT_EQ(pthread_create(&thread, NULL, complete_later, NULL), 0);
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
    pthread_join(thread, NULL);
    end_other();
}

// Sleeping threads switch context only when they are woken. A thread that looked once a millisecond
// would do so a few hundred times here.
TEST(waiting_does_not_poll)
{
    struct rusage before, after;
    CUevent event = start();
    wait_in_stream(event);
    usleep(20000);
    getrusage(RUSAGE_SELF, &before);
    usleep(400000);
    getrusage(RUSAGE_SELF, &after);
    EXPECT(after.ru_nvcsw - before.ru_nvcsw < 40);
    complete_record();
    expect_written();
    end_other();
}

// The record of a process that was killed should count as complete, even if its parent (this
// process) has not collected it.
TEST(recorder_is_killed)
{
    CUevent event = start();
    wait_in_stream(event);
    EXPECT_EQ(kill(other.process, SIGKILL), 0);
    expect_written();
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_EQ(waitpid(other.process, NULL, 0), other.process);
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST(recorder_is_killed_under_a_thread)
{
    CUevent event = start();
    pid_t killer = fork();
    if (!killer) {
        usleep(50000);
        kill(other.process, SIGKILL);
        _exit(0);
    }
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_EQ(waitpid(killer, NULL, 0), killer);
    EXPECT_EQ(waitpid(other.process, NULL, 0), other.process);
}

// The file of events is found by its number in /proc. A program that has closed it cannot make
// handles for its events, and gets a new file for new ones.
TEST(closed_file)
{
    CUevent old, new;
    CUipcEventHandle handle;
    int ends[2], status = -1;
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (!child) {
        close(ends[1]);
        if (read(ends[0], &handle, sizeof handle) != sizeof handle)
            _exit(1);
        test_context();
        _exit(cuIpcOpenEventHandle(&new, handle) ? 2 : 0);
    }
    test_context();
    MUST(cuEventCreate(&old, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    EXPECT_OK(cuIpcGetEventHandle(&handle, old));
    for (int fd = 3; fd < 1024; fd++) {
        if (fd != ends[1])
            close(fd);
    }
    EXPECT(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0); // takes one of the numbers
    EXPECT(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0);
    EXPECT_ERROR(cuIpcGetEventHandle(&handle, old), CUDA_ERROR_MAP_FAILED);
    EXPECT_OK(cuEventRecord(old, NULL)); // which still works in this process
    EXPECT_OK(cuEventSynchronize(old));
    EXPECT_OK(cuEventCreate(&new, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    EXPECT_OK(cuIpcGetEventHandle(&handle, new));
    EXPECT_EQ(write(ends[1], &handle, sizeof handle), sizeof handle);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TESTS(CASE(stream_waits), CASE(thread_waits), CASE(waiting_does_not_poll), CASE(recorder_is_killed),
      CASE(recorder_is_killed_under_a_thread), CASE(closed_file))
