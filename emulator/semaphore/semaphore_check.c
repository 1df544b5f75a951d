// SPDX-License-Identifier: MIT
// Checks of the calls that signal semaphores and wait for them.
#include "semaphore_check.h"

#include "call.h"
#include "context.h"
#include "device.h"
#include "external_semaphore.h"
#include "lock.h"

#define ALL_ZERO(words) em_all_zero((words), sizeof(words) / sizeof *(words))

struct em_semaphore_request em_signal_request(const void *params, unsigned i)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *p =
        (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)params + i;
    return (struct em_semaphore_request){.value = p->params.fence.value,
                                         .flags = p->flags,
                                         .reserved = !ALL_ZERO(p->reserved) ||
                                                     !ALL_ZERO(p->params.reserved),
                                         .keyed_mutex = p->params.keyedMutex.key};
}

struct em_semaphore_request em_wait_request(const void *params, unsigned i)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *p =
        (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)params + i;
    return (struct em_semaphore_request){
        .value = p->params.fence.value,
        .flags = p->flags,
        .reserved = !ALL_ZERO(p->reserved) || !ALL_ZERO(p->params.reserved),
        .keyed_mutex = p->params.keyedMutex.key || p->params.keyedMutex.timeoutMs};
}

static CUresult check_params(unsigned i, const struct em_semaphore_request *q)
{
    // "For all other types of CUexternalSemaphore, flags must be zero."
    if (q->flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags = %#x in paramsArray[%u]; they must be 0, because the semaphore is "
                       "not an NvSciSync object",
                       q->flags, i);
    if (q->reserved)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero in paramsArray[%u]; clear the parameters before "
                       "you fill them in",
                       i);
    return CUDA_SUCCESS;
}

static CUresult check_semaphore(const struct em_context *context, unsigned i,
                                CUexternalSemaphore handle, struct em_external_semaphore **out)
{
    struct em_external_semaphore *s;
    char text[128];
    // The driver crashes if a signal has a NULL element, and refuses a wait
    // (recorded: sem_args/wait-null-element).
    if (!handle)
        return em_mistake(S07, CUDA_ERROR_INVALID_VALUE, "extSemArray[%u] is NULL", i);
    CUresult r = em_object_get(EM_EXTERNAL_SEMAPHORE, handle, CUDA_ERROR_INVALID_HANDLE, &s);
    if (r)
        return r;
    if (!s->payload)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "extSemArray[%u] is %s, which was imported from memory; import a semaphore",
                       i, em_object_text(&s->object, text, sizeof text));
    if (s->object.context->device != context->device)
        return em_mistake(S08, CUDA_ERROR_INVALID_VALUE,
                          "extSemArray[%u] is %s, which was imported on device %d, but the stream "
                          "is on device %d",
                          i, em_object_text(&s->object, text, sizeof text),
                          s->object.context->device->ordinal, context->device->ordinal);
    *out = s;
    return CUDA_SUCCESS;
}

CUresult em_semaphore_check(const struct em_context *context, unsigned i,
                            const struct em_semaphore_request *q,
                            struct em_external_semaphore **out)
{
    em_assert_locked();
    CUresult r = check_params(i, q);
    if (!r)
        r = check_semaphore(context, i, q->handle, out);
    if (!r && q->keyed_mutex)
        em_mistake(S09, CUDA_SUCCESS,
                   "params.keyedMutex is not zero in paramsArray[%u], but the semaphore is not a "
                   "keyed mutex: key and timeoutMs have no effect",
                   i);
    return r;
}
