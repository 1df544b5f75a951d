// SPDX-License-Identifier: MIT
// Payloads of semaphores: their mappings, and signals.
#include "semaphore_payload.h"

#include "alloc.h"
#include "command.h"
#include "error.h"
#include "lock.h"
#include "object.h"
#include "order.h"
#include "order_signal.h"

CUresult em_payload_create(struct dm_semaphore *semaphore, struct em_payload **out)
{
    em_assert_locked();
    struct em_payload *p = dm_calloc(1, sizeof *p);
    if (!p) {
        dm_semaphore_close(semaphore);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a semaphore");
    }
    p->references = 1;
    p->semaphore = *semaphore;
    p->source =
        (struct em_source){.condition.source = &p->source, .word = &semaphore->shared->word};
    *out = p;
    return CUDA_SUCCESS;
}

void em_payload_ref(struct em_payload *p)
{
    em_assert_locked();
    p->references++;
}

void em_payload_unref(struct em_payload *p)
{
    em_assert_locked();
    if (--p->references)
        return;
    em_source_forget(&p->source);
    em_order_signals_free(p->order);
    dm_semaphore_close(&p->semaphore);
    dm_free(p);
}

static void report_lost_signal(const struct em_object *object)
{
    char text[128];
    em_mistake(S03, CUDA_SUCCESS,
               "%s is signalled while it is signalled already, so that one of the two signals is "
               "lost",
               em_object_text(object, text, sizeof text));
}

static void report_value(const struct em_object *object, uint64_t value, uint64_t before)
{
    char text[128];
    em_mistake(S04, CUDA_SUCCESS, "value (%llu) is not higher than the current value (%llu) of %s",
               (unsigned long long)value, (unsigned long long)before,
               em_object_text(object, text, sizeof text));
}

static void order_replaced(const struct em_payload *p, uint64_t value, uint64_t before)
{
    em_lock();
    em_order_signal_replaced(p->order, value, before);
    em_unlock();
}

void em_payload_signal(struct em_payload *p, uint64_t value, uint64_t mark,
                       const struct em_object *object)
{
    em_assert_unlocked();
    uint64_t before = dm_semaphore_signal_mark(&p->semaphore, value, mark ? mark : 1);
    if (__builtin_expect(em_order_on, 0) && p->semaphore.kind == DM_SEMAPHORE_TIMELINE)
        order_replaced(p, value, before);
    if (p->semaphore.kind == DM_SEMAPHORE_BINARY) {
        if (before)
            report_lost_signal(object);
    } else if (value <= before) {
        report_value(object, value, before);
    }
}

void em_payload_progress(void)
{
    em_assert_locked();
    em_outside_ask_changed();
    em_progress();
}

// ---- the ordering checker ----

uint64_t em_payload_order_signal(struct em_payload *p, struct em_command *by, uint64_t value)
{
    em_assert_locked();
    const bool binary = p->semaphore.kind == DM_SEMAPHORE_BINARY;
    const uint64_t mark = binary ? em_order_new_mark() : 0;
    em_order_signal(&p->order, by, binary ? mark : value);
    return mark;
}

static bool value_reached(uint64_t value, const void *wanted)
{
    return value >= *(const uint64_t *)wanted;
}

void em_payload_order_wait(const struct em_payload *p, struct em_command *waits, uint64_t value,
                           uint64_t mark)
{
    em_assert_locked();
    if (p->semaphore.kind == DM_SEMAPHORE_BINARY)
        em_order_await_mark(p->order, waits, mark);
    else
        em_order_await(p->order, waits, value_reached, &value);
}
