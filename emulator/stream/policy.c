// SPDX-License-Identifier: MIT
// Policy `eager`: everything runs as soon as it can; among those that can, the stream that has
// waited longest goes first. Policy `parallel`: the same order, and large copies and fills use a
// second processor core.
#include "policy.h"

#include "stream.h"

static struct em_stream *choose_first(struct em_stream *first,
                                      bool (*can)(struct em_stream *, int place), int place)
{
    struct em_stream *s = first;
    while (s && !can(s, place))
        s = s->next_waiting;
    return s;
}

const struct em_policy em_policy_eager = {
    .name = "eager",
    .at_submission = true,
    .at_completion = true,
    .choose = choose_first,
};

const struct em_policy em_policy_parallel = {
    .name = "parallel",
    .at_submission = true,
    .at_completion = true,
    .second_core = true,
    .choose = choose_first,
};
