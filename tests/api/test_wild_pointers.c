// SPDX-License-Identifier: MIT
// Wild pointers and counts inside descriptors: the call should fail with a sentence, and should not
// fault.
#include <pthread.h>
#include <sys/mman.h>

#include "kernel_text.h"

// No memory is mapped at the first, and the second is not a valid address.
#define WILD ((void *)(uintptr_t)0x12345000)
#define NO_ADDRESS ((void *)(uintptr_t)0xf123456789abcdef)

static CUcontext start(void)
{
    CUcontext context;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    return context;
}

TEST(set_access)
{
    start();
    const size_t size = 2 << 20;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr p;
    EXPECT_OK(cuMemAddressReserve(&p, size, 0, 0, 0));
    EXPECT_OK(cuMemCreate(&memory, size, &prop, 0));
    EXPECT_OK(cuMemMap(p, size, 0, memory, 0));
    EXPECT_ERROR(cuMemSetAccess(p, size, WILD, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, NO_ADDRESS, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, (size_t)1 << 60), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, (size_t)1 << 40), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8(p, 1, size),
                 CUDA_ERROR_INVALID_VALUE); // access has not been enabled for any of them
    EXPECT_OK(cuMemSetAccess(p, size, &access, 1));
    EXPECT_OK(cuMemsetD8(p, 1, size));
}

TEST(pointer_attributes)
{
    start();
    CUdeviceptr p;
    unsigned type = 0, ordinal = 77;
    EXPECT_OK(cuMemAlloc(&p, 4096));
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&type, WILD};
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = NO_ADDRESS;
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = (void *)"constant";
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(UINT32_MAX, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(2, WILD, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, WILD, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = &ordinal;
    EXPECT_OK(cuPointerGetAttributes(2, attributes, data, p));
    EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(ordinal, 0);
}

TEST(range_attributes)
{
    start();
    CUdeviceptr p;
    int value;
    EXPECT_OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    CUmem_range_attribute attribute = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    void *data = WILD;
    size_t size = sizeof value;
    EXPECT_ERROR(cuMemRangeGetAttributes(&data, &size, &attribute, 1, p, 4096),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttributes(&data, &size, WILD, 1, p, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(NO_ADDRESS, 4, attribute, p, 4096),
                 CUDA_ERROR_INVALID_VALUE);
    data = &value;
    EXPECT_OK(cuMemRangeGetAttributes(&data, &size, &attribute, 1, p, 4096));
}

TEST(context_parameters)
{
    EXPECT_OK(cuInit(0));
    CUcontext context;
    CUctxCreateParams params = {.execAffinityParams = WILD, .numExecAffinityParams = 1};
    EXPECT_ERROR(cuCtxCreate(&context, &params, 0, 0), CUDA_ERROR_INVALID_VALUE);
    params = (CUctxCreateParams){.cigParams = NO_ADDRESS};
    EXPECT_ERROR(cuCtxCreate(&context, &params, 0, 0), CUDA_ERROR_INVALID_VALUE);
    params = (CUctxCreateParams){0};
    EXPECT_OK(cuCtxCreate(&context, &params, 0, 0));
}

TEST(batches)
{
    start();
    CUdeviceptr p;
    CUstream stream;
    size_t size = 64, index = 0;
    EXPECT_OK(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuStreamCreate(&stream, 0));
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUdeviceptr from = p + 1024;
    EXPECT_ERROR(cuMemcpyBatchAsync(WILD, &from, &size, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, WILD, &size, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, WILD, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, &size, 1, WILD, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, &size, 1, &attributes, WILD, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(
        cuMemcpyBatchAsync(&p, &from, &size, (size_t)1 << 59, &attributes, &index, 1, stream),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyBatchAsync(&p, &from, &size, 1, &attributes, &index, 1, stream));
    EXPECT_ERROR(cuMemcpy3DBatchAsync(3, WILD, 0, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(stream, 3, WILD, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMapArrayAsync(WILD, 3, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuStreamSynchronize(stream));
}

static const char two_numbers[] = PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b)\n"
                                           "{\n  ret;\n}\n";

// The parameters and attributes of a launch, and of a kernel's node.
TEST(launches)
{
    start();
    int clusters;
    CUgraph graph;
    CUgraphNode node;
    CUfunction f = ptx_kernel(ptx_load(two_numbers), "k");
    const uint64_t number = 1;
    size_t size_B = 2 * sizeof number;
    void *parameters[] = {(void *)&number, WILD},
         *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, NO_ADDRESS, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size_B, CU_LAUNCH_PARAM_END},
         *size[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, WILD, CU_LAUNCH_PARAM_END};
    void **const lists[] = {WILD, NO_ADDRESS, parameters};
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        CUDA_KERNEL_NODE_PARAMS p = {f, 1, 1, 1, 1, 1, 1, 0, lists[i], NULL, NULL, NULL};
        EXPECT_MESSAGE(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, lists[i], NULL),
                       CUDA_ERROR_INVALID_VALUE, "cannot be read");
        EXPECT_MESSAGE(cuGraphAddKernelNode(&node, graph, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE,
                       "cannot be read");
    }
    void **const extras[] = {WILD, extra, size};
    for (unsigned i = 0; i < sizeof extras / sizeof *extras; i++)
        EXPECT_MESSAGE(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extras[i]),
                       CUDA_ERROR_INVALID_VALUE, "cannot be read");
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, WILD, 1};
    parameters[1] = (void *)&number;
    EXPECT_MESSAGE(cuLaunchKernelEx(&config, f, parameters, NULL), CUDA_ERROR_INVALID_VALUE,
                   "config->attrs");
    EXPECT_MESSAGE(cuOccupancyMaxActiveClusters(&clusters, f, &config), CUDA_ERROR_INVALID_VALUE,
                   "config->attrs");
    config.numAttrs = 0;
    EXPECT_OK(cuLaunchKernelEx(&config, f, parameters, NULL));
    EXPECT_OK(cuCtxSynchronize());
}

// Lists inside of the parameters of nodes.
TEST(nodes)
{
    CUcontext context = start();
    CUgraph graph;
    CUgraphNode node;
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.flags = 0};
    MUST(cuGraphCreate(&graph, 0));
    CUDA_BATCH_MEM_OP_NODE_PARAMS operations = {.ctx = context, .count = 2, .paramArray = WILD};
    EXPECT_MESSAGE(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &operations),
                   CUDA_ERROR_INVALID_VALUE, "paramArray");
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals = {WILD, &signal, 1};
    EXPECT_MESSAGE(cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, &signals),
                   CUDA_ERROR_INVALID_VALUE, "extSemArray");
    signals = (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS){&semaphore, NO_ADDRESS, 1};
    EXPECT_MESSAGE(cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, &signals),
                   CUDA_ERROR_INVALID_VALUE, "paramsArray");
    const CUmemPoolProps pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = pool, .accessDescs = WILD, .accessDescCount = 1, .bytesize = 4096};
    EXPECT_MESSAGE(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory), CUDA_ERROR_INVALID_VALUE,
                   "accessDescs");
    CUDA_EXT_SEM_WAIT_NODE_PARAMS waits = {&semaphore, WILD, 1};
    EXPECT_MESSAGE(cuGraphAddExternalSemaphoresWaitNode(&node, graph, NULL, 0, &waits),
                   CUDA_ERROR_INVALID_VALUE, "paramsArray");
}

// Values whose type another argument selects.
TEST(values)
{
    start();
    CUdeviceptr p;
    CUmemoryPool pool;
    MUST(cuMemAlloc(&p, 4096));
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_MESSAGE(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, WILD),
                   CUDA_ERROR_INVALID_VALUE, "value");
    EXPECT_MESSAGE(cuPointerSetAttribute(WILD, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
                   CUDA_ERROR_INVALID_VALUE, "value");
    EXPECT_MESSAGE(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NO_ADDRESS),
                   CUDA_ERROR_INVALID_VALUE, "value");
}

// The driver detects a count that is far too large, and a small array that is not there, even if
// the thread blocks all signals.
static void *with_blocked_signals(void *context)
{
    sigset_t all;
    CUgraphicsResource resource = NULL;
    CUmodule module;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    MUST(cuCtxSetCurrent(context));
    EXPECT_ERROR(cuGraphicsMapResources(UINT32_MAX, &resource, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(3, WILD, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(NULL, 3, WILD, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleLoadData(&module, WILD), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

TEST(blocked_signals)
{
    start();
    pthread_t thread;
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    EXPECT_EQ(pthread_create(&thread, NULL, with_blocked_signals, context), 0);
    pthread_join(thread, NULL);
}

// A page before one that is not mapped.
static char *last_page(void)
{
    enum { PAGE_B = 4096 };
    char *pages =
        mmap(NULL, 2 * PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(pages != MAP_FAILED);
    EXPECT_EQ(munmap(pages + PAGE_B, PAGE_B), 0);
    return pages + PAGE_B;
}

// Texts without a final 0 before the end of the memory.
TEST(endless_texts)
{
    start();
    CUdevice device;
    CUmodule module;
    CUlibrary library;
    CUdeviceptr address;
    CUfunction function;
    size_t size_B;
    const char *text = memset(last_page() - 6, 'x', 6);
    EXPECT_ERROR(cuDeviceGetByPCIBusId(&device, text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleLoad(&module, text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLibraryLoadFromFile(&library, text, NULL, NULL, 0, NULL, NULL, 0),
                 CUDA_ERROR_INVALID_VALUE);
    module = ptx_load(PTX_HEAD ".visible .entry k()\n{\n  ret;\n}\n");
    EXPECT_ERROR(cuModuleGetFunction(&function, module, text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleGetGlobal(&address, &size_B, module, text), CUDA_ERROR_INVALID_VALUE);
}

// Memory for a result that ends before the result does.
TEST(short_memory)
{
    start();
    char *end = last_page();
    enum { WHOLE = sizeof "0000:00:00.0" };
    EXPECT_OK(cuDeviceGetPCIBusId(end - WHOLE, WHOLE, 0));
    EXPECT_EQ(strlen(end - WHOLE), WHOLE - 1);
    EXPECT_OK(cuDeviceGetPCIBusId(end - WHOLE, 1000, 0)); // more than is written
    memset(end - 6, 'x', 6);
    EXPECT_ERROR(cuDeviceGetPCIBusId(end - 6, WHOLE, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetName(end - 6, 100, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(!memcmp(end - 6, "xxxxxx", 6));

    CUmemoryPool pool;
    EXPECT_OK(cuDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_ERROR(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, end - 4),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, end - 4));
    EXPECT_ERROR(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, end - 4),
                 CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(set_access), CASE(pointer_attributes), CASE(range_attributes), CASE(context_parameters),
      CASE(batches), CASE(launches), CASE(nodes), CASE(values), CASE(blocked_signals),
      CASE(endless_texts), CASE(short_memory))
