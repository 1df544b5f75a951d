// SPDX-License-Identifier: MIT
// Mistakes with semaphores, words, graphics resources, graphs and stream-ordered memory.
#include "corpus.h"

// ---- semaphores and words ----

struct semaphore {
    cardlessSemaphore host; // stands for the semaphore in another API
    CUexternalSemaphore cuda;
};

static struct semaphore new_semaphore(void)
{
    struct semaphore s;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    MUST(cardlessSemaphoreCreate(&s.host, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cardlessSemaphoreExport(s.host, &d.handle.fd));
    MUST(cuImportExternalSemaphore(&s.cuda, &d));
    return s;
}

static void signal_semaphore(struct semaphore s, uint64_t value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p = {.params.fence.value = value};
    MUST(cuSignalExternalSemaphoresAsync(&s.cuda, &p, 1, stream));
}

static void await_semaphore(struct semaphore s, uint64_t value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p = {.params.fence.value = value};
    MUST(cuWaitExternalSemaphoresAsync(&s.cuda, &p, 1, stream));
}

// The consumer waits for the value of the round before.
bool semaphore_value_off_by_one(bool right)
{
    CUstream producer = new_stream(), consumer = new_stream();
    CUdeviceptr p = new_memory();
    struct semaphore filled = new_semaphore(), read = new_semaphore();
    unsigned char *result = new_host_memory();
    for (unsigned round = 1; round <= 3; round++) {
        await_semaphore(read, round - 1, producer);
        fill(p, (unsigned char)round, producer);
        signal_semaphore(filled, round, producer);
        await_semaphore(filled, right ? round : round - 1, consumer);
        MUST(cuMemcpyDtoHAsync(result + round, p, 1, consumer));
        signal_semaphore(read, round, consumer);
    }
    MUST(cuCtxSynchronize());
    return is("round 1", result[1], 1) && is("round 2", result[2], 2) &&
           is("round 3", result[3], 3);
}

// The other API is told that the bytes are there before the stream has written them.
bool semaphore_signalled_before_work(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p = new_memory();
    struct semaphore done = new_semaphore();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    signal_semaphore(done, 1, right ? s : other);
    MUST(cardlessSemaphoreWait(done.host, 1, UINT64_MAX));
    return is("the result", result[0], 7);
}

// Two semaphores order two streams; each consumer waits for the other one's semaphore.
bool semaphore_waits_swapped(bool right)
{
    CUstream producer[2] = {new_stream(), new_stream()}, consumer[2] = {new_stream(), new_stream()};
    CUdeviceptr p[2] = {new_memory(), new_memory()};
    struct semaphore done[2] = {new_semaphore(), new_semaphore()};
    unsigned char *result[2] = {new_host_memory(), new_host_memory()};
    for (unsigned i = 0; i < 2; i++) {
        fill(p[i], (unsigned char)(i + 1), producer[i]);
        signal_semaphore(done[i], 1, producer[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        await_semaphore(done[right ? i : 1 - i], 1, consumer[i]);
        read_back(result[i], p[i], consumer[i]);
    }
    MUST(cuCtxSynchronize());
    return is("the first result", result[0][0], 1) && is("the second result", result[1][0], 2);
}

// A wait for exactly 1 misses the value if 2 is written first, and never ends.
bool word_waits_for_equal(bool right)
{
    CUstream counts = new_stream(), s = new_stream();
    unsigned char *flag = new_host_memory();
    CUdeviceptr word = (CUdeviceptr)(uintptr_t)flag, p = new_memory();
    MUST(cuStreamWriteValue32(counts, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    MUST(cuStreamWaitValue32(s, word, 1,
                             right ? CU_STREAM_WAIT_VALUE_GEQ : CU_STREAM_WAIT_VALUE_EQ));
    fill(p, 7, s);
    MUST(cuStreamWriteValue32(counts, word, 2, CU_STREAM_WRITE_VALUE_DEFAULT));
    MUST(cuStreamSynchronize(s));
    return true;
}

// ---- graphics resources ----

static CUdeviceptr map(CUgraphicsResource resource, CUstream s)
{
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &resource, s));
    MUST(cuGraphicsResourceGetMappedPointer(&p, &size, resource));
    return p;
}

// Graphics waits for the work before the unmap in the stream of the unmap, not for other streams.
bool unmapped_on_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    unsigned char result[BYTES];
    MUST(cardlessBufferCreate(&buffer, BYTES));
    MUST(cardlessRegisterBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CUdeviceptr p = map(resource, s);
    fill(p, 7, s);
    MUST(cuGraphicsUnmapResources(1, &resource, right ? s : other));
    MUST(cardlessReadBuffer(buffer, 0, BYTES, result));
    return is("what graphics reads", result[0], 7);
}

// Only the stream of the map waits for the graphics work before it.
bool mapped_on_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    unsigned char *result = new_host_memory();
    MUST(cardlessBufferCreate(&buffer, BYTES));
    MUST(cardlessRegisterBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    MUST(cardlessFillBuffer(buffer, 0, BYTES, 7));
    CUdeviceptr p = map(resource, s);
    read_back(result, p, right ? s : other);
    MUST(cuCtxSynchronize());
    MUST(cuGraphicsUnmapResources(1, &resource, s));
    MUST(cuStreamSynchronize(s));
    return is("the result", result[0], 7);
}

// ---- graphs ----

static CUgraphExec end_capture(CUstream s)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamEndCapture(s, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

// A graph reads its source buffer at each launch, and launches are asynchronous.
bool graph_with_changed_buffer(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *source = new_host_memory(), *result = new_host_memory();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemcpyHtoDAsync(p, source, BYTES, s));
    CUgraphExec exec = end_capture(s);
    for (unsigned char round = 1; round <= 2; round++) {
        source[0] = round;
        MUST(cuGraphLaunch(exec, s));
        MUST(cuMemcpyDtoHAsync(result + round, p, 1, s));
        if (right)
            MUST(cuStreamSynchronize(s));
    }
    MUST(cuStreamSynchronize(s));
    return is("round 1", result[1], 1) && is("round 2", result[2], 2);
}

// A launch is work of its stream alone.
bool graph_result_in_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fill(p, 7, s);
    CUgraphExec exec = end_capture(s);
    MUST(cuGraphLaunch(exec, s));
    if (right)
        wait_for(other, s);
    read_back(result, p, other);
    MUST(cuStreamSynchronize(other));
    return is("the result", result[0], 7);
}

static void nothing(void *unused)
{
    (void)unused;
}

// A branch of a capture begins at the event that forked it: later work of the first stream is not
// before it.
bool captured_branch_without_edge(bool right)
{
    CUstream s = new_stream(), branch = new_stream();
    CUdeviceptr p = new_memory(), q = new_memory();
    CUevent forked = new_event(), joined = new_event();
    unsigned char *result = new_host_memory();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!right)
        MUST(cuEventRecord(forked, s));
    MUST(cuLaunchHostFunc(s, nothing, NULL));
    fill(p, 7, s);
    if (right)
        MUST(cuEventRecord(forked, s));
    MUST(cuStreamWaitEvent(branch, forked, 0));
    MUST(cuLaunchHostFunc(branch, nothing, NULL));
    copy(q, p, branch);
    MUST(cuEventRecord(joined, branch));
    MUST(cuStreamWaitEvent(s, joined, 0));
    read_back(result, q, s);
    MUST(cuGraphLaunch(end_capture(s), s));
    MUST(cuStreamSynchronize(s));
    return is("the result", result[0], 7);
}

// ---- memory in stream order ----

// The memory is freed in a stream that does not wait for its last use, and given out again.
bool freed_on_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p, q;
    unsigned char *result = new_host_memory();
    MUST(cuMemAllocAsync(&p, BYTES, s));
    MUST(cuStreamSynchronize(s));
    fill(p, 7, s);
    read_back(result, p, s);
    if (right)
        wait_for(other, s);
    MUST(cuMemFreeAsync(p, other));
    MUST(cuMemAllocAsync(&q, BYTES, other));
    fill(q, 9, other);
    MUST(cuStreamSynchronize(other));
    MUST(cuStreamSynchronize(s));
    return is("the result", result[0], 7);
}

// The memory exists in the stream of the allocation first.
bool allocated_on_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p;
    unsigned char *result = new_host_memory();
    MUST(cuMemAllocAsync(&p, BYTES, s));
    fill(p, 7, s);
    if (right)
        wait_for(other, s);
    read_back(result, p, other);
    MUST(cuStreamSynchronize(other));
    return is("the result", result[0], 7);
}
