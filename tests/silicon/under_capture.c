// SPDX-License-Identifier: MIT
// Each call while a stream captures, in all three modes: its answer, the status of the capture
// afterwards, and how the capture ends. The calls that x_streams asks about are left out.
#include <cudaProfiler.h>

#include "record.h"

enum { SIZE = 1 << 16, GRANULE = 2 << 20 };

// Made before the capture, once for each mode: a call may use them up.
static struct {
    CUcontext context, other_context;
    CUstream stream, other;
    CUevent event, recorded;
    CUdeviceptr memory, pitched;
    void *host, *registered;
    CUarray array;
    CUmipmappedArray mipmapped;
    CUtexObject texture;
    CUsurfObject surface;
    CUmemoryPool pool;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr reserved, mapped;
    CUexternalMemory external;
    CUdeviceptr external_buffer;
    CUtexref texref;
    CUipcMemHandle ipc;
    CUgraph graph, second_graph;
    CUgraphNode node, second_node;
    CUgraphExec exec;
    CUuserObject object;
} made;

static CUarray array_of(unsigned width, unsigned flags)
{
    CUarray a = NULL;
    NEED(cuArray3DCreate(&a, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                                        .Height = 64,
                                                        .Format = CU_AD_FORMAT_FLOAT,
                                                        .NumChannels = 1,
                                                        .Flags = flags}));
    return a;
}

static CUmemGenericAllocationHandle memory_of(void)
{
    CUmemGenericAllocationHandle h;
    const CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    NEED(cuMemCreate(&h, GRANULE, &p, 0));
    return h;
}

static const CUDA_RESOURCE_DESC *resource(void)
{
    static CUDA_RESOURCE_DESC d;
    d = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = made.array};
    return &d;
}

static const CUmemPoolProps pool_props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
static const CUmemAccessDesc access_here = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
static const CUDA_TEXTURE_DESC texture_desc;

static void host_function(void *unused)
{
    (void)unused;
}

static void make(void)
{
    made.context = record_context();
    NEED(cuStreamCreate(&made.stream, 0));
    NEED(cuStreamCreate(&made.other, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&made.event, 0));
    NEED(cuEventCreate(&made.recorded, 0));
    NEED(cuEventRecord(made.recorded, made.other));
    NEED(cuMemAlloc(&made.memory, SIZE));
    NEED(cuMemHostAlloc(&made.host, SIZE, 0));
    made.registered = aligned_alloc(4096, SIZE);
    NEED(cuMemHostRegister(made.registered, SIZE, 0));
    made.array = array_of(64, CUDA_ARRAY3D_SURFACE_LDST);
    NEED(cuMipmappedArrayCreate(
        &made.mipmapped,
        &(CUDA_ARRAY3D_DESCRIPTOR){
            .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1},
        3));
    NEED(cuTexObjectCreate(&made.texture, resource(), &texture_desc, NULL));
    NEED(cuSurfObjectCreate(&made.surface, resource()));
    NEED(cuMemPoolCreate(&made.pool, &pool_props));
    made.handle = memory_of();
    NEED(cuMemAddressReserve(&made.reserved, GRANULE, 0, 0, 0));
    NEED(cuMemAddressReserve(&made.mapped, GRANULE, 0, 0, 0));
    NEED(cuMemMap(made.mapped, GRANULE, 0, made.handle, 0));
    made.external = record_external_memory(GRANULE);
    NEED(cuExternalMemoryGetMappedBuffer(&made.external_buffer, made.external,
                                         &(CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.size = SIZE}));
    NEED(cuTexRefCreate(&made.texref));
    NEED(cuIpcGetMemHandle(&made.ipc, made.memory));
    NEED(cuGraphCreate(&made.graph, 0));
    NEED(cuGraphCreate(&made.second_graph, 0));
    NEED(cuGraphAddEmptyNode(&made.node, made.graph, NULL, 0));
    NEED(cuGraphAddEmptyNode(&made.second_node, made.graph, NULL, 0));
    NEED(cuGraphInstantiate(&made.exec, made.graph, 0));
    NEED(cuUserObjectCreate(&made.object, NULL, host_function, 1,
                            CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    NEED(cuStreamSynchronize(made.other));
}

// Places for results that nobody reads.
static union {
    char bytes[4096];
    size_t size;
    int number;
    unsigned word;
    unsigned long long id;
    CUdeviceptr p;
    void *pointer;
    CUcontext context;
    CUdevice device;
    CUuuid uuid;
    CUstream stream;
    CUevent event;
    CUarray array;
    CUmipmappedArray mipmapped;
    CUtexObject texture;
    CUtexref texref;
    CUmemoryPool pool;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUuserObject object;
    CUmemGenericAllocationHandle handle;
    CUexternalMemory external;
    CUDA_ARRAY_DESCRIPTOR array_desc;
    CUDA_ARRAY3D_DESCRIPTOR array3d_desc;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture_desc;
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CUmemAllocationProp prop;
    CUmemAccess_flags access;
    CUipcMemHandle ipc;
    CUipcEventHandle ipc_event;
    CUdevprop properties;
    CUgraphNodeType type;
    CUfunc_cache cache;
    CUsharedconfig shared;
    CUfilter_mode filter;
    CUaddress_mode address;
    CUarray_format format;
    CUstreamAttrValue attribute;
    CUstreamCaptureMode mode;
    CUgraphInstantiateResult result;
    cuuint64_t value;
    float real;
} out;
static size_t second_size;
static int second_number;
static const char *text;
static CUgraphExecUpdateResultInfo update_info;

#define CALLS(X)                                                                                   \
    X(cuGetErrorString(CUDA_SUCCESS, &text))                                                       \
    X(cuInit(0))                                                                                   \
    X(cuDriverGetVersion(&out.number))                                                             \
    X(cuDeviceGet(&out.device, 0))                                                                 \
    X(cuDeviceGetCount(&out.number))                                                               \
    X(cuDeviceGetName(out.bytes, 100, 0))                                                          \
    X(cuDeviceGetUuid(&out.uuid, 0))                                                               \
    X(cuDeviceTotalMem(&out.size, 0))                                                              \
    X(cuDeviceGetAttribute(&out.number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0))                         \
    X(cuDeviceGetMemPool(&out.pool, 0))                                                            \
    X(cuDeviceGetDefaultMemPool(&out.pool, 0))                                                     \
    X(cuDeviceSetMemPool(0, made.pool))                                                            \
    X(cuDeviceGetPCIBusId(out.bytes, 100, 0))                                                      \
    X(cuDeviceGetProperties(&out.properties, 0))                                                   \
    X(cuDeviceCanAccessPeer(&out.number, 0, 0))                                                    \
    X(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &out.value))             \
    X(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &out.value))                \
    X(cuDeviceGraphMemTrim(0))                                                                     \
    X(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,               \
                                 CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER))                        \
    X(cuDevicePrimaryCtxRetain(&out.context, 0))                                                   \
    X(cuDevicePrimaryCtxRelease(0))                                                                \
    X(cuDevicePrimaryCtxGetState(0, &out.word, &second_number))                                    \
    X(cuDevicePrimaryCtxSetFlags(0, 0))                                                            \
    X(cuCtxCreate(&out.context, NULL, 0, 0))                                                       \
    X(cuCtxPushCurrent(made.context))                                                              \
    X(cuCtxPopCurrent(&out.context))                                                               \
    X(cuCtxSetCurrent(made.context))                                                               \
    X(cuCtxSetCurrent(NULL))                                                                       \
    X(cuCtxGetCurrent(&out.context))                                                               \
    X(cuCtxGetDevice(&out.device))                                                                 \
    X(cuCtxGetFlags(&out.word))                                                                    \
    X(cuCtxSetFlags(0))                                                                            \
    X(cuCtxGetId(NULL, &out.id))                                                                   \
    X(cuCtxGetCacheConfig(&out.cache))                                                             \
    X(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE))                                              \
    X(cuCtxGetApiVersion(NULL, &out.word))                                                         \
    X(cuCtxGetStreamPriorityRange(&out.number, &second_number))                                    \
    X(cuCtxRecordEvent(made.context, made.event))                                                  \
    X(cuCtxWaitEvent(made.context, made.recorded))                                                 \
    X(cuCtxResetPersistingL2Cache())                                                               \
    X(cuCtxGetLimit(&out.size, CU_LIMIT_STACK_SIZE))                                               \
    X(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024))                                                    \
    X(cuCtxEnablePeerAccess(made.context, 0))                                                      \
    X(cuMemAllocPitch(&out.p, &second_size, 100, 4, 4))                                            \
    X(cuMemAlloc(&out.p, 0))                                                                       \
    X(cuMemFree(0))                                                                                \
    X(cuMemGetAddressRange(&out.p, &second_size, made.memory))                                     \
    X(cuMemHostGetDevicePointer(&out.p, made.host, 0))                                             \
    X(cuMemHostGetFlags(&out.word, made.host))                                                     \
    X(cuMemHostRegister(out.bytes, 100, 0))                                                        \
    X(cuMemHostUnregister(made.registered))                                                        \
    X(cuIpcGetEventHandle(&out.ipc_event, made.event))                                             \
    X(cuIpcGetMemHandle(&out.ipc, made.memory))                                                    \
    X(cuIpcOpenMemHandle(&out.p, made.ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))                    \
    X(cuIpcCloseMemHandle(made.memory))                                                            \
    X(cuArrayCreate(&out.array, &(CUDA_ARRAY_DESCRIPTOR){64, 64, CU_AD_FORMAT_FLOAT, 1}))          \
    X(cuArray3DCreate(&out.array,                                                                  \
                      &(CUDA_ARRAY3D_DESCRIPTOR){64, 64, 4, CU_AD_FORMAT_FLOAT, 1, 0}))            \
    X(cuArrayGetDescriptor(&out.array_desc, made.array))                                           \
    X(cuArray3DGetDescriptor(&out.array3d_desc, made.array))                                       \
    X(cuArrayGetMemoryRequirements(&out.requirements, made.array, 0))                              \
    X(cuArrayGetPlane(&out.array, made.array, 0))                                                  \
    X(cuArrayDestroy(made.array))                                                                  \
    X(cuMipmappedArrayCreate(&out.mipmapped,                                                       \
                             &(CUDA_ARRAY3D_DESCRIPTOR){64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 2))  \
    X(cuMipmappedArrayGetLevel(&out.array, made.mipmapped, 0))                                     \
    X(cuMipmappedArrayDestroy(made.mipmapped))                                                     \
    X(cuMemcpyHtoA(made.array, 0, out.bytes, 64))                                                  \
    X(cuMemcpyAtoH(out.bytes, made.array, 0, 64))                                                  \
    X(cuMemcpy(made.memory, made.memory + 4096, 64))                                               \
    X(cuMemcpyAsync(made.memory, made.memory + 4096, 64, made.stream))                             \
    X(cuMemcpyAsync(made.memory, made.memory + 4096, 64, made.other))                              \
    X(cuMemcpyHtoDAsync(made.memory, out.bytes, 64, made.stream))                                  \
    X(cuMemcpyDtoHAsync(out.bytes, made.memory, 64, made.stream))                                  \
    X(cuMemcpyHtoAAsync(made.array, 0, made.host, 64, made.stream))                                \
    X(cuMemsetD2D8(made.memory, 64, 1, 32, 4))                                                     \
    X(cuMemsetD2D32Async(made.memory, 64, 1, 4, 4, made.stream))                                   \
    X(cuMemsetD8Async(made.memory, 1, 0, made.stream))                                             \
    X(cuMemFreeAsync(made.memory, made.stream))                                                    \
    X(cuMemAllocFromPoolAsync(&out.p, 100, made.pool, made.stream))                                \
    X(cuMemAddressReserve(&out.p, GRANULE, 0, 0, 0))                                               \
    X(cuMemAddressFree(made.reserved, GRANULE))                                                    \
    X(cuMemCreate(&out.handle, GRANULE, &out.prop, 0))                                             \
    X(cuMemMap(made.reserved, GRANULE, 0, made.handle, 0))                                         \
    X(cuMemSetAccess(made.mapped, GRANULE, &access_here, 1))                                       \
    X(cuMemGetAccess(&out.id, &here, made.mapped))                                                 \
    X(cuMemUnmap(made.mapped, GRANULE))                                                            \
    X(cuMemRelease(made.handle))                                                                   \
    X(cuMemExportToShareableHandle(&out.number, made.handle,                                       \
                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))                   \
    X(cuMemImportFromShareableHandle(&out.handle, (void *)(intptr_t)-1,                            \
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))                    \
    X(cuMemGetAllocationPropertiesFromHandle(&out.prop, made.handle))                              \
    X(cuMemRetainAllocationHandle(&out.handle, (void *)made.mapped))                               \
    X(cuMemPoolCreate(&out.pool, &pool_props))                                                     \
    X(cuMemPoolTrimTo(made.pool, 0))                                                               \
    X(cuMemPoolGetAttribute(made.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &out.value))             \
    X(cuMemPoolSetAttribute(made.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &out.value))             \
    X(cuMemPoolSetAccess(made.pool, &access_here, 1))                                              \
    X(cuMemPoolGetAccess(&out.access, made.pool, (CUmemLocation *)&here))                          \
    X(cuMemPoolDestroy(made.pool))                                                                 \
    X(cuMemGetHandleForAddressRange(&out.number, made.mapped, GRANULE,                             \
                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0))                       \
    X(cuPointerGetAttribute(&out.context, CU_POINTER_ATTRIBUTE_CONTEXT, made.memory))              \
    X(cuPointerSetAttribute(&(int){0}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, made.memory))             \
    X(cuStreamCreateWithPriority(&out.stream, 0, 0))                                               \
    X(cuStreamGetPriority(made.stream, &out.number))                                               \
    X(cuStreamGetFlags(made.stream, &out.word))                                                    \
    X(cuStreamGetId(made.stream, &out.id))                                                         \
    X(cuStreamGetCtx(made.stream, &out.context))                                                   \
    X(cuStreamGetId(NULL, &out.id))                                                                \
    X(cuStreamGetCtx(NULL, &out.context))                                                          \
    X(cuStreamGetPriority(NULL, &out.number))                                                      \
    X(cuStreamCopyAttributes(made.other, made.stream))                                             \
    X(cuStreamGetAttribute(made.stream, CU_STREAM_ATTRIBUTE_PRIORITY, &out.attribute))             \
    X(cuStreamSetAttribute(made.stream, CU_STREAM_ATTRIBUTE_PRIORITY, &out.attribute))             \
    X(cuStreamAttachMemAsync(made.stream, made.memory, 0, CU_MEM_ATTACH_SINGLE))                   \
    X(cuEventRecord(made.event, made.stream))                                                      \
    X(cuEventRecord(made.event, made.other))                                                       \
    X(cuEventRecordWithFlags(made.event, made.stream, CU_EVENT_RECORD_EXTERNAL))                   \
    X(cuEventQuery(made.recorded))                                                                 \
    X(cuEventSynchronize(made.recorded))                                                           \
    X(cuEventElapsedTime(&out.real, made.recorded, made.recorded))                                 \
    X(cuStreamWaitEvent(made.stream, made.recorded, 0))                                            \
    X(cuStreamWaitEvent(made.other, made.recorded, 0))                                             \
    X(cuLaunchHostFunc(made.stream, host_function, NULL))                                          \
    X(cuLaunchHostFunc(made.other, host_function, NULL))                                           \
    X(cuStreamWriteValue32(made.stream, made.memory, 1, 0))                                        \
    X(cuImportExternalMemory(&out.external, &(CUDA_EXTERNAL_MEMORY_HANDLE_DESC){0}))               \
    X(cuExternalMemoryGetMappedBuffer(&out.p, made.external,                                       \
                                      &(CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.size = 4096}))          \
    X(cuExternalMemoryGetMappedMipmappedArray(                                                     \
        &out.mipmapped, made.external,                                                             \
        &(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC){                                              \
            .arrayDesc = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, .numLevels = 1}))                  \
    X(cuDestroyExternalMemory(made.external))                                                      \
    X(cuTexObjectCreate(&out.texture, resource(), &texture_desc, NULL))                            \
    X(cuTexObjectGetResourceDesc(&out.resource, made.texture))                                     \
    X(cuTexObjectDestroy(made.texture))                                                            \
    X(cuSurfObjectCreate(&out.texture, resource()))                                                \
    X(cuSurfObjectDestroy(made.surface))                                                           \
    X(cuTexRefCreate(&out.texref))                                                                 \
    X(cuTexRefSetArray(made.texref, made.array, CU_TRSA_OVERRIDE_FORMAT))                          \
    X(cuTexRefSetFlags(made.texref, 0))                                                            \
    X(cuTexRefGetFlags(&out.word, made.texref))                                                    \
    X(cuTexRefDestroy(made.texref))                                                                \
    X(cuGraphCreate(&out.graph, 0))                                                                \
    X(cuGraphAddEmptyNode(&out.node, made.graph, NULL, 0))                                         \
    X(cuGraphClone(&out.graph, made.graph))                                                        \
    X(cuGraphGetNodes(made.graph, NULL, &second_size))                                             \
    X(cuGraphNodeGetType(made.node, &out.type))                                                    \
    X(cuGraphDestroyNode(made.node))                                                               \
    X(cuGraphInstantiate(&out.exec, made.graph, 0))                                                \
    X(cuGraphExecUpdate(made.exec, made.graph, &update_info))                                      \
    X(cuGraphUpload(made.exec, made.stream))                                                       \
    X(cuGraphUpload(made.exec, made.other))                                                        \
    X(cuGraphLaunch(made.exec, made.stream))                                                       \
    X(cuGraphLaunch(made.exec, made.other))                                                        \
    X(cuGraphLaunch(made.exec, NULL))                                                              \
    X(cuGraphExecDestroy(made.exec))                                                               \
    X(cuGraphDestroy(made.second_graph))                                                           \
    X(cuUserObjectCreate(&out.object, NULL, host_function, 1, 1))                                  \
    X(cuUserObjectRetain(made.object, 1))                                                          \
    X(cuUserObjectRelease(made.object, 1))                                                         \
    X(cuGraphRetainUserObject(made.graph, made.object, 1, 0))                                      \
    X(cuThreadExchangeStreamCaptureMode(&out.mode))                                                \
    X(cuProfilerStart())                                                                           \
    X(cuProfilerStop())

static const char *const names[] = {
#define X(call) #call,
    CALLS(X)
#undef X
};

static CUresult call(int number)
{
    int at = 0;
#define X(call)                                                                                    \
    if (number == at++)                                                                            \
        return call;
    CALLS(X)
#undef X
    return CUDA_ERROR_UNKNOWN;
}

static void under(int number, CUstreamCaptureMode mode)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    CUgraph graph = NULL;
    size_t nodes = 77;
    memset(&out, 0, sizeof out);
    out.prop = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    make();
    NEED(cuStreamBeginCapture(made.stream, mode));
    SAY("%d:%s", (int)mode, record_brief(call(number)));
    CUcontext current = NULL;
    cuCtxGetCurrent(&current);
    if (current != made.context)
        cuCtxSetCurrent(made.context);
    CUresult r = cuStreamIsCapturing(made.stream, &status);
    SAY(",%s,%d", record_brief(r), (int)status);
    r = cuStreamEndCapture(made.stream, &graph);
    SAY(",%s", record_brief(r));
    if (!r && graph) {
        cuGraphGetNodes(graph, NULL, &nodes);
        SAY(",%zu", nodes);
    }
    SAY(" ");
}

GROUP(calls)
{
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (int mode = 0; mode < 3; mode++) {
            char name[80];
            snprintf(name, sizeof name, "%.60s", names[i]);
            for (char *c = name; *c; c++)
                if (*c == '|' || *c == '/')
                    *c = '-';
            if (CASE("%u-%d-%s", i, mode, name))
                under((int)i, (CUstreamCaptureMode)mode);
        }
}

int main(int argc, char **argv)
{
    RUN(calls);
    return 0;
}
