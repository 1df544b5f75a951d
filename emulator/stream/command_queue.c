// SPDX-License-Identifier: MIT
// The commands that wait in a stream, and the list of the streams that have some.
#include "command_queue.h"

#include "command.h"
#include "scheduler.h"
#include "service.h"
#include "stream.h"

// Puts a stream that has got its first command into the list of those that wait.
static void link_waiting(struct em_stream *s)
{
    s->next_waiting = NULL;
    s->previous_waiting = em_funnel.last;
    if (em_funnel.last)
        em_funnel.last->next_waiting = s;
    else
        em_funnel.first = s;
    em_funnel.last = s;
}

void em_queue_push(struct em_stream *s, struct em_command *c)
{
    em_object_ref(&s->object);
    c->next = NULL;
    if (s->last) {
        s->last->next = c;
    } else {
        s->first = c;
        link_waiting(s);
    }
    s->last = c;
    em_funnel.polled += c->ops->polled;
}

void em_queue_push_back(struct em_stream *s, struct em_command *c)
{
    s->running = NULL;
    c->next = s->first;
    s->first = c;
    if (!s->last) {
        s->last = c;
        link_waiting(s);
    }
    em_funnel.polled += c->ops->polled;
    if (c->ops->polled) // which may have gone to sleep while this one was not in the queue
        em_service_wake_poller();
}

struct em_command *em_queue_pop(struct em_stream *s)
{
    struct em_command *c = s->first;
    s->first = c->next;
    em_funnel.polled -= c->ops->polled;
    if (!s->first) {
        s->last = NULL;
        if (s->previous_waiting)
            s->previous_waiting->next_waiting = s->next_waiting;
        else
            em_funnel.first = s->next_waiting;
        if (s->next_waiting)
            s->next_waiting->previous_waiting = s->previous_waiting;
        else
            em_funnel.last = s->previous_waiting;
    }
    return c;
}
