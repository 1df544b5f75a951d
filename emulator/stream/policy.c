// SPDX-License-Identifier: MIT
// The policies. Under `eager` everything runs as soon as it can; among the commands that can, the
// stream that has waited longest goes first. `parallel` has the same order, and uses several
// processor cores for large copies and fills.
#include "policy.h"

#include "lock.h"
#include "stream.h"

static uint64_t rank_by_wait(const struct em_command *command)
{
    em_assert_locked();
    return command->stream->waiting_since;
}

const struct em_policy em_policy_eager = {
    .name = "eager",
    .at_submission = true,
    .at_completion = true,
    .rank = rank_by_wait,
};

const struct em_policy em_policy_parallel = {
    .name = "parallel",
    .at_submission = true,
    .at_completion = true,
    .workers = true,
    .rank = rank_by_wait,
};
