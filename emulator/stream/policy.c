// SPDX-License-Identifier: MIT
// The policies. Under `eager` everything runs as soon as it can; among the commands that can, the
// stream that has waited longest goes first. `parallel` has the same order, and uses several
// processor cores for large copies and fills. The other policies take decisions (choice.h): `lazy`
// postpones everything until a thread waits or asks, `seed:N` draws, and `schedule:…` repeats a
// list of decisions.
#include "policy.h"

#include "config.h"
#include "error.h"
#include "lock.h"
#include "startup.h"
#include "stream.h"

enum { LATE_MS = 100 };

static uint64_t rank_by_wait(const struct em_command *command)
{
    em_assert_locked();
    return command->stream->waiting_since;
}

// ---- lazy ----

static unsigned decide_lazily(const struct em_choice *choice)
{
    em_assert_locked();
    return choice->kind == EM_CHOICE_NEW ? choice->options - 1 : 0;
}

// ---- seed ----

static uint64_t seed;
static unsigned laziness; // of 8 new commands this many are postponed

// A number that looks random: the output function of splitmix64.
static uint64_t drawn(uint64_t number)
{
    uint64_t x = seed + number * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// Seeds differ in how much they postpone: a mistake may need one late command among many that run
// at once, or the reverse.
DM_STARTUP void em_policy_seed(uint64_t value)
{
    em_assert_locked();
    seed = value;
    laziness = 1 + (unsigned)(drawn(0) % 7);
}

static unsigned decide_by_seed(const struct em_choice *choice)
{
    em_assert_locked();
    const uint64_t x = drawn(choice->number + UINT64_C(1)), rest = x >> 3;
    const unsigned n = choice->options, draw = x % 8;
    switch (choice->kind) {
    case EM_CHOICE_NEW:
        return draw < laziness ? n - 1 : (unsigned)(rest % (n - 1));
    case EM_CHOICE_HELD:
        return draw < laziness ? 0 : 1 + (unsigned)(rest % (n - 1));
    case EM_CHOICE_POLL:
    case EM_CHOICE_WAIT:
    case EM_CHOICE_STEP:
        break;
    }
    return (unsigned)(rest % n);
}

// ---- schedule ----

static const struct em_departure *departures, *departures_end;

DM_STARTUP void em_policy_schedule(const struct em_departure *list, size_t count)
{
    em_assert_locked();
    departures = list;
    departures_end = count ? list + count : list;
}

// Decisions come in the order of their numbers.
static unsigned decide_by_schedule(const struct em_choice *choice)
{
    em_assert_locked();
    while (departures != departures_end && departures->number < choice->number)
        departures++;
    if (departures == departures_end || departures->number != choice->number)
        return 0;
    if (departures->option < choice->options)
        return departures->option;
    static bool said;
    if (!said)
        em_explain(CUDA_SUCCESS,
                   "CARDLESS_POLICY=schedule: decision %llu has no option %u, because it has %u; "
                   "the first one is taken. The schedule belongs to another program or input",
                   (unsigned long long)choice->number, departures->option, choice->options);
    said = true;
    return 0;
}

const struct em_policy em_policy_eager = {
    .name = "eager",
    .at_submission = EM_POLICY_ALWAYS,
    .at_completion = true,
    .rank = rank_by_wait,
};

const struct em_policy em_policy_parallel = {
    .name = "parallel",
    .at_submission = EM_POLICY_ALWAYS,
    .at_completion = true,
    .workers = true,
    .rank = rank_by_wait,
};

const struct em_policy em_policy_lazy = {
    .name = "lazy",
    .at_submission = EM_POLICY_NEVER,
    .late_ms = LATE_MS,
    .rank = rank_by_wait,
    .decide = decide_lazily,
};

const struct em_policy em_policy_seeded = {
    .name = "seed",
    .at_submission = EM_POLICY_NEVER,
    .late_ms = LATE_MS,
    .rank = rank_by_wait,
    .decide = decide_by_seed,
};

const struct em_policy em_policy_scheduled = {
    .name = "schedule",
    .at_submission = EM_POLICY_NEVER,
    .late_ms = LATE_MS,
    .rank = rank_by_wait,
    .decide = decide_by_schedule,
};
