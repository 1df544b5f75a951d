// SPDX-License-Identifier: MIT
// The manual's chapter "Event Management". Handles of events are the driver's.
#include "rt.h"

cudaError_t rt_cudaEventCreate(cudaEvent_t *event)
{
    return rt_error(rt_cu.cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t rt_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return rt_error(rt_cu.cuEventCreate(event, flags));
}

cudaError_t rt_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return rt_error(rt_cu.cuEventRecord(event, stream));
}

cudaError_t rt_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return rt_error(rt_cu.cuEventRecordWithFlags(event, stream, flags));
}

// An event knows its context, so a thread may ask for it and wait for it without one
// (recorded: lazy/EventQuery-null, contexts/event-of-other-context).
cudaError_t rt_cudaEventQuery(cudaEvent_t event)
{
    return rt_error(rt_cu.cuEventQuery(event));
}

cudaError_t rt_cudaEventSynchronize(cudaEvent_t event)
{
    return rt_error(rt_cu.cuEventSynchronize(event));
}

cudaError_t rt_cudaEventDestroy(cudaEvent_t event)
{
    return rt_error(rt_cu.cuEventDestroy(event));
}

cudaError_t rt_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return rt_error(rt_cu.cuEventElapsedTime(ms, start, end));
}
