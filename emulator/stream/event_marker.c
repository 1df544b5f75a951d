// SPDX-License-Identifier: MIT
// Counts the references of markers, and gives each record of an event its marker.
#include "event_marker.h"

#include "alloc.h"
#include "error.h"
#include "event.h"
#include "event_shared.h"
#include "lock.h"
#include "order.h"

void em_marker_unref(struct em_marker *m)
{
    em_assert_locked();
    if (!m || --m->references)
        return;
    em_order_mark_drop(&m->order);
    dm_free(m);
}

CUresult em_event_next_marker(struct em_event *e, struct em_marker **out)
{
    em_assert_locked();
    struct em_marker *m = e->marker;
    if (m && m->references == 1 && m->done) { // nobody uses the last one any more
        m->done = false;
        em_order_mark_drop(&m->order);
    } else {
        m = dm_calloc(1, sizeof *m);
        if (!m)
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a record of an event");
        m->references = 1;
        em_marker_unref(e->marker);
        e->marker = m;
    }
    m->slot = e->slot;
    m->slot_record = e->slot ? em_event_slot_begin(e->slot) : 0;
    m->references++;
    *out = m;
    return CUDA_SUCCESS;
}

bool em_event_is_plainly_done(const struct em_event *e)
{
    em_assert_readable();
    return !e->slot && !e->captured && (!e->marker || e->marker->done);
}

bool em_event_is_ours(const struct em_event *e)
{
    em_assert_locked();
    return !e->slot || (e->marker && e->marker->slot_record == em_event_slot_last(e->slot));
}
