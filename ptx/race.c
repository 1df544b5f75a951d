// SPDX-License-Identifier: MIT
// Finds races in shared memory with vector clocks: see race.h.
#include "race.h"

#include <string.h>

#include "alloc.h"
#include "cluster.h"
#include "lanes/lanes.inc.h"

enum { WORD_B = 4, SLOTS = 4 };

// An access to a word.
struct slot {
    uint16_t thread; // of the cluster, + 1; 0: free
    uint8_t bytes;   // of the word, as bits
    bool write, strong, atomic;
    uint32_t line;                   // of the program
    uint32_t warp_clock, lane_clock; // the times of the access
    uint32_t step;                   // the operation, as px_clocks.step counts
};

struct lane_clock {
    uint32_t of[KN_LANES];
};

struct warp_state {
    uint32_t *known;    // a clock of warps: up to which times it knows them. Its own time is a part
    uint32_t *released; // the clock at its last fence
    struct lane_clock lanes[KN_LANES];
    struct lane_clock fenced; // fences of the warp's lanes
};

struct px_clocks {
    uint32_t blocks, warps, count; // warps of a block, and of the cluster
    uint32_t step;                 // counts operations
    uint32_t *fenced;              // a clock of warps, as are the next two
    uint32_t *arriving, *arrived;  // at the barrier of the cluster: now, and when it was complete
    struct warp_state *states;     // by warp
};

struct px_race {
    struct px_clocks *clocks;
    uint32_t words;                 // of shared memory
    uint32_t first;                 // the number of the block's first warp in the cluster
    uint32_t *arrived[PX_BARRIERS]; // clocks of warps
    struct slot *slots;             // SLOTS for each word
};

// ---- life ----

struct px_clocks *px_clocks_new(uint32_t blocks, uint32_t warps)
{
    const uint32_t count = blocks * warps;
    const size_t clock_B = (count * sizeof(uint32_t) + 7) / 8 * 8;
    struct px_clocks *c = dm_calloc(1, sizeof *c + count * sizeof(struct warp_state) +
                                           (3 + 2 * (size_t)count) * clock_B);
    if (!c)
        return NULL;
    c->blocks = blocks;
    c->warps = warps;
    c->count = count;
    c->states = (struct warp_state *)(c + 1);
    char *at = (char *)(c->states + count);
    uint32_t **const own[] = {&c->fenced, &c->arriving, &c->arrived};
    for (int i = 0; i < 3; i++, at += clock_B)
        *own[i] = (uint32_t *)(void *)at;
    for (uint32_t i = 0; i < count; i++, at += 2 * clock_B) {
        c->states[i].known = (uint32_t *)(void *)at;
        c->states[i].released = (uint32_t *)(void *)(at + clock_B);
    }
    return c;
}

static void clock_clear(const struct px_clocks *clocks, uint32_t *clock)
{
    memset(clock, 0, clocks->count * sizeof *clock);
}

void px_clocks_start(struct px_clocks *c)
{
    clock_clear(c, c->fenced);
    clock_clear(c, c->arriving);
    clock_clear(c, c->arrived);
    for (uint32_t i = 0; i < c->count; i++) {
        struct warp_state *s = &c->states[i];
        clock_clear(c, s->known);
        clock_clear(c, s->released);
        memset(s->lanes, 0, sizeof s->lanes);
        memset(&s->fenced, 0, sizeof s->fenced);
        s->known[i] = 1;
        for (int k = 0; k < KN_LANES; k++)
            s->lanes[k].of[k] = 1;
    }
}

struct px_race *px_race_new(uint32_t shared_B, struct px_clocks *clocks, uint32_t rank)
{
    const uint32_t words = (shared_B + WORD_B - 1) / WORD_B;
    const size_t slots_B = (size_t)words * SLOTS * sizeof(struct slot);
    struct px_race *race = dm_calloc(1, sizeof *race + slots_B +
                                            PX_BARRIERS * (size_t)clocks->count * sizeof(uint32_t));
    if (!race)
        return NULL;
    race->clocks = clocks;
    race->words = words;
    race->first = rank * clocks->warps;
    race->slots = (struct slot *)(race + 1);
    uint32_t *at = (uint32_t *)(void *)(race->slots + (size_t)words * SLOTS);
    for (uint32_t i = 0; i < PX_BARRIERS; i++, at += clocks->count)
        race->arrived[i] = at;
    return race;
}

void px_race_start(struct px_race *race)
{
    memset(race->slots, 0, (size_t)race->words * SLOTS * sizeof *race->slots);
    for (uint32_t i = 0; i < PX_BARRIERS; i++)
        clock_clear(race->clocks, race->arrived[i]);
}

void px_race_step(struct px_race *race)
{
    race->clocks->step++;
}

// ---- clocks ----

static void clock_join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static struct warp_state *state_of(const struct px_race *race, uint32_t warp)
{
    return &race->clocks->states[race->first + warp];
}

// Adds the warp's clock to `to`, and begins its next time: later accesses are not in `to`.
static void clock_publish(struct px_race *race, uint32_t warp, uint32_t *to)
{
    struct warp_state *s = state_of(race, warp);
    clock_join(to, s->known, race->clocks->count);
    s->known[race->first + warp]++;
}

static void lanes_together(struct warp_state *s, uint32_t lanes)
{
    struct lane_clock all = {0};
    KN_EACH_OF(lanes, i)
    {
        clock_join(all.of, s->lanes[i].of, KN_LANES);
    }
    KN_EACH_OF(lanes, k)
    {
        s->lanes[k] = all;
        s->lanes[k].of[k]++;
    }
}

void px_race_together(struct px_race *race, uint32_t warp, uint32_t lanes)
{
    lanes_together(state_of(race, warp), lanes);
}

// Fences are ordered one after the other: each takes over what earlier ones have left in `fenced`,
// and leaves its own clock there.
void px_race_fence(struct px_race *race, uint32_t warp, uint32_t lanes)
{
    struct px_clocks *c = race->clocks;
    struct warp_state *s = state_of(race, warp);
    KN_EACH_OF(lanes, i)
    {
        clock_join(s->fenced.of, s->lanes[i].of, KN_LANES);
        s->lanes[i] = s->fenced;
        s->lanes[i].of[i]++;
    }
    clock_join(s->known, c->fenced, c->count);
    clock_join(s->released, s->known, c->count);
    clock_publish(race, warp, c->fenced);
}

void px_race_arrive(struct px_race *race, uint32_t warp, uint32_t barrier)
{
    clock_publish(race, warp, race->arrived[barrier]);
}

void px_race_all_arrived(struct px_race *race, uint32_t barrier)
{
    for (uint32_t i = 0; i < race->clocks->warps; i++)
        px_race_arrive(race, i, barrier);
}

void px_race_release(struct px_race *race, uint32_t warp, uint32_t lanes, uint32_t barrier)
{
    clock_join(state_of(race, warp)->known, race->arrived[barrier], race->clocks->count);
    px_race_together(race, warp, lanes);
}

void px_race_released(struct px_race *race, uint32_t barrier)
{
    clock_clear(race->clocks, race->arrived[barrier]);
}

// ---- the barrier of the cluster ----

// ".relaxed: no memory ordering and visibility guarantee is given for the accesses before", except
// for those before a fence.
void px_race_cluster_arrive(struct px_race *race, uint32_t warp, bool relaxed)
{
    struct px_clocks *c = race->clocks;
    if (relaxed)
        clock_join(c->arriving, state_of(race, warp)->released, c->count);
    else
        clock_publish(race, warp, c->arriving);
}

// Threads that have ended count as arrived. The lanes of a warp have met.
void px_race_cluster_complete(struct px_clocks *c)
{
    memcpy(c->arrived, c->arriving, c->count * sizeof *c->arrived);
    clock_clear(c, c->arriving);
    for (uint32_t i = 0; i < c->count; i++)
        lanes_together(&c->states[i], UINT32_MAX);
}

void px_race_cluster_pass(struct px_race *race, uint32_t warp)
{
    clock_join(state_of(race, warp)->known, race->clocks->arrived, race->clocks->count);
}

// ---- accesses ----

// Whether an older access is ordered before the current one of `thread`.
static bool is_ordered(const struct px_race *race, const struct slot *older, uint32_t thread)
{
    const uint32_t u = older->thread - 1u;
    const struct warp_state *s = &race->clocks->states[thread / KN_LANES];
    if (u / KN_LANES == thread / KN_LANES)
        return s->lanes[thread % KN_LANES].of[u % KN_LANES] >= older->lane_clock;
    return s->known[u / KN_LANES] >= older->warp_clock;
}

// The bytes that a lane stores at `at` bytes from its address, or NULL if that is not a store.
static const char *bytes_stored(const struct kn_warp *w, const struct px_access *access, int lane,
                                uint32_t at)
{
    const struct kn_op *op = access->op;
    const uint32_t n = at / access->value_B;
    if (access->read || !access->register_B)
        return NULL;
    const uint32_t reg = n == 0 ? op->b : n == 1 ? op->c : op->more[n - 2];
    return w->r + reg + (uint32_t)lane * access->register_B + at % access->value_B;
}

// Whether a store writes the bytes that another thread has written there. Programs set flags in
// this way, and the order of the threads does not matter.
static bool is_same_value(const struct px_checker *checker, const struct px_warp *warp,
                          const struct px_access *access, int lane, uint32_t offset, uint32_t word,
                          const struct slot *now, const struct slot *older)
{
    const struct kn_warp *w = &warp->w;
    for (uint32_t k = 0; k < WORD_B; k++) {
        const uint32_t at = word * WORD_B + k - offset; // in the access
        if (!(now->bytes & older->bytes >> k & 1))
            continue;
        const char *value = bytes_stored(w, access, lane, at);
        const char *other = checker->block->own_shared + word * WORD_B + k;
        if (older->step == now->step) { // another lane of this operation, which has yet to store
            const int lane_2 = (older->thread - 1) % KN_LANES;
            other = w->addresses[lane] == w->addresses[lane_2] ? bytes_stored(w, access, lane_2, at)
                                                               : NULL;
        }
        if (!value || !other || *value != *other)
            return false;
    }
    return true;
}

static void report_race(struct px_checker *checker, const struct px_access *access, uint32_t offset,
                        const struct slot *now, const struct slot *older)
{
    struct px_finding f = {.kind = PX_FOUND_RACE, .address = offset, .size_B = access->size_B};
    struct px_block *const *blocks = checker->block->cluster->blocks;
    const uint32_t threads = checker->race->clocks->warps * KN_LANES; // of whole warps
    const uint32_t by = now->thread - 1u, before = older->thread - 1u;
    px_party_set(&f.by, blocks[by / threads], by % threads, now->line, now->write, now->atomic);
    px_party_set(&f.older, blocks[before / threads], before % threads, older->line, older->write,
                 older->atomic);
    px_checker_say(checker, &f);
}

// The slot for an access. The best is that of an older access which this one covers: whatever is
// ordered after this one is then ordered after that one too. The next best is a free one. Else some
// access is forgotten, a read if there is one.
static struct slot *slot_for(const struct px_race *race, struct slot *slots, const struct slot *now)
{
    struct slot *free = NULL;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &slots[i];
        if (!s->thread) {
            free = free ? free : s;
            continue;
        }
        const bool covered =
            !(s->bytes & ~now->bytes) && (now->write || !s->write) && (s->strong || !now->strong);
        if (covered && (s->thread == now->thread || is_ordered(race, s, now->thread - 1u)))
            return s;
    }
    for (int i = 0; !free && i < SLOTS; i++)
        if (!slots[i].write)
            free = &slots[i];
    return free ? free : &slots[race->clocks->step % SLOTS];
}

void px_race_access(struct px_checker *checker, const struct px_warp *warp,
                    const struct px_access *access, int lane, uint32_t offset)
{
    struct px_race *race = checker->race;
    const uint32_t number = warp->block->rank * race->clocks->warps + warp->index;
    const struct warp_state *s = &race->clocks->states[number];
    struct slot now = {.thread = (uint16_t)(number * KN_LANES + (uint32_t)lane + 1),
                       .write = access->write,
                       .strong = access->strong,
                       .atomic = access->read && access->write,
                       .line = access->op->line,
                       .warp_clock = s->known[number],
                       .lane_clock = s->lanes[lane].of[lane],
                       .step = race->clocks->step};
    const uint32_t end = offset + access->size_B;
    for (uint32_t word = offset / WORD_B; word * WORD_B < end; word++) {
        const uint32_t first = word * WORD_B > offset ? 0 : offset % WORD_B;
        const uint32_t last = (word + 1) * WORD_B < end ? WORD_B : end - word * WORD_B;
        now.bytes = (uint8_t)((1u << last) - (1u << first));
        struct slot *slots = &race->slots[(uint64_t)word * SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            const struct slot *older = &slots[i];
            if (older->thread && older->thread != now.thread && (older->bytes & now.bytes) &&
                (older->write || now.write) && !(older->strong && now.strong) &&
                !is_ordered(race, older, now.thread - 1u) &&
                !(older->write && now.write &&
                  is_same_value(checker, warp, access, lane, offset, word, &now, older)))
                report_race(checker, access, offset, &now, older);
        }
        *slot_for(race, slots, &now) = now;
    }
}
