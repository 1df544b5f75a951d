// SPDX-License-Identifier: MIT
// Keeps the error state of contexts, and reports it.
#include "context_base.h"

#include "call.h"
#include "lock.h"

// Guards `sticky`, `died_call` and `died_by` of every context. em_lock cannot guard them, because
// em_context_error is called with and without it.
static struct dm_mutex ends = DM_MUTEX_INITIALIZER(LEAF);

CUresult em_context_gone(struct em_context *context, CUresult code)
{
    struct em_context_base *c = em_context_base(context);
    char text[96], when[64];
    em_object_text(&c->object, text, sizeof text);
    dm_mutex_lock(&ends);
    uint64_t died_call = c->died_call;
    const char *died_by = c->died_by;
    dm_mutex_unlock(&ends);
    em_call_text(died_call, when, sizeof when);
    return em_fail(code, "%s%s was destroyed by %s in %s", c->primary ? "the primary context " : "",
                   text, died_by, when);
}

CUresult em_context_error_code(struct em_context *context)
{
    switch (em_context_error_state(context)) {
    case EM_FINE:
        return CUDA_SUCCESS;
    case EM_DESTROYED:
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    default:
        dm_mutex_lock(&ends);
        CUresult sticky = em_context_base(context)->sticky;
        dm_mutex_unlock(&ends);
        return sticky;
    }
}

CUresult em_context_error(struct em_context *context)
{
    CUresult code = em_context_error_code(context);
    // The code is CUDA_SUCCESS if another thread retained a destroyed primary context again after
    // the caller had found it destroyed.
    if (!code || code == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return em_context_gone(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return em_fail(code,
                   "CUcontext #%u has a sticky error, because an asynchronous operation failed in "
                   "it; no call can use the context any more",
                   em_context_base(context)->object.number);
}

void em_context_set_sticky(struct em_context *context, CUresult code)
{
    struct em_context_base *c = em_context_base(context);
    int fine = EM_FINE;
    dm_mutex_lock(&ends);
    // Write `sticky` before `error_state`, because readers check `error_state` first.
    if (em_context_error_state(context) == EM_FINE) {
        c->sticky = code;
        __atomic_compare_exchange_n(&c->error_state, &fine, EM_STICKY, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    }
    dm_mutex_unlock(&ends);
}

void em_context_base_end(struct em_context *context)
{
    em_assert_locked();
    struct em_context_base *c = em_context_base(context);
    dm_mutex_lock(&ends);
    c->died_call = em_call_now();
    c->died_by = em_entry_name();
    dm_mutex_unlock(&ends);
}

void em_context_base_begin(struct em_context *context)
{
    em_assert_locked();
    struct em_context_base *c = em_context_base(context);
    dm_mutex_lock(&ends);
    c->sticky = CUDA_SUCCESS;
    __atomic_store_n(&c->error_state, EM_FINE, __ATOMIC_RELEASE);
    dm_mutex_unlock(&ends);
}
