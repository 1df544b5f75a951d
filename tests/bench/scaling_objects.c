// SPDX-License-Identifier: MIT
// Kinds of objects with handles for scaling.c.
#include "scaling.h"

#include "calls.h"

static CUresult event_create(int i)
{
    return cuEventCreate((CUevent *)&scaling_handle[i], CU_EVENT_DISABLE_TIMING);
}

static CUresult event_use(int i)
{
    return cuEventRecord((CUevent)(uintptr_t)scaling_handle[i], NULL);
}

static CUresult event_look_up(int i)
{
    return cuEventQuery((CUevent)(uintptr_t)scaling_handle[i]);
}

static CUresult event_destroy(int i)
{
    return cuEventDestroy((CUevent)(uintptr_t)scaling_handle[i]);
}

static CUresult shared_event_create(int i)
{
    return cuEventCreate((CUevent *)&scaling_handle[i],
                         CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
}

static CUdeviceptr scratch;

static void stream_start(int count)
{
    MUST(cuMemAlloc(&scratch, 4096));
}

static CUresult stream_create(int i)
{
    return cuStreamCreate((CUstream *)&scaling_handle[i], CU_STREAM_NON_BLOCKING);
}

static CUresult stream_use(int i)
{
    return cuMemsetD32Async(scratch, 1, 1, (CUstream)(uintptr_t)scaling_handle[i]);
}

static CUresult stream_look_up(int i)
{
    return cuStreamQuery((CUstream)(uintptr_t)scaling_handle[i]);
}

static CUresult stream_destroy(int i)
{
    return cuStreamDestroy((CUstream)(uintptr_t)scaling_handle[i]);
}

// Streams that wait for the legacy default stream and it for them; using one submits to the legacy
// default stream.
static CUresult blocking_create(int i)
{
    return cuStreamCreate((CUstream *)&scaling_handle[i], CU_STREAM_DEFAULT);
}

static CUresult blocking_use(int i)
{
    return cuMemsetD32Async(scratch, 1, 1, CU_STREAM_LEGACY);
}

static CUresult synchronize_use(int i)
{
    return cuCtxSynchronize();
}

static CUresult array_create(int i)
{
    CUDA_ARRAY_DESCRIPTOR d = {4, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    return cuArrayCreate((CUarray *)&scaling_handle[i], &d);
}

static CUresult array_use(int i)
{
    unsigned texel = 1;
    return cuMemcpyHtoA((CUarray)(uintptr_t)scaling_handle[i], 0, &texel, sizeof texel);
}

static CUresult array_look_up(int i)
{
    CUDA_ARRAY_DESCRIPTOR d;
    return cuArrayGetDescriptor(&d, (CUarray)(uintptr_t)scaling_handle[i]);
}

static CUresult array_destroy(int i)
{
    return cuArrayDestroy((CUarray)(uintptr_t)scaling_handle[i]);
}

static CUDA_RESOURCE_DESC resource;

static void texture_start(int count)
{
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    MUST(array_create(0));
    resource.res.array.hArray = (CUarray)(uintptr_t)scaling_handle[0];
}

static CUresult texture_create(int i)
{
    CUDA_TEXTURE_DESC d = {.filterMode = CU_TR_FILTER_MODE_POINT};
    return cuTexObjectCreate((CUtexObject *)&scaling_handle[i], &resource, &d, NULL);
}

static CUresult texture_look_up(int i)
{
    CUDA_RESOURCE_DESC d;
    return cuTexObjectGetResourceDesc(&d, scaling_handle[i]);
}

static CUresult texture_destroy(int i)
{
    return cuTexObjectDestroy(scaling_handle[i]);
}

static CUresult mipmap_create(int i)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 4, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    return cuMipmappedArrayCreate((CUmipmappedArray *)&scaling_handle[i], &d, 3);
}

static CUresult mipmap_use(int i)
{
    CUarray level;
    return cuMipmappedArrayGetLevel(&level, (CUmipmappedArray)(uintptr_t)scaling_handle[i], 1);
}

static CUresult mipmap_destroy(int i)
{
    return cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)scaling_handle[i]);
}

static void surface_start(int count)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 4,
                                 .Height = 4,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = 4,
                                 .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    MUST(cuArray3DCreate(&resource.res.array.hArray, &d));
}

static CUresult surface_create(int i)
{
    return cuSurfObjectCreate((CUsurfObject *)&scaling_handle[i], &resource);
}

static CUresult surface_look_up(int i)
{
    CUDA_RESOURCE_DESC d;
    return cuSurfObjectGetResourceDesc(&d, scaling_handle[i]);
}

static CUresult surface_destroy(int i)
{
    return cuSurfObjectDestroy(scaling_handle[i]);
}

static CUcontext home;

static void context_start(int count)
{
    MUST(cuCtxGetCurrent(&home));
}

static CUresult context_create(int i)
{
    CUcontext c;
    CUresult r = cuCtxCreate(&c, NULL, 0, 0);
    scaling_handle[i] = (uintptr_t)c;
    return r ? r : cuCtxPopCurrent(&c);
}

static CUresult context_use(int i)
{
    CUresult r = cuCtxSetCurrent((CUcontext)(uintptr_t)scaling_handle[i]);
    return r ? r : cuCtxSetCurrent(home);
}

static CUresult context_look_up(int i)
{
    unsigned version;
    return cuCtxGetApiVersion((CUcontext)(uintptr_t)scaling_handle[i], &version);
}

static CUresult context_destroy(int i)
{
    return cuCtxDestroy((CUcontext)(uintptr_t)scaling_handle[i]);
}

const struct scaling_kind scaling_objects[] = {
    {"event", NULL, event_create, event_use, event_look_up, event_destroy, 1},
    {"event shared between processes", NULL, shared_event_create, event_use, event_look_up,
     event_destroy, 1},
    {"stream (non-blocking)", stream_start, stream_create, stream_use, stream_look_up,
     stream_destroy, 1},
    {"stream (use: legacy stream)", stream_start, blocking_create, blocking_use, stream_look_up,
     stream_destroy, 1},
    {"stream (use: cuCtxSynchronize)", stream_start, blocking_create, synchronize_use,
     stream_look_up, stream_destroy, 1},
    {"array", NULL, array_create, array_use, array_look_up, array_destroy, 1},
    {"mipmapped array", NULL, mipmap_create, mipmap_use, NULL, mipmap_destroy, 1},
    {"texture object", texture_start, texture_create, NULL, texture_look_up, texture_destroy, 1},
    {"surface object", surface_start, surface_create, NULL, surface_look_up, surface_destroy, 1},
    {"context", context_start, context_create, context_use, context_look_up, context_destroy, 0},
    {0},
};
