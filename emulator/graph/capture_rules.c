// SPDX-License-Identifier: MIT
// The rules of the column `capture` of api/table/driver.def.
#include "call.h"
#include "capture_state.h"
#include "captured.h"
#include "context.h"
#include "error.h"
#include "lock.h"

// Invalidates the captures of a context: all, or those with blocking streams. Returns whether there
// are any.
static bool invalidate_in(const struct em_context *context, bool blocking_only)
{
    bool any = false;
    for (struct em_capture_state *c = em_capture_first; c; c = c->next) {
        for (const struct em_captured *part = c->streams; part; part = part->next) {
            if (!part->stream || part->stream->object.context != context ||
                (blocking_only && !part->stream->blocking))
                continue;
            em_capture_invalidate(c);
            any = true;
        }
    }
    return any;
}

// "CU_STREAM_CAPTURE_MODE_GLOBAL: … prohibited from potentially unsafe API calls … if the local
// thread has an ongoing capture sequence that was not initiated with
// CU_STREAM_CAPTURE_MODE_RELAXED …, or if any other thread has a concurrent capture sequence
// initiated with CU_STREAM_CAPTURE_MODE_GLOBAL …
// CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: … only the local thread …
// CU_STREAM_CAPTURE_MODE_RELAXED: The local thread is not prohibited".
static bool forbids_unsafe(const struct em_capture_state *c)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)em_self.capture_mode;
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    return c->thread == em_self.number ||
           (mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static CUresult check_unsafe(void)
{
    bool forbidden = false;
    for (struct em_capture_state *c = em_capture_first; c; c = c->next) {
        if (!forbids_unsafe(c))
            continue;
        em_capture_invalidate(c);
        forbidden = true;
    }
    if (!forbidden)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   "%s is potentially unsafe while a stream is captured in this mode; use "
                   "CU_STREAM_CAPTURE_MODE_RELAXED or cuThreadExchangeStreamCaptureMode",
                   em_entry_name());
}

static CUresult check_captured(unsigned rules, struct em_capture_state *c)
{
    if (rules & (EM_CAPTURE_NEVER | EM_CAPTURE_LEGACY)) {
        em_capture_invalidate(c);
        return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "%s is not permitted in a stream that is being captured", em_entry_name());
    }
    return rules & EM_CAPTURE_NODE && c->invalid ? em_capture_is_invalid(c) : CUDA_SUCCESS;
}

// "operation would make the legacy stream depend on a capturing blocking stream"
static CUresult check_legacy(const struct em_stream *stream)
{
    if (stream->kind != EM_STREAM_LEGACY || !invalidate_in(stream->object.context, true))
        return CUDA_SUCCESS;
    return em_fail(
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        "%s in the legacy default stream would depend on a blocking stream that is being "
        "captured; capture a stream with CU_STREAM_NON_BLOCKING",
        em_entry_name());
}

static CUresult check_context(unsigned rules, const struct em_context *context)
{
    if (!(rules & EM_CAPTURE_NEVER) || !invalidate_in(context, false))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   "%s is not permitted while a stream of the context is being captured",
                   em_entry_name());
}

CUresult em_capture_check(unsigned rules, struct em_stream *stream)
{
    CUresult r = CUDA_SUCCESS;
    if (!rules || !__atomic_load_n(&em_captures, __ATOMIC_ACQUIRE))
        return r;
    em_lock();
    if (stream && stream->capture) {
        r = check_captured(rules, stream->capture->capture);
    } else {
        r = stream ? check_legacy(stream) : check_context(rules, em_self.current);
        if (!r && rules & EM_CAPTURE_UNSAFE)
            r = check_unsafe();
    }
    em_unlock();
    return r;
}

CUresult em_capture_check_valid(const struct em_stream *stream)
{
    em_assert_unlocked();
    if (!em_stream_is_captured(stream))
        return CUDA_SUCCESS;
    em_lock();
    const struct em_captured *part = stream->capture;
    CUresult r =
        part && part->capture->invalid ? em_capture_is_invalid(part->capture) : CUDA_SUCCESS;
    em_unlock();
    return r;
}

CUresult em_capture_check_context(unsigned rules, const struct em_context *context)
{
    if (!rules || !__atomic_load_n(&em_captures, __ATOMIC_ACQUIRE))
        return CUDA_SUCCESS;
    em_lock();
    CUresult r = check_context(rules, context);
    em_unlock();
    return r;
}
