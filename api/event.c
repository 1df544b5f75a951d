// SPDX-License-Identifier: MIT
// The manual's chapter "Event Management", and events between processes and of whole contexts.
#include "api_bodies.h"
#include "call.h"
#include "capture.h"
#include "captured.h"
#include "event.h"
#include "stream.h"

CUresult api_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (Flags & ~known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags (%#x) contain unknown bits (%#x)", Flags,
                       Flags & ~known);
    // "CU_EVENT_INTERPROCESS must be specified along with CU_EVENT_DISABLE_TIMING".
    if ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "CU_EVENT_INTERPROCESS needs CU_EVENT_DISABLE_TIMING too");
    return em_event_create(em_self.current, Flags, phEvent);
}

CUresult api_cuEventDestroy_v2(CUevent hEvent)
{
    struct em_event *e;
    CUresult r = em_event_get(hEvent, &e); // returns the error of a failed context
    if (r)
        return r;
    em_event_put(e);
    return em_event_destroy(hEvent);
}

CUresult api_cuEventRecord(CUevent hEvent, struct em_stream *hStream)
{
    return api_cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult api_cuEventRecordWithFlags(CUevent hEvent, struct em_stream *hStream, unsigned int flags)
{
    struct em_event *e;
    CUresult r = em_event_get(hEvent, &e);
    if (r)
        return r;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "unknown flags (%#x); the only valid flag is CU_EVENT_RECORD_EXTERNAL (0x1)",
                    flags);
    // "CU_EVENT_RECORD_EXTERNAL: … This flag is invalid outside of stream capture."
    else if (flags && !em_stream_is_captured(hStream))
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE,
                    "CU_EVENT_RECORD_EXTERNAL is valid only in a stream that is being captured");
    else if (flags)
        r = em_capture->add(hStream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                          .eventRecord = {hEvent}});
    else
        r = em_event_record(e, hStream);
    em_event_put(e);
    return r;
}

CUresult api_cuStreamWaitEvent(struct em_stream *hStream, CUevent hEvent, unsigned int Flags)
{
    struct em_event *e;
    if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "unknown flags (%#x); the only valid flag is CU_EVENT_WAIT_EXTERNAL (0x1)",
                       Flags);
    CUresult r = em_event_get(hEvent, &e);
    if (r) {
        if (em_stream_is_captured(hStream)) // (recorded: graph_rules, failing)
            em_capture->invalidate(hStream);
        return r;
    }
    if (Flags && __atomic_load_n(&e->captured, __ATOMIC_ACQUIRE))
        r = em_capture->check_record(e, hStream);
    // "CU_EVENT_WAIT_EXTERNAL: … This flag is invalid outside of stream capture."
    if (r)
        ; // the event has the error
    else if (Flags && !em_stream_is_captured(hStream))
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE,
                    "CU_EVENT_WAIT_EXTERNAL is valid only in a stream that is being captured");
    else if (Flags)
        r = em_capture->add(hStream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                                          .eventWait = {hEvent}});
    else
        r = em_event_wait(e, hStream);
    em_event_put(e);
    return r;
}

// If the event's record was captured, em_event_query and em_event_synchronize say so. This comes
// before the rule for the call (recorded: cuEventQuery-captured).
static CUresult check_capture(const struct em_event *e)
{
    if (__atomic_load_n(&e->captured, __ATOMIC_ACQUIRE))
        return CUDA_SUCCESS;
    return em_capture_check(em_self.entry->capture, NULL);
}

CUresult api_cuEventQuery(CUevent hEvent)
{
    struct em_event *e;
    CUresult r = em_event_get(hEvent, &e);
    if (r)
        return r;
    r = check_capture(e);
    if (!r)
        r = em_event_query(e);
    em_event_put(e);
    return r;
}

CUresult api_cuEventSynchronize(CUevent hEvent)
{
    struct em_event *e;
    CUresult r = em_event_get(hEvent, &e);
    if (r)
        return r;
    r = check_capture(e);
    if (!r)
        r = em_event_synchronize(e);
    em_event_put(e);
    return r;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end)
{
    struct em_event *a, *b;
    CUresult r = em_event_get(start, &a);
    if (r)
        return r;
    r = em_event_get(end, &b);
    if (!r) {
        r = em_event_elapsed(a, b, milliseconds);
        em_event_put(b);
    }
    em_event_put(a);
    return r;
}

CUresult api_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

CUresult api_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

// ---- all streams of a context ----

static CUresult with_context(CUcontext context, CUevent event,
                             CUresult (*act)(struct em_event *, struct em_context *))
{
    struct em_context *c;
    struct em_event *e;
    if (!context)
        return em_fail(CUDA_ERROR_INVALID_CONTEXT, "hCtx is NULL");
    CUresult r = em_context_get(context, CUDA_ERROR_INVALID_CONTEXT, &c);
    if (r)
        return r;
    r = em_event_get(event, &e);
    if (!r) {
        // "The API will return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the specified context hCtx
        // has a stream in the capture mode. In such a case, the call will invalidate all the
        // conflicting captures."
        r = em_capture_check_context(em_self.entry->capture, c);
        if (!r)
            r = act(e, c);
        em_event_put(e);
    }
    em_context_put(c);
    return r;
}

CUresult api_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    return with_context(hCtx, hEvent, em_event_record_context);
}

CUresult api_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    return with_context(hCtx, hEvent, em_event_wait_context);
}

// ---- between processes ----

CUresult api_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    struct em_event *e;
    CUresult r = em_event_get(event, &e);
    if (r)
        return r;
    r = em_event_export(e, pHandle);
    em_event_put(e);
    return r;
}

CUresult api_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    return em_event_import(em_self.current, &handle, phEvent);
}
