// SPDX-License-Identifier: MIT
// Explains waits that cannot end.
#include "deadlock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "clock.h"
#include "command.h"
#include "config.h"
#include "context.h"
#include "error.h"
#include "lock.h"
#include "own_thread.h"
#include "scheduler.h"
#include "stream.h"
#include "turn.h"

enum {
    MOST_LINKS = 16, // of a chain that is shown
    MOST_DEPTH = 8   // of waits that are no conditions
};

// ---- pending commands ----

static const struct em_command *find_in(const struct em_command_list *list, em_match_fn *match,
                                        const void *argument)
{
    const struct em_command *c = list->first;
    while (c && !match(c, argument))
        c = c->next;
    return c;
}

const struct em_command *em_pending_find(em_match_fn *match, const void *argument)
{
    em_assert_locked();
    const struct em_command *found = NULL;
    for (struct em_context *c = em_context_next(NULL); c && !found; c = em_context_next(c)) {
        found = find_in(&c->work.ordered, match, argument);
        if (!found)
            found = find_in(&c->work.unordered, match, argument);
    }
    return found;
}

struct part_search {
    em_match_fn *match;
    const void *argument;
    struct em_need *need;
    const struct em_command **found;
};

static bool has_part(const struct em_command *c, const void *argument)
{
    const struct part_search *s = argument;
    if (!c->ops->parts || !c->ops->parts->find)
        return false;
    *s->found = c->ops->parts->find(c, s->match, s->argument, s->need->part, sizeof s->need->part);
    return *s->found != NULL;
}

const struct em_command *em_need_find(struct em_need *need, em_match_fn *match,
                                      const void *argument)
{
    const struct em_command *found = NULL;
    need->by = em_pending_find(match, argument);
    if (need->by)
        return need->by;
    const struct part_search search = {match, argument, need, &found};
    need->by = em_pending_find(has_part, &search);
    return found;
}

static bool is_parked(const struct em_command *c, const void *unused)
{
    (void)unused;
    return c->state == EM_PARKED;
}

static bool can_go_on(const struct em_command *c, const void *unused)
{
    (void)unused;
    return c->state == EM_READY || c->state == EM_RUNNING;
}

// The part in which a parked command waits, or the command itself.
static const struct em_command *waiting_part(const struct em_command *c)
{
    const struct em_parts_ops *parts = c ? c->ops->parts : NULL;
    const struct em_command *part = parts && parts->waiting ? parts->waiting(c) : NULL;
    return part ? part : c;
}

// The parked command that a pending one waits for, perhaps itself, or NULL.
static const struct em_command *root_of(const struct em_command *c)
{
    for (unsigned depth = 0; c && depth < MOST_DEPTH; depth++) {
        const struct em_stream *s = c->stream;
        const struct em_context *context = s->object.context;
        const struct em_stream *barrier = context->work.barrier;
        if (c->state != EM_BLOCKED)
            return c->state == EM_PARKED ? c : NULL;
        if (c != s->first)
            c = s->first;
        else if (barrier && barrier != s && barrier->first &&
                 barrier->first->sequence < c->sequence)
            c = barrier->first;
        else if (s->blocking)
            c = context->default_stream ? context->default_stream->first : NULL;
        else
            c = context->work.ordered.first;
    }
    return NULL;
}

// ---- the report ----

struct report {
    char text[1800];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        r->used = r->used + (size_t)n < sizeof r->text ? r->used + (size_t)n : sizeof r->text - 1;
}

static const char *call_of(const struct em_command *c, char *out, size_t size)
{
    em_call_text(c->call, out, size);
    return out;
}

// The command that was submitted: `c`, or the whole command that it is part of, and then its name.
static const struct em_command *whole_of(const struct em_command *c, char *part, size_t size)
{
    const struct em_parts_ops *parts = c->ops->parts;
    part[0] = 0;
    return parts && parts->whole ? parts->whole(c, part, size) : c;
}

// `part`: of the command, or "".
static void add_command(struct report *r, const struct em_command *c, const char *part)
{
    char call[64], stream[64], name[64];
    const struct em_command *whole = whole_of(c, name, sizeof name);
    if (part[0] || name[0])
        add(r, "%s of the ", part[0] ? part : name);
    c = whole;
    add(r, "%s of %s in %s", c->ops->name, call_of(c, call, sizeof call),
        em_stream_text(c->stream, stream, sizeof stream));
}

static struct em_need need_of(const struct em_command *c)
{
    struct em_need need = {.by = NULL};
    snprintf(need.text, sizeof need.text, "something outside its stream");
    if (c->ops->explain)
        c->ops->explain(c, &need);
    return need;
}

// Follows the waits from one parked command to the next. Returns false if a command at the end can
// go on, so that there is no deadlock.
static bool follow(struct report *r, const struct em_command *c)
{
    const struct em_command *seen[MOST_LINKS];
    char call[64], part[64];
    for (unsigned links = 0; links < MOST_LINKS; links++) {
        for (unsigned i = 0; i < links; i++) {
            if (seen[i] != c)
                continue;
            add(r, ", after the wait of %s again: a cycle",
                call_of(whole_of(c, part, sizeof part), call, sizeof call));
            return true;
        }
        seen[links] = c;
        const struct em_need need = need_of(c);
        add(r, links ? ", after the " : ": the ");
        add_command(r, c, "");
        add(r, links ? ", which needs %s" : " needs %s", need.text);
        if (!need.by) {
            add(r, "; no pending command of this process brings it");
            return true;
        }
        add(r, "; the ");
        add_command(r, need.by, need.part);
        add(r, " would bring it");
        c = waiting_part(root_of(need.by));
        if (!c)
            return false;
    }
    return true;
}

static bool nothing_happens(void)
{
    return !em_scheduler.ready.first && !em_scheduler.hosted.first &&
           !em_pending_find(can_go_on, NULL);
}

uint64_t em_deadlock_time(void)
{
    em_assert_locked();
    uint64_t ms = em_config()->deadlock_ms;
    return ms && ms < UINT64_MAX / DM_NS_PER_S ? dm_now_ns() + ms * (DM_NS_PER_S / 1000) : 0;
}

// Reports the deadlock. Returns false if a command can go on.
static bool report(void)
{
    struct report r = {.used = 0};
    const struct em_command *first = waiting_part(em_pending_find(is_parked, NULL));
    if (first && !follow(&r, first))
        return false;
    em_mistake(S05, CUDA_SUCCESS, "the call has waited %" PRIu64 " ms and nothing can go on%s",
               em_config()->deadlock_ms,
               first ? r.text
                     : ": no command of this process is pending, so that only another "
                       "thread or process can end the wait");
    return true;
}

// Whether a thread of the program may still end the wait: one that does not wait itself, or for a
// limited time. The calling thread has waited.
static bool others_may_act(void)
{
    return em_turn_threads() > em_own_threads() + em_scheduler.endless + 1;
}

void em_deadlock_examine(void)
{
    em_assert_locked();
    static uint64_t reported; // em_scheduler.progressed + 1 at the last report
    if (!nothing_happens())
        return;
    if (reported != em_scheduler.progressed + 1) {
        if (!report())
            return;
        reported = em_scheduler.progressed + 1;
    }
    if (em_config()->deadlock_aborts && !others_may_act())
        abort();
}
