// SPDX-License-Identifier: MIT
// The ordering checker: order through others, who signal semaphores that this process signals too,
// or record events of another process.
#include <semaphore.h>

#include "../order.h"
#include "../semaphore.h"

// ---- semaphores in both directions ----

// Stream b waits for the host, which stream a has signalled through the same semaphore before. All
// of c's work is before the host's signal.
static void answer(struct both s, uint64_t first, uint64_t second)
{
    CUstream c = new_stream();
    EXPECT_OK(cu_signal(s.cuda, first, order_a));
    EXPECT_OK(cardlessSemaphoreWait(s.host, first, UINT64_MAX));
    EXPECT_OK(cu_wait(s.cuda, second, order_b));
    order_write(order_b);
    order_read(c);
    EXPECT_OK(cuStreamSynchronize(c));
    EXPECT_OK(cardlessSemaphoreSignal(s.host, second));
    EXPECT_OK(cuStreamSynchronize(order_b));
}

TEST(binary_semaphore_in_both_directions)
{
    order_begin();
    answer(binary(), 0, 0);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(timeline_in_both_directions)
{
    order_begin();
    answer(timeline(0), 1, 2);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(binary_semaphore_in_turn)
{
    order_begin();
    struct both s = binary();
    for (int round = 0; round < 50; round++) {
        order_write(order_a);
        EXPECT_OK(cu_signal(s.cuda, 0, order_a));
        EXPECT_OK(cu_wait(s.cuda, 0, order_b));
        order_read(order_b);
        EXPECT_OK(cu_signal(s.cuda, 0, order_b));
        EXPECT_OK(cu_wait(s.cuda, 0, order_a));
    }
    EXPECT_NO_DIAGNOSTIC();
}

// The answer comes before the work that b should have waited for.
TEST(answer_too_early)
{
    order_begin();
    struct both s = binary();
    CUstream c = new_stream();
    EXPECT_OK(cu_signal(s.cuda, 0, order_a));
    EXPECT_OK(cardlessSemaphoreWait(s.host, 0, UINT64_MAX));
    EXPECT_OK(cu_wait(s.cuda, 0, order_b));
    unsigned older = order_write(order_b);
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 0));
    unsigned newer = order_read(c);
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_UNORDERED(O01, older, newer);
}

// A wait that the stream's own signal has ended is not ordered after other work.
TEST(own_signal)
{
    order_begin();
    struct both s = binary();
    unsigned older = order_write(order_a);
    EXPECT_OK(cu_signal(s.cuda, 0, order_b));
    EXPECT_OK(cu_wait(s.cuda, 0, order_b));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

static void CUDA_CB block(void *until)
{
    sem_wait(until);
}

// Stream b waits for a value. The host signals 1 after all work of c, then stream a signals 2,
// which does not know of c. Returns the calls of b's write and of c's read.
struct calls {
    unsigned write, read;
};

static struct calls two_signals(uint64_t awaited)
{
    sem_t go_a, go_b;
    struct both s = timeline(0);
    struct calls calls;
    CUstream c = new_stream();
    sem_init(&go_a, 0, 0);
    sem_init(&go_b, 0, 0);
    EXPECT_OK(cuLaunchHostFunc(order_a, block, &go_a));
    EXPECT_OK(cu_signal(s.cuda, 2, order_a));
    EXPECT_OK(cuLaunchHostFunc(order_b, block, &go_b));
    EXPECT_OK(cu_wait(s.cuda, awaited, order_b));
    calls.write = order_write(order_b);
    calls.read = order_read(c);
    EXPECT_OK(cuStreamSynchronize(c));
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 1));
    sem_post(&go_a);
    EXPECT_OK(cuStreamSynchronize(order_a));
    sem_post(&go_b);
    EXPECT_OK(cuCtxSynchronize());
    return calls;
}

TEST(value_of_the_host)
{
    order_begin();
    two_signals(1);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(value_of_another_stream)
{
    order_begin();
    struct calls calls = two_signals(2);
    EXPECT_UNORDERED(O01, calls.read, calls.write);
}

// ---- events of another process ----

// The other process waits for our record, and records an event of its own.
struct events {
    CUevent ours, theirs;
    int to, from;
    pid_t process;
};

static void exchange(int from, int to)
{
    CUipcEventHandle ours, theirs;
    CUevent a, b;
    CUstream s;
    char go;
    test_context();
    MUST(cuEventCreate(&b, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    MUST(cuIpcGetEventHandle(&ours, b));
    EXPECT_EQ(read(from, &theirs, sizeof theirs), sizeof theirs);
    MUST(cuIpcOpenEventHandle(&a, theirs));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_EQ(write(to, &ours, sizeof ours), sizeof ours);
    EXPECT_EQ(read(from, &go, 1), 1);
    MUST(cuStreamWaitEvent(s, a, 0));
    MUST(cuEventRecord(b, s));
    EXPECT_EQ(write(to, "r", 1), 1);
    EXPECT_EQ(read(from, &go, 1), 0);
    exit(test_failures != 0);
}

static struct events begin_with_other(void)
{
    struct events e;
    int to[2], from[2];
    CUipcEventHandle ours, theirs;
    test_setting("CARDLESS_CHECK", "order");
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    e.process = fork();
    if (!e.process) {
        close(to[1]);
        exchange(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    e.to = to[1];
    e.from = from[0];
    order_begin_here();
    MUST(cuEventCreate(&e.ours, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    MUST(cuIpcGetEventHandle(&ours, e.ours));
    EXPECT_EQ(write(e.to, &ours, sizeof ours), sizeof ours);
    EXPECT_EQ(read(e.from, &theirs, sizeof theirs), sizeof theirs);
    MUST(cuIpcOpenEventHandle(&e.theirs, theirs));
    return e;
}

// Their record is ordered after ours.
static void let_them_record(const struct events *e)
{
    char byte;
    EXPECT_OK(cuEventRecord(e->ours, order_a));
    EXPECT_EQ(write(e->to, "g", 1), 1);
    EXPECT_EQ(read(e->from, &byte, 1), 1);
}

static void end_other(const struct events *e)
{
    int status = -1;
    close(e->to);
    EXPECT_EQ(waitpid(e->process, &status, 0), e->process);
    EXPECT_EQ(status, 0);
}

TEST(host_waits_for_another_process)
{
    struct events e = begin_with_other();
    order_write(order_a);
    let_them_record(&e);
    EXPECT_OK(cuEventSynchronize(e.theirs));
    EXPECT_OK(cuMemFree(order_p));
    EXPECT_NO_DIAGNOSTIC();
    end_other(&e);
}

TEST(host_asks_for_another_process)
{
    struct events e = begin_with_other();
    order_write(order_a);
    let_them_record(&e);
    while (cuEventQuery(e.theirs))
        usleep(1000);
    EXPECT_OK(cuMemFree(order_p));
    EXPECT_NO_DIAGNOSTIC();
    end_other(&e);
}

TEST(stream_waits_for_another_process)
{
    struct events e = begin_with_other();
    order_write(order_a);
    let_them_record(&e);
    EXPECT_OK(cuStreamWaitEvent(order_b, e.theirs, 0));
    order_read(order_b);
    EXPECT_OK(cuStreamSynchronize(order_b));
    EXPECT_OK(cuMemFree(order_p));
    EXPECT_NO_DIAGNOSTIC();
    end_other(&e);
}

// The work comes after the record that the other process has waited for.
TEST(work_that_another_process_does_not_know)
{
    struct events e = begin_with_other();
    let_them_record(&e);
    unsigned older = order_write(order_a);
    EXPECT_OK(cuEventSynchronize(e.theirs));
    unsigned newer = order_next();
    EXPECT_OK(cuMemFree(order_p));
    EXPECT_UNORDERED(O02, older, newer);
    end_other(&e);
}

TESTS(CASE(binary_semaphore_in_both_directions), CASE(timeline_in_both_directions),
      CASE(binary_semaphore_in_turn), CASE(answer_too_early), CASE(own_signal),
      CASE(value_of_the_host), CASE(value_of_another_stream), CASE(host_waits_for_another_process),
      CASE(host_asks_for_another_process), CASE(stream_waits_for_another_process),
      CASE(work_that_another_process_does_not_know))
