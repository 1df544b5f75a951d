// SPDX-License-Identifier: MIT
// Conditional nodes in a launch: walks through the sections of their bodies. The walk needs no
// stack, however deep bodies are nested, because each section knows the step that it returns to.
#include "conditional.h"
#include "context.h"
#include "launch.h"
#include "lock.h"
#include "node_conditional.h"
#include "stream.h"

void em_launch_start_choices(const struct em_plan *p)
{
    em_assert_locked();
    for (uint32_t i = 1; i < p->section_count; i++) {
        const struct em_condition_params *c = p->steps[p->sections[i].step].params;
        p->sections[i].running = false;
        em_conditional_launch(c->conditional);
    }
}

enum { NO_BODY = -1 };

// Which body runs now.
static int64_t choose(const struct em_condition_params *c)
{
    const unsigned value = em_conditional_value(c->conditional);
    switch (c->type) {
    case CU_GRAPH_COND_TYPE_IF:
        return value ? 0 : c->count == 2 ? 1 : NO_BODY;
    case CU_GRAPH_COND_TYPE_WHILE:
        return value ? 0 : NO_BODY;
    default:
        return value < c->count ? (int64_t)value : NO_BODY;
    }
}

// A place in a plan.
struct walk {
    uint32_t section, at;
};

// At a conditional step: goes to its body, or past it.
static void enter_body(const struct em_plan *p, struct walk *w)
{
    const struct em_step *s = &p->steps[p->order[w->at]];
    int64_t body = choose(s->params);
    if (body == NO_BODY) {
        w->at++;
        return;
    }
    w->section = s->first_section + (uint32_t)body;
    w->at = p->sections[w->section].first;
}

// At the end of a body: goes past its step, or back to it if the body may run once more. Returns
// true if so.
static bool leave_body(const struct em_plan *p, struct walk *w)
{
    const struct em_section *ended = &p->sections[w->section];
    const struct em_step *s = &p->steps[ended->step];
    const struct em_condition_params *c = s->params;
    const bool repeats = c->type == CU_GRAPH_COND_TYPE_WHILE;
    w->section = s->section;
    w->at = ended->at + !repeats;
    return repeats;
}

CUresult em_launch_choice(struct em_launch *l, uint32_t step, struct em_stream *stream)
{
    em_assert_locked();
    const struct em_plan *p = l->plan;
    struct em_section *state = &p->sections[p->steps[step].first_section];
    const uint32_t begin = state->at;
    struct walk w = {0, begin};
    if (state->running)
        w = (struct walk){state->now_section, state->now};
    CUresult r = CUDA_SUCCESS;
    while (!r && (w.section || w.at == begin)) {
        if (w.section && w.at == p->sections[w.section].end) {
            // A loop that nothing else ends must not keep its context from ending.
            if (leave_body(p, &w))
                r = stream->object.context->ending ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                   : EM_STEP_AGAIN;
        } else if (p->steps[p->order[w.at]].kind == EM_STEP_CHOICE) {
            enter_body(p, &w);
        } else {
            r = em_launch_step(l, p->order[w.at++], stream);
        }
    }
    state->running = r == EM_STEP_AGAIN || r == EM_STEP_LEFT;
    state->now_section = w.section;
    state->now = w.at;
    return r;
}
