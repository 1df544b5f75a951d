// SPDX-License-Identifier: MIT
// The policies. Under `eager` everything runs as soon as it can; among the commands that can, the
// stream that has waited longest goes first. `parallel` has the same order, and uses several
// processor cores for large copies and fills. Under `lazy` nothing runs before a thread waits or
// asks. `seed:N` draws at each submission whether the command runs at once, and at each choice
// which command goes first.
#include "policy.h"

#include "lock.h"
#include "stream.h"

enum { LATE_MS = 100 };

static uint64_t rank_by_wait(const struct em_command *command)
{
    em_assert_locked();
    return command->stream->waiting_since;
}

static uint64_t seed;

void em_policy_seed(uint64_t value)
{
    em_assert_locked();
    seed = value;
}

// A number that looks random: the output function of splitmix64.
static uint64_t drawn(uint64_t sequence)
{
    uint64_t x = seed + sequence * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool em_policy_draw(uint64_t sequence)
{
    em_assert_locked();
    return drawn(sequence) & 1; // a rank has the same number, but its low bit hardly matters
}

static uint64_t rank_drawn(const struct em_command *command)
{
    em_assert_locked();
    return drawn(command->sequence);
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
};

const struct em_policy em_policy_seeded = {
    .name = "seed",
    .at_submission = EM_POLICY_DRAWN,
    .late_ms = LATE_MS,
    .rank = rank_drawn,
};
