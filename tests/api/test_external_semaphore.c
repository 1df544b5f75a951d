// SPDX-License-Identifier: MIT
// External semaphores in one process: signals and waits. Answers in "recorded:" are a card's, from
// the group vksem of x_extmem, with the semaphores of cardless.h in place of Vulkan's.
#include <pthread.h>

#include "../semaphore.h"

// ---- timelines ----

// Recorded: t-signal-0-5-7 and its like. A card sets lower values too.
TEST(signals_set_the_value)
{
    static const uint64_t steps[][3] = {{0, 5, 7},
                                        {0, 0x100000000, 0x100000001},
                                        {0, 0x7fffffff, 0x80000000},
                                        {0, UINT64_C(1) << 63, UINT64_MAX}};
    test_context();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct both s = timeline(steps[i][0]);
        EXPECT_OK(cu_signal(s.cuda, steps[i][1], NULL));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_EQ(value_of(s), steps[i][1]);
        EXPECT_OK(cu_signal(s.cuda, steps[i][2], NULL));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_EQ(value_of(s), steps[i][2]);
        EXPECT_OK(cu_wait(s.cuda, steps[i][2], NULL));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
        EXPECT_EQ(value_of(s), steps[i][2]);
    }
    EXPECT_NO_DIAGNOSTIC();
}

// Recorded: t-wait-reached, t-wait-then-host-signal, t-wait-then-overshoot.
TEST(waits_end_at_the_value)
{
    test_context();
    struct both s = timeline(5);
    CUstream stream = new_stream();
    for (uint64_t value = 5; value-- > 0;) {
        EXPECT_OK(cu_wait(s.cuda, value, stream));
        EXPECT_OK(cuStreamQuery(stream));
    }
    EXPECT_OK(cu_wait(s.cuda, 7, stream));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 6));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 7));
    EXPECT_OK(cuStreamQuery(stream));
    EXPECT_OK(cu_wait(s.cuda, 10, stream));
    EXPECT_OK(cardlessSemaphoreSignal(s.host, UINT64_MAX));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_NO_DIAGNOSTIC();
}

static void *signal_later(void *semaphore)
{
    usleep(20000);
    EXPECT_OK(cardlessSemaphoreSignal(semaphore, 4));
    return NULL;
}

// Recorded: t-thread-signals, t-host-waits-for-cuda.
TEST(threads)
{
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    pthread_t thread;
    EXPECT_OK(cu_wait(s.cuda, 4, stream));
    EXPECT_EQ(pthread_create(&thread, NULL, signal_later, s.host), 0);
    EXPECT_OK(cuStreamSynchronize(stream));
    pthread_join(thread, NULL);
    EXPECT_EQ(value_of(s), 4);
    EXPECT_EQ(cardlessSemaphoreWait(s.host, 5, 1000000), CUDA_ERROR_TIMEOUT);
    EXPECT_OK(cu_signal(s.cuda, 5, stream));
    EXPECT_OK(cardlessSemaphoreWait(s.host, 5, UINT64_MAX));
}

// Recorded: t-orders-copies.
TEST(orders_copies)
{
    test_context();
    struct both s = timeline(0);
    CUstream a = new_stream(), b = new_stream();
    CUdeviceptr from, to;
    unsigned char byte = 0;
    MUST(cuMemAlloc(&from, 1 << 20));
    MUST(cuMemAlloc(&to, 1 << 20));
    MUST(cuMemsetD8(from, 1, 1 << 20));
    EXPECT_OK(cu_wait(s.cuda, 1, b));
    EXPECT_OK(cuMemcpyDtoDAsync(to, from, 1 << 20, b));
    EXPECT_EQ(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuMemsetD8Async(from, 9, 1 << 20, a));
    EXPECT_OK(cu_signal(s.cuda, 1, a));
    EXPECT_OK(cuStreamSynchronize(b));
    EXPECT_OK(cuMemcpyDtoH(&byte, to + (1 << 20) - 1, 1));
    EXPECT_EQ(byte, 9);
}

// Recorded: t-two-imports, t-vulkan-destroys-first, b-two-imports, b-vulkan-destroys-first.
TEST(imports_share_a_payload)
{
    test_context();
    struct both s = timeline(0), t = binary();
    CUexternalSemaphore s2 = semaphore_import(CARDLESS_SEMAPHORE_TIMELINE, semaphore_fd(s.host));
    CUexternalSemaphore t2 = semaphore_import(CARDLESS_SEMAPHORE_BINARY, semaphore_fd(t.host));
    EXPECT(s.cuda != s2);
    EXPECT_OK(cardlessSemaphoreDestroy(t.host));
    EXPECT_OK(cu_signal(s.cuda, 6, NULL));
    EXPECT_OK(cu_wait(s2, 6, NULL));
    EXPECT_OK(cu_signal(t.cuda, 0, NULL));
    EXPECT_OK(cu_wait(t2, 0, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
    EXPECT_OK(cu_signal(s2, 7, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(value_of(s), 7);
    EXPECT_OK(cardlessSemaphoreDestroy(s.host));
    EXPECT_OK(cu_wait(s2, 7, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuDestroyExternalSemaphore(s2));
    EXPECT_NO_DIAGNOSTIC();
}

// Recorded: t-stream-*, t-wait-blocks-null-stream, t-event-after-wait.
TEST(streams)
{
    test_context();
    CUstream blocking, all[5] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    CUdeviceptr p;
    CUevent event;
    MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    MUST(cuMemAlloc(&p, 64));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    all[3] = blocking;
    all[4] = new_stream();
    for (int i = 0; i < 5; i++) {
        struct both s = timeline(0);
        EXPECT_OK(cu_signal(s.cuda, 1, all[i]));
        EXPECT_OK(cu_wait(s.cuda, 1, all[i]));
        EXPECT_OK(cuStreamSynchronize(all[i]));
        EXPECT_EQ(value_of(s), 1);
    }
    struct both s = timeline(0);
    EXPECT_OK(cu_wait(s.cuda, 1, NULL));
    EXPECT_OK(cuEventRecord(event, NULL));
    EXPECT_OK(cuMemsetD8Async(p, 1, 64, blocking));
    EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuMemsetD8Async(p, 1, 64, all[4]));
    EXPECT_OK(cuStreamQuery(all[4]));
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 1));
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_OK(cuCtxSynchronize());
}

// ---- binary ----

// Recorded: b-signal-wait, b-wait-first, b-reset-by-wait.
TEST(binary_alternates)
{
    test_context();
    struct both s = binary();
    CUstream a = new_stream(), b = new_stream();
    EXPECT_OK(cu_signal(s.cuda, 77, a)); // the value means nothing
    EXPECT_OK(cu_wait(s.cuda, 99, a));
    EXPECT_OK(cuStreamSynchronize(a));
    EXPECT_OK(cu_wait(s.cuda, 0, a)); // the first wait has reset it
    EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cu_signal(s.cuda, 0, b));
    EXPECT_OK(cuStreamSynchronize(a));
    EXPECT_EQ(value_of(s), 0);
    // Rounds that are queued ahead.
    for (int i = 0; i < 50; i++)
        EXPECT_OK(cu_wait(s.cuda, 0, a));
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
        EXPECT_OK(cu_signal(s.cuda, 0, b));
        EXPECT_OK(cuStreamSynchronize(b));
        while (value_of(s)) // until the wait has consumed the signal
            cuStreamQuery(a);
    }
    EXPECT_OK(cuStreamSynchronize(a));
    EXPECT_NO_DIAGNOSTIC();
}

// ---- several in one call ----

// Recorded: t-two-in-one-call, b-with-timeline.
TEST(several)
{
    enum { COUNT = 40 }; // more than fit into a command on the stack
    test_context();
    struct both s[COUNT];
    CUexternalSemaphore list[COUNT];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[COUNT];
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[COUNT];
    CUstream a = new_stream(), b = new_stream();
    for (unsigned i = 0; i < COUNT; i++) {
        s[i] = i % 2 ? binary() : timeline(0);
        list[i] = s[i].cuda;
        signals[i] = signal_params(i + 3);
        waits[i] = wait_params(i + 3);
    }
    for (unsigned count = 1; count <= COUNT; count += 13) {
        for (unsigned i = 0; i < COUNT; i += 2)
            signals[i].params.fence.value++;
        EXPECT_OK(cuSignalExternalSemaphoresAsync(list, signals, count, a));
        EXPECT_OK(cuWaitExternalSemaphoresAsync(list, waits, count, b));
        EXPECT_OK(cuStreamSynchronize(b));
        for (unsigned i = 0; i < count; i++)
            EXPECT_EQ(value_of(s[i]), i % 2 ? 0 : signals[i].params.fence.value);
    }
    EXPECT_NO_DIAGNOSTIC();
}

// A wait takes its semaphores one after the other, so it leaves those after the first unsignalled
// one alone.
TEST(several_in_order)
{
    test_context();
    struct both s[3] = {binary(), timeline(0), binary()};
    CUexternalSemaphore list[3] = {s[0].cuda, s[1].cuda, s[2].cuda};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[3] = {wait_params(0), wait_params(5), wait_params(0)};
    CUstream stream = new_stream();
    EXPECT_OK(cardlessSemaphoreSignal(s[0].host, 0));
    EXPECT_OK(cardlessSemaphoreSignal(s[2].host, 0));
    EXPECT_OK(cuWaitExternalSemaphoresAsync(list, waits, 3, stream));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(value_of(s[0]), 0);
    EXPECT_EQ(value_of(s[2]), 1);
    EXPECT_OK(cardlessSemaphoreSignal(s[1].host, 5));
    EXPECT_OK(cuStreamQuery(stream));
    EXPECT_EQ(value_of(s[2]), 0);
}

// Recorded: t-one-twice-in-a-call.
TEST(one_twice)
{
    test_context();
    struct both s = timeline(0);
    CUexternalSemaphore list[2] = {s.cuda, s.cuda};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS up[2] = {signal_params(3), signal_params(4)},
                                          down[2] = {signal_params(9), signal_params(8)};
    EXPECT_OK(cuSignalExternalSemaphoresAsync(list, up, 2, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(value_of(s), 4);
    EXPECT_OK(cuSignalExternalSemaphoresAsync(list, down, 2, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(value_of(s), 8);
    EXPECT_DIAGNOSTIC(S04);
}

// ---- arguments ----

// Recorded: t-count0, t-second-null, sem_args.
TEST(arrays)
{
    test_context();
    struct both s = timeline(0);
    CUexternalSemaphore list[2] = {s.cuda, s.cuda}, stale = timeline(0).cuda;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[2] = {signal_params(3), signal_params(4)};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[2] = {wait_params(3), wait_params(4)};
    CUstream stream = new_stream();
    const CUresult invalid = CUDA_ERROR_INVALID_VALUE, handle = CUDA_ERROR_INVALID_HANDLE;
    MUST(cuDestroyExternalSemaphore(stale));
    EXPECT_ONE_SENTENCE(cuSignalExternalSemaphoresAsync(list, signals, 0, NULL), invalid);
    EXPECT_ONE_SENTENCE(cuWaitExternalSemaphoresAsync(list, waits, 0, NULL), invalid);
    EXPECT_ONE_SENTENCE(cuSignalExternalSemaphoresAsync(NULL, signals, 1, NULL), invalid);
    EXPECT_ONE_SENTENCE(cuWaitExternalSemaphoresAsync(list, NULL, 1, NULL), invalid);
    list[1] = stale;
    EXPECT_ONE_SENTENCE(cuSignalExternalSemaphoresAsync(list, signals, 2, stream), handle);
    EXPECT_ONE_SENTENCE(cuWaitExternalSemaphoresAsync(list, waits, 2, stream), handle);
    EXPECT_ONE_SENTENCE(cuDestroyExternalSemaphore(stale), handle);
    EXPECT_ONE_SENTENCE(cuDestroyExternalSemaphore((CUexternalSemaphore)stream), handle);
    EXPECT_ONE_SENTENCE(cuDestroyExternalSemaphore(NULL), invalid);
    EXPECT_OK(cuStreamQuery(stream)); // nothing was submitted
    EXPECT_EQ(value_of(s), 0);
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
}

// Recorded: t-param-flags, t-param-reserved, b-param-flags, t-other-params-ignored.
TEST(parameters)
{
    test_context();
    struct both s = timeline(0);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p = signal_params(3);
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS w = wait_params(3);
    for (unsigned bit = 0; bit < 32; bit++) {
        p.flags = w.flags = 1u << bit;
        EXPECT_ONE_SENTENCE(cuSignalExternalSemaphoresAsync(&s.cuda, &p, 1, NULL),
                            CUDA_ERROR_INVALID_VALUE);
        EXPECT_ONE_SENTENCE(cuWaitExternalSemaphoresAsync(&s.cuda, &w, 1, NULL),
                            CUDA_ERROR_INVALID_VALUE);
    }
    p.flags = w.flags = 0;
    p.reserved[15] = w.reserved[15] = 1;
    EXPECT_ERROR(cuSignalExternalSemaphoresAsync(&s.cuda, &p, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuWaitExternalSemaphoresAsync(&s.cuda, &w, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    p.reserved[15] = w.reserved[15] = 0;
    p.params.reserved[0] = 1;
    EXPECT_ERROR(cuSignalExternalSemaphoresAsync(&s.cuda, &p, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(value_of(s), 0);
    p.params.reserved[0] = 0;
    p.params.nvSciSync.reserved = ~0ull;
    EXPECT_OK(cuSignalExternalSemaphoresAsync(&s.cuda, &p, 1, NULL));
    EXPECT_OK(cuWaitExternalSemaphoresAsync(&s.cuda, &w, 1, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(value_of(s), 3);
    EXPECT_NO_DIAGNOSTIC();
}

// Recorded: t-no-context.
TEST(without_context)
{
    test_context();
    struct both s = timeline(0);
    CUexternalSemaphore out;
    int fd = semaphore_fd(s.host);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_desc(9, fd);
    MUST(cuCtxSetCurrent(NULL));
    EXPECT_ERROR(cu_signal(s.cuda, 1, NULL), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cu_wait(s.cuda, 0, NULL), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuImportExternalSemaphore(&out, &d), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(is_open(fd));
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
}

// ---- the host's side ----

TEST(host_side)
{
    uint64_t value;
    int fd;
    cardlessSemaphore s, again;
    EXPECT_ERROR(cardlessSemaphoreCreate(&s, CARDLESS_SEMAPHORE_BINARY, 0),
                 CUDA_ERROR_NOT_INITIALIZED);
    MUST(cuInit(0)); // no context is needed
    EXPECT_ERROR(cardlessSemaphoreCreate(NULL, CARDLESS_SEMAPHORE_BINARY, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessSemaphoreCreate(&s, (cardlessSemaphoreKind)3, 0),
                 CUDA_ERROR_INVALID_VALUE);
    MUST(cardlessSemaphoreCreate(&s, CARDLESS_SEMAPHORE_BINARY, 5));
    EXPECT_OK(cardlessSemaphoreGetValue(s, &value));
    EXPECT_EQ(value, 1);
    EXPECT_OK(cardlessSemaphoreWait(s, 0, 0));
    EXPECT_EQ(cardlessSemaphoreWait(s, 0, 0), CUDA_ERROR_TIMEOUT);
    EXPECT_ERROR(cardlessSemaphoreExport(s, NULL), CUDA_ERROR_INVALID_VALUE);
    MUST(cardlessSemaphoreExport(s, &fd));
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_OK(cardlessSemaphoreOpen(&again, fd));
    EXPECT(is_open(fd));
    close(fd);
    EXPECT_ONE_SENTENCE(cardlessSemaphoreOpen(&again, fd), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cardlessSemaphoreSignal(again, 0));
    EXPECT_OK(cardlessSemaphoreWait(s, 0, UINT64_MAX));
    EXPECT_OK(cardlessSemaphoreDestroy(s));
    EXPECT_ONE_SENTENCE(cardlessSemaphoreDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ONE_SENTENCE(cardlessSemaphoreSignal(s, 1), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ONE_SENTENCE(cardlessSemaphoreWait(s, 1, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ONE_SENTENCE(cardlessSemaphoreGetValue(NULL, &value), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cardlessSemaphoreGetValue(again, &value));
    EXPECT_EQ(value, 0);
}

// ---- ends ----

// The work of a context that ends is dropped, and the end does not wait for anything outside.
TEST(context_ends_while_waiting)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    struct both s = timeline(0), t = binary();
    CUexternalSemaphore list[2] = {s.cuda, t.cuda};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[2] = {wait_params(1), wait_params(0)};
    EXPECT_OK(cuWaitExternalSemaphoresAsync(list, waits, 2, new_stream()));
    EXPECT_OK(cu_wait(s.cuda, 9, new_stream()));
    EXPECT_OK(cuCtxDestroy(context));
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 9));
    EXPECT_OK(cardlessSemaphoreSignal(t.host, 0));
    EXPECT_EQ(value_of(t), 1); // nobody waits any more
    EXPECT_ERROR(cuDestroyExternalSemaphore(s.cuda), CUDA_ERROR_INVALID_HANDLE);
}

// More semaphores than one futex_waitv can watch.
TEST(many_waits)
{
    enum { COUNT = 300 };
    test_context();
    CUstream stream[COUNT];
    struct both s[COUNT];
    for (int i = 0; i < COUNT; i++) {
        s[i] = i % 2 ? binary() : timeline(0);
        stream[i] = new_stream();
        EXPECT_OK(cu_wait(s[i].cuda, 1, stream[i]));
    }
    for (int i = COUNT; i-- > 0;) {
        EXPECT_EQ(cuStreamQuery(stream[i]), CUDA_ERROR_NOT_READY);
        EXPECT_OK(cardlessSemaphoreSignal(s[i].host, 1));
        EXPECT_OK(cuStreamSynchronize(stream[i]));
    }
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

// ---- threads ----

enum { ROUNDS = 300 };

struct player {
    struct both mine, other;
    CUstream stream;
};

static void *play(void *argument)
{
    const struct player *p = argument;
    test_context();
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        EXPECT_OK(cu_signal(p->mine.cuda, i, p->stream));
        EXPECT_OK(cu_wait(p->other.cuda, i, p->stream));
        if (i % 16 == 0)
            EXPECT_OK(cuStreamSynchronize(p->stream));
    }
    EXPECT_OK(cuStreamSynchronize(p->stream));
    EXPECT_OK(cardlessSemaphoreWait(p->other.host, ROUNDS, UINT64_MAX));
    return NULL;
}

TEST(threads_ping_pong)
{
    enum { PAIRS = 2 };
    pthread_t thread[2 * PAIRS];
    struct player player[2 * PAIRS];
    test_context();
    for (int i = 0; i < 2 * PAIRS; i++)
        player[i] = (struct player){.mine = timeline(0), .stream = new_stream()};
    for (int i = 0; i < 2 * PAIRS; i++)
        player[i].other = player[i ^ 1].mine;
    for (int i = 0; i < 2 * PAIRS; i++)
        EXPECT_EQ(pthread_create(&thread[i], NULL, play, &player[i]), 0);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2 * PAIRS; i++)
        EXPECT_EQ(value_of(player[i].mine), ROUNDS);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(signals_set_the_value), CASE(waits_end_at_the_value), CASE(threads), CASE(orders_copies),
      CASE(imports_share_a_payload), CASE(streams), CASE(binary_alternates), CASE(several),
      CASE(several_in_order), CASE(one_twice), CASE(arrays), CASE(parameters),
      CASE(without_context), CASE(host_side), CASE(context_ends_while_waiting), CASE(many_waits),
      CASE(threads_ping_pong))
