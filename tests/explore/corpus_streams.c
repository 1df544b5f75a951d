// SPDX-License-Identifier: MIT
// Mistakes in the order of streams.
#include "corpus.h"

// Two streams use one buffer, and nothing orders them.
bool missing_wait(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    fill(p, 7, producer);
    if (right)
        wait_for(consumer, producer);
    read_back(result, p, consumer);
    MUST(cuStreamSynchronize(consumer));
    return is("the result", result[0], 7);
}

// The wait is in the stream that recorded the event, instead of the one that needs the bytes.
bool wait_in_wrong_stream(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    CUevent done = new_event();
    unsigned char *result = new_host_memory();
    fill(p, 7, producer);
    MUST(cuEventRecord(done, producer));
    MUST(cuStreamWaitEvent(right ? consumer : producer, done, 0));
    read_back(result, p, consumer);
    MUST(cuStreamSynchronize(consumer));
    return is("the result", result[0], 7);
}

// The event is recorded before the work that it stands for.
bool event_recorded_before_work(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    CUevent done = new_event();
    unsigned char *result = new_host_memory();
    if (!right)
        MUST(cuEventRecord(done, producer));
    fill(p, 7, producer);
    if (right)
        MUST(cuEventRecord(done, producer));
    MUST(cuStreamWaitEvent(consumer, done, 0));
    read_back(result, p, consumer);
    MUST(cuStreamSynchronize(consumer));
    return is("the result", result[0], 7);
}

// The wait comes before the record of its round, so that it is for the round before.
bool event_of_earlier_round(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    CUevent done = new_event();
    unsigned char *result = new_host_memory();
    for (unsigned char round = 1; round <= 3; round++) {
        fill(p, round, producer);
        if (!right)
            MUST(cuStreamWaitEvent(consumer, done, 0));
        MUST(cuEventRecord(done, producer));
        if (right)
            MUST(cuStreamWaitEvent(consumer, done, 0));
        read_back(result, p, consumer);
        MUST(cuStreamSynchronize(consumer));
        if (!is("the result", result[0], round))
            return false;
        wait_for(producer, consumer);
    }
    return true;
}

// One event is recorded in two streams; the wait is only for the second record.
bool event_reused(bool right)
{
    CUstream a = new_stream(), b = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory(), q = new_memory();
    CUevent first = new_event(), second = right ? new_event() : first;
    unsigned char *result = new_host_memory();
    fill(p, 3, a);
    MUST(cuEventRecord(first, a));
    fill(q, 4, b);
    MUST(cuEventRecord(second, b));
    MUST(cuStreamWaitEvent(consumer, first, 0));
    MUST(cuStreamWaitEvent(consumer, second, 0));
    read_back(result, p, consumer);
    MUST(cuMemcpyDtoHAsync(result + 32, q, 32, consumer));
    MUST(cuStreamSynchronize(consumer));
    return is("the first result", result[0], 3) && is("the second result", result[32], 4);
}

// The producer writes the next round while the consumer may still read this one.
bool write_after_read(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    fill(p, 1, producer);
    wait_for(consumer, producer);
    read_back(result, p, consumer);
    if (right)
        wait_for(producer, consumer);
    fill(p, 2, producer);
    MUST(cuCtxSynchronize());
    return is("the result", result[0], 1);
}

// The legacy default stream does not wait for streams that were created as non-blocking.
bool default_stream_with_non_blocking_stream(bool right)
{
    CUstream s;
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    MUST(cuStreamCreate(&s, right ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    fill(p, 7, s);
    read_back(result, p, CU_STREAM_LEGACY);
    MUST(cuStreamSynchronize(CU_STREAM_LEGACY));
    return is("the result", result[0], 7);
}

// The default stream of a thread is an ordinary stream: unlike the legacy default stream, it does
// not wait for other blocking streams.
bool default_stream_of_thread(bool right)
{
    CUstream s;
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    CUstream all = right ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
    MUST(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    fill(p, 7, s);
    read_back(result, p, all);
    MUST(cuStreamSynchronize(all));
    return is("the result", result[0], 7);
}

// A priority is a hint. It orders nothing.
bool priority_taken_for_order(bool right)
{
    int least, greatest;
    CUstream urgent, later;
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    MUST(cuCtxGetStreamPriorityRange(&least, &greatest));
    MUST(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, greatest));
    MUST(cuStreamCreateWithPriority(&later, CU_STREAM_NON_BLOCKING, least));
    fill(p, 7, urgent);
    if (right)
        wait_for(later, urgent);
    read_back(result, p, later);
    MUST(cuCtxSynchronize());
    return is("the result", result[0], 7);
}

// Two buffers in turn: the producer waits for the event of the wrong one.
bool double_buffer_index(bool right)
{
    enum { ROUNDS = 4 };
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr buffer[2] = {new_memory(), new_memory()};
    CUevent filled[2] = {new_event(), new_event()}, read[2] = {new_event(), new_event()};
    unsigned char *result[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned i = round % 2, other = right ? i : 1 - i;
        result[round] = new_host_memory();
        if (round)
            MUST(cuStreamWaitEvent(producer, read[other], 0));
        fill(buffer[i], (unsigned char)(round + 1), producer);
        MUST(cuEventRecord(filled[i], producer));
        MUST(cuStreamWaitEvent(consumer, filled[other], 0));
        read_back(result[round], buffer[i], consumer);
        MUST(cuEventRecord(read[i], consumer));
    }
    MUST(cuCtxSynchronize());
    for (unsigned round = 0; round < ROUNDS; round++)
        if (!is("the result", result[round][0], round + 1))
            return false;
    return true;
}

// Two copies in different streams share half of their bytes, which the second one should win.
bool overlapping_copies(bool right)
{
    CUstream a = new_stream(), b = new_stream();
    CUdeviceptr from = new_memory(), other = new_memory(), to = new_memory();
    unsigned char got[BYTES];
    fill(from, 1, NULL);
    fill(other, 2, NULL);
    MUST(cuCtxSynchronize());
    copy(to, from, a);
    if (right)
        wait_for(b, a);
    MUST(cuMemcpyDtoDAsync(to + BYTES / 2, other, BYTES / 2, b));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(got, to, BYTES));
    return is("the first half", got[0], 1) && is("the second half", got[BYTES / 2], 2);
}
