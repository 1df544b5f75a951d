// SPDX-License-Identifier: MIT
// Finds races in shared memory with vector clocks: see race.h.
#include "race.h"

#include <string.h>

#include "alloc.h"
#include "lanes/lanes.inc.h"

enum { WORD_B = 4, SLOTS = 4 };

// An access to a word.
struct slot {
    uint16_t thread; // + 1; 0: free
    uint8_t bytes;   // of the word, as bits
    bool write, strong, atomic;
    uint32_t line;
    uint32_t warp_clock, lane_clock;
    uint32_t step;
};

struct warp_clock {
    uint32_t of[PX_WARPS_MOST];
};
struct lane_clock {
    uint32_t of[KN_LANES];
};

struct warp_state {
    struct warp_clock known; // of warps; its own component is its time
    struct lane_clock lanes[KN_LANES];
    struct lane_clock fenced; // fences of the warp's lanes
};

struct px_race {
    uint32_t words, warps;
    uint32_t step; // counts operations
    struct warp_clock fenced;
    struct warp_clock arrived[PX_BARRIERS];
    struct warp_state *states; // by warp
    struct slot *slots;        // SLOTS for each word
};

struct px_race *px_race_new(uint32_t shared_B, uint32_t warps)
{
    const uint32_t words = (shared_B + WORD_B - 1) / WORD_B;
    struct px_race *race = dm_calloc(1, sizeof *race + warps * sizeof(struct warp_state) +
                                            (uint64_t)words * SLOTS * sizeof(struct slot));
    if (!race)
        return NULL;
    race->words = words;
    race->warps = warps;
    race->states = (struct warp_state *)(race + 1);
    race->slots = (struct slot *)(race->states + warps);
    return race;
}

void px_race_start(struct px_race *race)
{
    memset(race->slots, 0, (size_t)race->words * SLOTS * sizeof *race->slots);
    memset(race->states, 0, race->warps * sizeof *race->states);
    memset(&race->fenced, 0, sizeof race->fenced);
    memset(race->arrived, 0, sizeof race->arrived);
    for (uint32_t i = 0; i < race->warps; i++) {
        race->states[i].known.of[i] = 1;
        for (int k = 0; k < KN_LANES; k++)
            race->states[i].lanes[k].of[k] = 1;
    }
}

void px_race_step(struct px_race *race)
{
    race->step++;
}

// ---- clocks ----

static void join(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < KN_LANES; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}
_Static_assert((int)KN_LANES == (int)PX_WARPS_MOST, "join is for both clocks");

void px_race_together(struct px_race *race, uint32_t warp, uint32_t lanes)
{
    struct warp_state *s = &race->states[warp];
    struct lane_clock all = {0};
    KN_EACH_OF(lanes, i)
    join(all.of, s->lanes[i].of);
    KN_EACH_OF(lanes, k)
    {
        s->lanes[k] = all;
        s->lanes[k].of[k]++;
    }
}

void px_race_fence(struct px_race *race, uint32_t warp, uint32_t lanes)
{
    struct warp_state *s = &race->states[warp];
    KN_EACH_OF(lanes, i)
    {
        join(s->fenced.of, s->lanes[i].of);
        s->lanes[i] = s->fenced;
        s->lanes[i].of[i]++;
    }
    join(race->fenced.of, s->known.of);
    s->known = race->fenced;
    s->known.of[warp]++;
}

void px_race_arrive(struct px_race *race, uint32_t warp, uint32_t barrier)
{
    struct warp_state *s = &race->states[warp];
    join(race->arrived[barrier].of, s->known.of);
    s->known.of[warp]++;
}

void px_race_all_arrived(struct px_race *race, uint32_t barrier)
{
    for (uint32_t i = 0; i < race->warps; i++)
        px_race_arrive(race, i, barrier);
}

void px_race_release(struct px_race *race, uint32_t warp, uint32_t lanes, uint32_t barrier)
{
    join(race->states[warp].known.of, race->arrived[barrier].of);
    px_race_together(race, warp, lanes);
}

void px_race_released(struct px_race *race, uint32_t barrier)
{
    memset(&race->arrived[barrier], 0, sizeof race->arrived[barrier]);
}

static bool is_ordered(const struct px_race *race, const struct slot *older, uint32_t thread)
{
    const uint32_t u = older->thread - 1u;
    const struct warp_state *s = &race->states[thread / KN_LANES];
    if (u / KN_LANES == thread / KN_LANES)
        return s->lanes[thread % KN_LANES].of[u % KN_LANES] >= older->lane_clock;
    return s->known.of[u / KN_LANES] >= older->warp_clock;
}

// ---- accesses ----

// The bytes that a lane stores at `at` bytes from its address, or NULL if that is not a store.
static const char *stored(const struct kn_warp *w, const struct px_access *access, int lane,
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
                          const struct slot *new, const struct slot *older)
{
    const struct kn_warp *w = &warp->w;
    for (uint32_t k = 0; k < WORD_B; k++) {
        const uint32_t at = word * WORD_B + k - offset; // in the access
        if (!(new->bytes & older->bytes >> k & 1))
            continue;
        const char *value = stored(w, access, lane, at);
        const char *other = checker->block->own_shared + word * WORD_B + k;
        if (older->step == new->step) { // another lane of this operation, which has yet to store
            const int lane_2 = (older->thread - 1) % KN_LANES;
            other =
                w->addresses[lane] == w->addresses[lane_2] ? stored(w, access, lane_2, at) : NULL;
        }
        if (!value || !other || *value != *other)
            return false;
    }
    return true;
}

static void report(struct px_checker *checker, const struct px_access *access, uint32_t offset,
                   const struct slot *new, const struct slot *older)
{
    struct px_finding f = {.kind = PX_FOUND_RACE, .address = offset, .size_B = access->size_B};
    px_party_set(&f.by, checker->block, new->thread - 1u, new->line, new->write, new->atomic);
    px_party_set(&f.older, checker->block, older->thread - 1u, older->line, older->write,
                 older->atomic);
    px_checker_say(checker, &f);
}

// The place for an access: that of an older one that this one makes unnecessary, because whatever
// is ordered after this one is ordered after that one too; a free one; or one that is forgotten.
static struct slot *slot_for(const struct px_race *race, struct slot *slots, const struct slot *new)
{
    struct slot *free = NULL;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &slots[i];
        if (!s->thread) {
            free = free ? free : s;
            continue;
        }
        const bool covered =
            !(s->bytes & ~new->bytes) && (new->write || !s->write) && (s->strong || !new->strong);
        if (covered && (s->thread == new->thread || is_ordered(race, s, new->thread - 1u)))
            return s;
    }
    for (int i = 0; !free && i < SLOTS; i++)
        if (!slots[i].write)
            free = &slots[i];
    return free ? free : &slots[race->step % SLOTS];
}

void px_race_access(struct px_checker *checker, const struct px_warp *warp,
                    const struct px_access *access, int lane, uint32_t offset)
{
    struct px_race *race = checker->race;
    const struct warp_state *s = &race->states[warp->index];
    struct slot new = {.thread = (uint16_t)(warp->index * KN_LANES + (uint32_t)lane + 1),
                       .write = access->write,
                       .strong = access->strong,
                       .atomic = access->read && access->write,
                       .line = access->op->line,
                       .warp_clock = s->known.of[warp->index],
                       .lane_clock = s->lanes[lane].of[lane],
                       .step = race->step};
    const uint32_t end = offset + access->size_B;
    for (uint32_t word = offset / WORD_B; word * WORD_B < end; word++) {
        const uint32_t first = word * WORD_B > offset ? 0 : offset % WORD_B;
        const uint32_t last = (word + 1) * WORD_B < end ? WORD_B : end - word * WORD_B;
        new.bytes = (uint8_t)((1u << last) - (1u << first));
        struct slot *slots = &race->slots[(uint64_t)word * SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            const struct slot *older = &slots[i];
            if (older->thread && older->thread != new.thread && (older->bytes & new.bytes) &&
                (older->write || new.write) && !(older->strong && new.strong) &&
                !is_ordered(race, older, new.thread - 1u) &&
                !(older->write && new.write &&is_same_value(checker, warp, access, lane, offset,
                                                            word, &new, older)))
                report(checker, access, offset, &new, older);
        }
        *slot_for(race, slots, &new) = new;
    }
}
