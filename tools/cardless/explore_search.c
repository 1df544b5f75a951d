// SPDX-License-Identifier: MIT
// The search for a schedule under which the program fails.
//
// A run records its decisions, and how many options each had. From a run whose schedule has the
// departures d1 < d2 < … < dn, the search makes the schedules with one departure more, at each
// decision after dn and for each option. So it comes to every schedule exactly once, those with
// the fewest departures first:
//
//     eager ─┬─ 0=1 ─┬─ 0=1,2=1
//            │       └─ 0=1,3=1 …
//            ├─ 1=1 ── 1=1,2=1 …
//            └─ 1=2 …
//
// If these are too many, half of the runs draw their decisions instead. A failing schedule is then
// shrunk: departures are taken away, at first half of them at a time, as long as it fails.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

// ---- schedules ----

char *schedule_text(const struct schedule *s)
{
    size_t capacity = 16 + s->count * 24, used;
    char *text = malloc(capacity);
    if (!text)
        return NULL;
    used = (size_t)snprintf(text, capacity, "schedule:");
    for (size_t i = 0; i < s->count; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%u=%u", i ? "," : "",
                                 s->list[i].number, s->list[i].option);
    return text;
}

bool schedule_to_file(char **text, const char *path)
{
    char *by = NULL;
    FILE *f = fopen(path, "w");
    bool written = f && fputs(strchr(*text, ':') + 1, f) >= 0;
    if (f && fclose(f))
        written = false;
    if (!written)
        fprintf(stderr, "cardless explore: cannot write the schedule to %s: %s\n", path,
                strerror(errno));
    if (!written || asprintf(&by, "schedule:@%s", path) < 0)
        return false;
    free(*text);
    *text = by;
    return true;
}

// The decisions of a run that are not option 0.
static bool departures_of(const struct outcome *o, struct schedule *out)
{
    *out = (struct schedule){malloc((o->count + 1) * sizeof *out->list), 0};
    for (size_t i = 0; out->list && i < o->count; i++) {
        if (o->decisions[i].option)
            out->list[out->count++] = (struct departure){(unsigned)i, o->decisions[i].option};
    }
    return out->list;
}

// ---- the schedules to try ----

enum item_kind { ITEM_SCHEDULE, ITEM_LAZY, ITEM_SEED };
struct item {
    enum item_kind kind;
    struct schedule schedule;
    uint64_t seed;
};

struct search {
    const struct explore *x;
    struct item *queue; // schedules; each is tried once
    size_t first, end, most;
    bool cut;  // some schedules did not fit
    bool lazy; // was tried
    unsigned started, seeds;
};

static void push(struct search *s, const struct schedule *base, struct departure more)
{
    if (s->end == s->most) {
        s->cut = true;
        return;
    }
    struct schedule *made = &s->queue[s->end].schedule;
    made->list = malloc((base->count + 1) * sizeof *made->list);
    if (!made->list) {
        s->cut = true;
        return;
    }
    if (base->count)
        memcpy(made->list, base->list, base->count * sizeof *made->list);
    made->list[base->count] = more;
    made->count = base->count + 1;
    s->queue[s->end++].kind = ITEM_SCHEDULE;
}

// Makes the schedules with one departure more.
static void extend(struct search *s, const struct item *item, const struct outcome *o)
{
    const struct schedule *base = &item->schedule;
    size_t from = base->count ? base->list[base->count - 1].number + 1 : 0;
    for (size_t i = from; i < o->count && !s->cut; i++)
        for (unsigned option = 1; option < o->decisions[i].options && !s->cut; option++)
            push(s, base, (struct departure){(unsigned)i, option});
}

// The next one to try: eager, lazy, then schedules in turn with seeds if there are too many of
// them. Returns false if all have been started.
static bool next_item(struct search *s, struct item *out)
{
    if (s->started == s->x->schedules)
        return false;
    bool schedule_left = s->first != s->end;
    if (s->started && !s->lazy) {
        s->lazy = true;
        *out = (struct item){.kind = ITEM_LAZY};
    } else if (schedule_left && (!s->cut || s->started % 2)) {
        *out = s->queue[s->first++];
    } else if (s->cut) {
        *out = (struct item){.kind = ITEM_SEED, .seed = s->x->seed + s->seeds++};
    } else {
        return false;
    }
    s->started++;
    return true;
}

static char *policy_of(const struct item *item)
{
    char *text = NULL;
    switch (item->kind) {
    case ITEM_SCHEDULE:
        return schedule_text(&item->schedule);
    case ITEM_LAZY:
        return strdup("lazy");
    case ITEM_SEED:
        return asprintf(&text, "seed:%" PRIu64, item->seed) < 0 ? NULL : text;
    }
    return NULL;
}

// ---- trying them ----

enum { MOST_JOBS = 64 };

struct job {
    struct run run;
    struct item item;
};

static bool start_job(struct search *s, struct job *job, unsigned slot, const struct item *item)
{
    char *policy = policy_of(item);
    job->item = *item;
    bool started = policy && run_start(s->x, &job->run, slot, policy, false);
    free(policy);
    return started;
}

static void stop_jobs(const struct explore *x, struct job *jobs)
{
    for (unsigned i = 0; i < x->jobs; i++) {
        if (!jobs[i].run.pid)
            continue;
        run_kill(&jobs[i].run);
        free(jobs[i].item.schedule.list);
    }
}

// Takes in the result of a run. Returns whether it failed.
static bool finish_job(struct search *s, struct job *job, struct outcome *o, struct found *out)
{
    out->tried++;
    out->logged |= o->logged;
    if (o->kind != PASSED) {
        out->failed = true;
        out->outcome = *o;
    } else if (job->item.kind == ITEM_SCHEDULE) {
        extend(s, &job->item, o);
    }
    free(job->item.schedule.list);
    if (!out->failed)
        free(o->decisions);
    return out->failed;
}

// Runs jobs until one fails or all have ended. The first run goes alone, because the others come
// from its decisions.
static bool try_all(struct search *s, struct found *out)
{
    static struct job jobs[MOST_JOBS];
    unsigned busy = 0;
    bool more = true;
    while (!out->failed && !run_interrupted() && (busy || more)) {
        struct item item;
        double until_s = explore_now() + s->x->timeout_s;
        for (unsigned i = 0; i < s->x->jobs && (!busy || out->tried); i++) {
            if (jobs[i].run.pid)
                continue;
            more = next_item(s, &item);
            if (!more)
                break;
            if (!start_job(s, &jobs[i], i, &item)) {
                stop_jobs(s->x, jobs);
                return false;
            }
            busy++;
        }
        for (unsigned i = 0; i < s->x->jobs && !out->failed; i++) {
            struct outcome o;
            if (!jobs[i].run.pid)
                continue;
            if (run_ended(s->x, &jobs[i].run, &o)) {
                busy--;
                more = true;
                finish_job(s, &jobs[i], &o, out);
                until_s = 0;
            } else if (jobs[i].run.deadline_s < until_s) {
                until_s = jobs[i].run.deadline_s;
            }
        }
        if (busy)
            run_sleep(until_s);
    }
    stop_jobs(s->x, jobs);
    return true;
}

// ---- shrinking ----

// Runs the schedule without `count` departures from `at` on. If it fails in the same way with
// fewer departures, it replaces the schedule.
static bool try_without(const struct explore *x, struct found *f, size_t at, size_t count)
{
    struct schedule *s = &f->minimal, made = {NULL, 0};
    struct departure *list = malloc((s->count + 1) * sizeof *list);
    struct outcome o = {.kind = PASSED};
    if (!list)
        return false;
    memcpy(list, s->list, at * sizeof *list);
    memcpy(list + at, s->list + at + count, (s->count - at - count) * sizeof *list);
    char *policy = schedule_text(&(struct schedule){list, s->count - count});
    bool better = policy && run_once(x, policy, false, &o) && outcome_is_same(&o, &f->outcome) &&
                  departures_of(&o, &made) && made.count < s->count;
    free(policy);
    free(list);
    if (!better) {
        free(o.decisions);
        free(made.list);
        return false;
    }
    free(s->list);
    free(f->outcome.decisions);
    *s = made;
    f->outcome = o;
    return true;
}

static void shrink(const struct explore *x, struct found *f)
{
    enum { MOST_TRIALS = 400 };
    unsigned trials = 0;
    size_t chunk = f->minimal.count;
    while (chunk && trials < MOST_TRIALS && !run_interrupted()) {
        bool better = false;
        for (size_t at = 0; at < f->minimal.count && trials < MOST_TRIALS; trials++) {
            size_t count = f->minimal.count - at < chunk ? f->minimal.count - at : chunk;
            if (try_without(x, f, at, count))
                better = true; // the next ones are at the same place now
            else
                at += count;
        }
        if (!better || chunk > f->minimal.count)
            chunk = chunk > f->minimal.count ? f->minimal.count : chunk / 2;
    }
}

// Repeats the schedule, with the logs that the picture needs.
static bool repeats(const struct explore *x, const struct found *f)
{
    struct outcome o = {.kind = PASSED};
    char *policy = schedule_text(&f->minimal);
    bool again = policy && run_once(x, policy, true, &o) && outcome_is_same(&o, &f->outcome);
    free(policy);
    free(o.decisions);
    return again;
}

int explore_search(const struct explore *x, struct found *out)
{
    struct search s = {.x = x, .most = x->schedules};
    *out = (struct found){.failed = false};
    s.queue = calloc(s.most, sizeof *s.queue);
    if (!s.queue) {
        fprintf(stderr, "cardless explore: out of memory for %u schedules\n", x->schedules);
        return 126;
    }
    s.end = 1; // eager, without departures
    bool ran = try_all(&s, out);
    out->complete = !s.cut && s.first == s.end && !out->failed;
    out->seeds = s.seeds;
    out->orders = out->tried - (out->complete && s.lazy); // which is one of the schedules as well
    while (s.first != s.end)
        free(s.queue[s.first++].schedule.list);
    free(s.queue);
    if (!ran)
        return 126;
    if (!out->failed)
        return 0;
    if (out->outcome.kind == CANNOT_RUN)
        return out->outcome.value == ENOENT ? 127 : 126;
    if (departures_of(&out->outcome, &out->minimal)) {
        out->departures = out->minimal.count;
        shrink(x, out);
        out->repeats = repeats(x, out);
    }
    return 0;
}
