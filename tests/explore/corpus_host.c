// SPDX-License-Identifier: MIT
// Mistakes in the order of streams and the host.
#include "corpus.h"

static void set_flag(void *flag)
{
    __atomic_store_n((unsigned char *)flag, 1, __ATOMIC_RELEASE);
}

// The host reads the result of an asynchronous copy without waiting for it.
bool missing_sync_before_read(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    if (right)
        MUST(cuStreamSynchronize(s));
    return is("the result", result[0], 7);
}

bool synchronised_wrong_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p = new_memory(), q = new_memory();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    fill(q, 1, other);
    MUST(cuStreamSynchronize(right ? s : other));
    return is("the result", result[0], 7);
}

bool synchronised_wrong_event(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    CUevent filled = new_event(), read = new_event();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    MUST(cuEventRecord(filled, s));
    read_back(result, p, s);
    MUST(cuEventRecord(read, s));
    MUST(cuEventSynchronize(right ? read : filled));
    return is("the result", result[0], 7);
}

// The host writes the next round into the staging buffer while a copy may still read this one.
bool staging_buffer_reused(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory(), q = new_memory();
    unsigned char *staging = new_host_memory(), first, second;
    memset(staging, 1, BYTES);
    MUST(cuMemcpyHtoDAsync(p, staging, BYTES, s));
    if (right)
        MUST(cuStreamSynchronize(s));
    memset(staging, 2, BYTES);
    MUST(cuMemcpyHtoDAsync(q, staging, BYTES, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH(&first, p, 1));
    MUST(cuMemcpyDtoH(&second, q, 1));
    return is("the first buffer", first, 1) && is("the second buffer", second, 2);
}

// cuStreamQuery asks. It does not wait.
bool query_taken_for_completion(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    CUresult r = cuStreamQuery(s);
    while (right && r == CUDA_ERROR_NOT_READY)
        r = cuStreamQuery(s);
    return is("the result", result[0], 7);
}

// An event that was never recorded counts as complete.
bool event_never_recorded(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    CUevent done = new_event(), other = new_event();
    unsigned char *result = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    MUST(cuEventRecord(right ? done : other, s));
    MUST(cuEventSynchronize(done));
    return is("the result", result[0], 7);
}

// The host polls a flag, which another stream than the one with the bytes sets.
bool flag_in_other_stream(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *result = new_host_memory(), *flag = new_host_memory();
    fill(p, 7, s);
    read_back(result, p, s);
    MUST(cuStreamWriteValue32(right ? s : other, (CUdeviceptr)(uintptr_t)flag, 1, 0));
    // The calls let the work get ahead also under policies that run nothing between calls.
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        cuStreamQuery(right ? s : other);
    return is("the result", result[0], 7);
}

struct callback_log {
    unsigned char order[2];
    unsigned count;
};
struct callback {
    struct callback_log *log;
    unsigned char name;
};

static void note_callback(void *argument)
{
    struct callback *c = argument;
    unsigned at = __atomic_fetch_add(&c->log->count, 1, __ATOMIC_ACQ_REL);
    c->log->order[at] = c->name;
}

// Host functions of different streams run in any order.
bool order_of_callbacks(bool right)
{
    CUstream a = new_stream(), b = new_stream();
    static struct callback_log log;
    static struct callback first = {&log, 'a'}, second = {&log, 'b'};
    MUST(cuLaunchHostFunc(a, note_callback, &first));
    if (right)
        wait_for(b, a);
    MUST(cuLaunchHostFunc(b, note_callback, &second));
    MUST(cuCtxSynchronize());
    return is("the first callback", log.order[0], 'a');
}

static void overwrite(void *buffer)
{
    memset(buffer, 9, BYTES);
}

// A host function reuses a buffer from which a copy in another stream may still read.
bool callback_changes_buffer(bool right)
{
    CUstream s = new_stream(), other = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *staging = new_host_memory(), result;
    memset(staging, 5, BYTES);
    MUST(cuMemcpyHtoDAsync(p, staging, BYTES, s));
    MUST(cuLaunchHostFunc(right ? s : other, overwrite, staging));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(&result, p, 1));
    return is("the result", result, 5);
}

// The program takes the call for the function: cuLaunchHostFunc returns before the function runs.
bool host_function_flag(bool right)
{
    CUstream s = new_stream();
    CUdeviceptr p = new_memory();
    unsigned char *flag = new_host_memory();
    fill(p, 7, s);
    MUST(cuLaunchHostFunc(s, set_flag, flag));
    fill(p, 8, s);
    if (right)
        MUST(cuStreamSynchronize(s));
    return is("the flag", __atomic_load_n(flag, __ATOMIC_ACQUIRE), 1);
}
