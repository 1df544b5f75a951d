// SPDX-License-Identifier: MIT
// Graphs for tests: their nodes, and a log of the host functions that have run.
#pragma once
#include <limits.h>
#include <pthread.h>

#include "../semaphore.h"

static CUcontext context;
static CUstream s, t;
static CUdeviceptr device; // 64 KiB
static uint32_t *words;    // 4 KiB of pinned memory …
static CUdeviceptr mapped; // … at this device address
enum { LOG = 65536 };
static atomic_uint logged;
static unsigned entries[LOG];

static inline void CUDA_CB put(void *value)
{
    entries[atomic_fetch_add(&logged, 1) % LOG] = (unsigned)(uintptr_t)value;
}

// Each case should begin with this.
static inline void start(void)
{
    void *host;
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 65536));
    MUST(cuMemsetD8(device, 0, 65536));
    MUST(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0, 4096);
    words = host;
    MUST(cuMemHostGetDevicePointer(&mapped, host, 0));
}

static inline CUgraph new_graph(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}

static inline CUgraphNode add_host(CUgraph g, CUgraphNode after, unsigned value)
{
    CUgraphNode n;
    CUDA_HOST_NODE_PARAMS p = {.fn = put, .userData = (void *)(uintptr_t)value};
    MUST(cuGraphAddHostNode(&n, g, after ? &after : NULL, after != NULL, &p));
    return n;
}

static inline CUDA_MEMSET_NODE_PARAMS fill_of(unsigned word, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = device + 4 * word, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

static inline CUgraphNode add_fill(CUgraph g, CUgraphNode after, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS p = fill_of(word, value);
    MUST(cuGraphAddMemsetNode(&n, g, after ? &after : NULL, after != NULL, &p, context));
    return n;
}

static inline CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, unsigned word,
                                                 unsigned value)
{
    CUstreamBatchMemOpParams p = {.operation = type};
    if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32) {
        p.waitValue.address = mapped + 4 * word;
        p.waitValue.value = value;
        p.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    } else {
        p.writeValue.address = mapped + 4 * word;
        p.writeValue.value = value;
    }
    return p;
}

static inline CUgraphNode add_operation(CUgraph g, CUstreamBatchMemOpType type, unsigned word,
                                        unsigned value)
{
    CUgraphNode n;
    CUstreamBatchMemOpParams one = operation(type, word, value);
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {.ctx = context, .count = 1, .paramArray = &one};
    MUST(cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
    return n;
}

static inline CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

static inline unsigned word(unsigned at)
{
    unsigned v = 0;
    MUST(cuMemcpyDtoH(&v, device + 4 * at, 4));
    return v;
}

static inline void set_word(unsigned at, unsigned value)
{
    __atomic_store_n(&words[at], value, __ATOMIC_RELEASE);
}
