// SPDX-License-Identifier: MIT
// External semaphores between two processes that each have a driver of their own.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "../sanitizers.h"
#include "../semaphore.h"
#include "../send_fd.h"
#include "egl_stream.h"

enum { PING_PONG_ROUNDS = 10000, FEWER_ROUNDS = 500 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The other process. It is forked before this one has called the driver.
static struct {
    pid_t process;
    int socket;
} other;

static void start_other(void (*other_main)(int socket))
{
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    other.process = fork();
    if (!other.process) {
        close(ends[0]);
        other_main(ends[1]);
        exit(test_failures != 0);
    }
    close(ends[1]);
    other.socket = ends[0];
}

static void expect_other_ended(void)
{
    int status = -1;
    EXPECT_EQ(waitpid(other.process, &status, 0), other.process);
    EXPECT_EQ(status, 0);
}

static void send_semaphore(cardlessSemaphore s)
{
    char kind = 's';
    int fd = semaphore_fd(s);
    EXPECT(send_fd(other.socket, fd, &kind, 1));
    close(fd);
}

static CUexternalSemaphore receive(int socket, cardlessSemaphoreKind kind)
{
    char byte;
    int fd = receive_fd(socket, &byte, 1);
    EXPECT(fd >= 0);
    return semaphore_import(kind, fd);
}

static void send_byte(int socket)
{
    EXPECT_EQ(write(socket, "b", 1), 1);
}

static void receive_byte(int socket)
{
    char byte;
    EXPECT_EQ(read(socket, &byte, 1), 1);
}

// ---- ping-pong ----

// Each side synchronises in every round, so that each is woken by the other.
static void timeline_pong(int socket)
{
    test_context();
    CUexternalSemaphore a = receive(socket, CARDLESS_SEMAPHORE_TIMELINE),
                        b = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    CUstream stream = new_stream();
    for (uint64_t i = 1; i <= PING_PONG_ROUNDS; i++) {
        MUST(cu_wait(a, i << 32, stream));
        MUST(cu_signal(b, i << 32, stream));
        MUST(cuStreamSynchronize(stream));
    }
}

TEST(timeline_ping_pong)
{
    start_other(timeline_pong);
    test_context();
    struct both a = timeline(0), b = timeline(0);
    CUstream stream = new_stream();
    send_semaphore(a.host);
    send_semaphore(b.host);
    for (uint64_t i = 1; i <= PING_PONG_ROUNDS; i++) {
        MUST(cu_signal(a.cuda, i << 32, stream)); // values far apart
        MUST(cu_wait(b.cuda, i << 32, stream));
        MUST(cuStreamSynchronize(stream));
    }
    EXPECT_EQ(value_of(b), (uint64_t)PING_PONG_ROUNDS << 32);
    expect_other_ended();
    EXPECT_NO_DIAGNOSTIC();
}

// All rounds are queued at once: the streams of the two processes drive each other, and the threads
// only wait for the end.
static void binary_pong(int socket)
{
    test_context();
    CUexternalSemaphore a = receive(socket, CARDLESS_SEMAPHORE_BINARY),
                        b = receive(socket, CARDLESS_SEMAPHORE_BINARY);
    CUstream stream = new_stream();
    for (int i = 0; i < FEWER_ROUNDS; i++) {
        MUST(cu_wait(a, 0, stream));
        MUST(cu_signal(b, 0, stream));
    }
    MUST(cuStreamSynchronize(stream));
}

TEST(binary_ping_pong)
{
    start_other(binary_pong);
    test_context();
    struct both a = binary(), b = binary();
    CUstream stream = new_stream();
    send_semaphore(a.host);
    send_semaphore(b.host);
    for (int i = 0; i < FEWER_ROUNDS; i++) {
        MUST(cu_signal(a.cuda, 0, stream));
        MUST(cu_wait(b.cuda, 0, stream));
    }
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(value_of(a) + value_of(b), 0);
    expect_other_ended();
    EXPECT_NO_DIAGNOSTIC();
}

// ---- order of bytes ----

enum { WORDS = 1 << 16 };

// Fills memory that both processes have mapped, behind a semaphore each way.
static void fill_when_asked(int socket)
{
    char byte;
    CUdeviceptr p;
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole;
    test_context();
    CUexternalSemaphore go = receive(socket, CARDLESS_SEMAPHORE_TIMELINE),
                        done = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    memset(&d, 0, sizeof d);
    memset(&whole, 0, sizeof whole);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = receive_fd(socket, &byte, 1);
    d.size = whole.size = 4 * WORDS;
    MUST(cuImportExternalMemory(&memory, &d));
    MUST(cuExternalMemoryGetMappedBuffer(&p, memory, &whole));
    CUstream stream = new_stream();
    for (unsigned i = 1; i <= FEWER_ROUNDS; i++) {
        MUST(cu_wait(go, i, stream));
        MUST(cuMemsetD32Async(p, i, WORDS, stream));
        MUST(cu_signal(done, i, stream));
    }
    MUST(cuStreamSynchronize(stream));
}

TEST(orders_bytes)
{
    start_other(fill_when_asked);
    test_context();
    struct both go = timeline(0), done = timeline(0);
    int fd = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd, 4 * WORDS), 0);
    unsigned *words = mmap(NULL, 4 * WORDS, PROT_READ, MAP_SHARED, fd, 0);
    CUstream stream = new_stream();
    send_semaphore(go.host);
    send_semaphore(done.host);
    EXPECT(send_fd(other.socket, fd, "m", 1));
    for (unsigned i = 1; i <= FEWER_ROUNDS; i++) {
        MUST(cu_signal(go.cuda, i, stream));
        MUST(cu_wait(done.cuda, i, stream));
        MUST(cuStreamSynchronize(stream));
        EXPECT(words[0] == i && words[WORDS / 2] == i && words[WORDS - 1] == i);
    }
    expect_other_ended();
}

// ---- waiting ----

static void signal_when_asked(int socket)
{
    test_context();
    CUexternalSemaphore s = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    receive_byte(socket);
    MUST(cu_signal(s, 3, NULL));
    MUST(cuCtxSynchronize());
}

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static void *ask_later(void *unused)
{
    (void)unused;
    usleep(300000);
    send_byte(other.socket);
    return NULL;
}

// The wait comes long before the signal, and takes no processor time meanwhile.
TEST(wait_before_signal)
{
    pthread_t thread;
    start_other(signal_when_asked);
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    send_semaphore(s.host);
    EXPECT_OK(cu_wait(s.cuda, 2, stream));
    EXPECT_EQ(pthread_create(&thread, NULL, ask_later, NULL), 0);
    double before = processor_seconds();
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT(processor_seconds() - before < 0.1);
    EXPECT_EQ(value_of(s), 3);
    pthread_join(thread, NULL);
    expect_other_ended();
}

// Nothing but the driver's thread waits; the program asks now and then.
TEST(program_polls)
{
    start_other(signal_when_asked);
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    send_semaphore(s.host);
    EXPECT_OK(cu_wait(s.cuda, 3, stream));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    send_byte(other.socket);
    double end = now() + 20;
    while (cuStreamQuery(stream) && now() < end)
        usleep(1000);
    EXPECT_OK(cuStreamQuery(stream));
    expect_other_ended();
}

// ---- ends ----

// Waits, with a signal queued after the wait, until it is killed.
static void never_signal(int socket)
{
    test_context();
    CUexternalSemaphore a = receive(socket, CARDLESS_SEMAPHORE_BINARY),
                        b = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    CUstream stream = new_stream();
    MUST(cu_wait(a, 0, stream));
    MUST(cu_signal(b, 1, stream));
    send_byte(socket);
    cuStreamSynchronize(stream);
}

// A producer that dies leaves its consumer waiting, as on a card. The semaphores still work, and
// neither destroying one nor ending the context or the process waits for the dead.
TEST(producer_dies)
{
    int status;
    start_other(never_signal);
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    struct both a = binary(), b = timeline(0);
    CUstream stream = new_stream(), second = new_stream();
    send_semaphore(a.host);
    send_semaphore(b.host);
    EXPECT_OK(cu_wait(b.cuda, 1, stream));
    EXPECT_OK(cu_wait(b.cuda, 2, second));
    receive_byte(other.socket);
    usleep(20000); // it sleeps in its wait
    kill(other.process, SIGKILL);
    EXPECT(waitpid(other.process, &status, 0) == other.process && WIFSIGNALED(status));
    usleep(20000);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessSemaphoreSignal(b.host, 1));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cu_signal(a.cuda, 0, stream)); // the dead wait has not consumed it
    EXPECT_OK(cardlessSemaphoreWait(a.host, 0, UINT64_MAX));
    EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    EXPECT_NO_DIAGNOSTIC();
    double begin = now();
    EXPECT_OK(cuDestroyExternalSemaphore(b.cuda));
    EXPECT_OK(cuCtxDestroy(context));
    EXPECT(now() - begin < 5);
    EXPECT_DIAGNOSTIC(S06);
}

// ---- a thread that waits for something else ----

enum { LIMITED_ROUNDS = 200, LIMIT_US = 2000 };

static void signal_near_the_limit(int socket)
{
    test_context();
    CUexternalSemaphore s = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    CUstream stream = new_stream();
    for (unsigned i = 1; i <= LIMITED_ROUNDS; i++) {
        receive_byte(socket);
        usleep(LIMIT_US - 200 + i % 40 * 10); // about when the limit of the other side is over
        MUST(cu_signal(s, i, stream));
        MUST(cuStreamSynchronize(stream));
    }
}

static void CUDA_CB set_round(void *round)
{
    __atomic_add_fetch((unsigned *)round, 1, __ATOMIC_SEQ_CST);
}

// A thread that waits for a frame may be the one that another process's signal wakes. Streams that
// waited for the signal go on although this thread's time is over and it makes no further call.
TEST(signal_at_the_limit_of_another_wait)
{
    start_other(signal_near_the_limit);
    test_context();
    struct both s = timeline(0);
    send_semaphore(s.host);
    struct pair p = pair(0);
    CUstream stream = new_stream();
    unsigned round = 0;
    for (unsigned i = 1; i <= LIMITED_ROUNDS && !test_failures; i++) {
        CUgraphicsResource r;
        EXPECT_OK(cu_wait(s.cuda, i, stream));
        EXPECT_OK(cuLaunchHostFunc(stream, set_round, &round));
        send_byte(other.socket);
        EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, LIMIT_US),
                     CUDA_ERROR_LAUNCH_TIMEOUT);
        double until = now() + 2;
        while (__atomic_load_n(&round, __ATOMIC_SEQ_CST) < i && now() < until)
            usleep(20);
        EXPECT_EQ(__atomic_load_n(&round, __ATOMIC_SEQ_CST), i);
    }
    if (test_failures)
        kill(other.process, SIGKILL);
    expect_other_ended();
}

static void leave_waiting(int socket)
{
    test_context();
    CUexternalSemaphore s = receive(socket, CARDLESS_SEMAPHORE_TIMELINE);
    MUST(cu_wait(s, 1, new_stream()));
}

// A process ends by itself while its stream waits.
TEST(process_ends_while_waiting)
{
    start_other(leave_waiting);
    test_context();
    struct both s = timeline(0);
    send_semaphore(s.host);
    expect_other_ended();
    EXPECT_OK(cu_signal(s.cuda, 1, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(value_of(s), 1);
}

// A fork copies waits that nobody in the child can finish. The child gets errors, and its end
// changes nothing in the parent.
TEST(fork_while_waiting)
{
    int status;
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    EXPECT_OK(cu_wait(s.cuda, 1, stream));
    pid_t child = fork();
    if (!child) {
        EXPECT_ERROR(cu_signal(s.cuda, 1, stream), CUDA_ERROR_NOT_INITIALIZED);
        EXPECT_ERROR(cardlessSemaphoreSignal(s.host, 1), CUDA_ERROR_NOT_INITIALIZED);
        EXPECT_ERROR(cuDestroyExternalSemaphore(s.cuda), CUDA_ERROR_NOT_INITIALIZED);
        // The search for leaks hangs if the fork found a thread of the driver in the allocator.
        if (SANITIZED)
            _exit(test_failures != 0);
        exit(test_failures != 0);
    }
    EXPECT(waitpid(child, &status, 0) == child && !status);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cu_signal(s.cuda, 1, NULL));
    EXPECT_OK(cuStreamSynchronize(stream));
}

TESTS(CASE(timeline_ping_pong), CASE(binary_ping_pong), CASE(orders_bytes),
      CASE(wait_before_signal), CASE(program_polls), CASE(producer_dies),
      CASE(process_ends_while_waiting), CASE(fork_while_waiting),
      CASE(signal_at_the_limit_of_another_wait))
