// SPDX-License-Identifier: MIT
// Formats the trace of a stepped warp.
#include "ptx_step_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sink.h"

enum { LANES = 32, LIST_MOST = 8, INSTRUCTION_MOST_B = 100 };

void em_step_flush(struct em_step_text *to)
{
    const char *at = to->bytes;
    to->failed |= !dm_fd_still_ours(to->file);
    while (to->used && !to->failed) {
        const ssize_t n = em_sink_write_once(to->file->fd, at, to->used);
        if (n < 0 && errno == EINTR)
            continue;
        to->failed = n <= 0;
        at += to->failed ? 0 : n;
        to->used -= to->failed ? 0 : (size_t)n;
    }
    to->used = 0;
}

void em_step_print(struct em_step_text *to, const char *format, ...)
{
    enum { LINE_MOST_B = 1024 };
    va_list list;
    if (sizeof to->bytes - to->used < LINE_MOST_B)
        em_step_flush(to);
    va_start(list, format);
    const int n = vsnprintf(to->bytes + to->used, LINE_MOST_B, format, list);
    va_end(list);
    to->used += n < 0 ? 0 : n < LINE_MOST_B ? (size_t)n : LINE_MOST_B - 1;
}

// ---- lanes ----

void em_step_mask(const struct px_step *step, uint32_t active, uint32_t taking, char out[33])
{
    for (int i = 0; i < LANES; i++)
        out[i] = taking >> i & 1 ? '#' : active >> i & 1 ? 'o' : step->lanes >> i & 1 ? '.' : ' ';
    out[LANES] = 0;
}

// "0-15", "3", "0, 2 … 30", "0-3, 8-11".
static void print_lanes(struct em_step_text *to, uint32_t lanes)
{
    int list[LANES], count = 0;
    for (int i = 0; i < LANES; i++)
        if (lanes >> i & 1)
            list[count++] = i;
    bool even = count > 4;
    for (int i = 1; i < count; i++)
        even &= list[i] - list[i - 1] == list[1] - list[0];
    if (even && list[1] - list[0] > 1) {
        em_step_print(to, "%d, %d … %d", list[0], list[1], list[count - 1]);
        return;
    }
    for (int i = 0; i < count;) {
        int end = i;
        while (end + 1 < count && list[end + 1] == list[end] + 1)
            end++;
        em_step_print(to, i ? ", %d" : "%d", list[i]);
        if (end > i)
            em_step_print(to, "-%d", list[end]);
        i = end + 1;
    }
}

// ---- instructions ----

void em_step_title(struct em_step_text *to)
{
    em_step_print(to, " line  lanes 0 to 31                     instruction\n");
}

void em_step_instruction(struct em_step_text *to, const struct px_step *step)
{
    char mask[33];
    const char *text = "";
    size_t length = px_line_text(step->program->module, step->function, step->line, &text);
    em_step_mask(step, step->active, step->taking, mask);
    em_step_print(to, "%5u  %s  %.*s%s\n", step->line, mask,
                  (int)(length < INSTRUCTION_MOST_B ? length : INSTRUCTION_MOST_B), text,
                  length < INSTRUCTION_MOST_B ? "" : " …");
}

static void print_fragment(struct em_step_text *to, const struct px_step *step,
                           const struct px_step_fragment *f)
{
    char mask[33];
    em_step_mask(step, f->lanes, f->lanes, mask);
    em_step_print(to, "       %s  ", mask);
    switch (f->state) {
    case PX_STEP_READY:
        em_step_print(to, "these are at line %u\n", f->line);
        break;
    case PX_STEP_AT_MEMBERS:
        em_step_print(to, "these wait at line %u for other lanes of the warp\n", f->line);
        break;
    case PX_STEP_AT_BARRIER:
        em_step_print(to, "these wait at line %u, barrier %u\n", f->line, f->barrier);
        break;
    case PX_STEP_AT_CLUSTER:
        em_step_print(to, "these wait at line %u, barrier of the cluster\n", f->line);
        break;
    case PX_STEP_AT_PHASE:
        em_step_print(to, "these wait at line %u for a phase of an mbarrier\n", f->line);
        break;
    }
}

// The lanes of all fragments that are ready at the same line, or wait there in the same way.
static struct px_step_fragment join(const struct px_step *step, const struct px_step_fragment *f)
{
    struct px_step_fragment whole = *f;
    for (uint32_t i = 0; i < step->fragment_count; i++) {
        const struct px_step_fragment *g = &step->fragments[i];
        if (g->line == f->line && g->state == f->state && g->barrier == f->barrier)
            whole.lanes |= g->lanes;
    }
    return whole;
}

// The same for the same fragments in another order.
static uint64_t hash_fragments(const struct px_step *step)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < step->fragment_count; i++) {
        const struct px_step_fragment *f = &step->fragments[i];
        uint64_t h = f->lanes * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ (h >> 29) ^ f->line) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ (h >> 32) ^ (uint64_t)f->state) * UINT64_C(0x94d049bb133111eb);
        hash += h;
    }
    return hash;
}

uint64_t em_step_fragments(struct em_step_text *to, const struct px_step *step, uint64_t unless)
{
    const uint64_t hash = hash_fragments(step);
    uint32_t printed = 0;
    for (int lane = 0; lane < LANES && hash != unless; lane++) // the lowest lanes come first
        for (uint32_t i = 0; i < step->fragment_count; i++) {
            const struct px_step_fragment *f = &step->fragments[i];
            if (!(f->lanes & ~printed) || __builtin_ctz(f->lanes) != lane)
                continue;
            const struct px_step_fragment whole = join(step, f);
            printed |= whole.lanes;
            print_fragment(to, step, &whole);
        }
    return hash;
}

// ---- registers ----

// Small integers are read best as decimal numbers, others in hexadecimal.
static void print_value(struct em_step_text *to, const struct px_register_info *r,
                        const uint64_t value[2])
{
    enum { DECIMAL_MOST = 99999, DECIMAL_LEAST = -9999 };
    const uint32_t low = (uint32_t)value[0];
    float single;
    double real;
    memcpy(&single, &low, sizeof single);
    memcpy(&real, value, sizeof real);
    if (r->real) {
        em_step_print(to, r->letter == 'l' ? "%.17g" : "%.9g",
                      r->letter == 'l' ? real : (double)single);
        return;
    }
    if (r->letter == 'x') {
        em_step_print(to, "0x%016llx%016llx", (unsigned long long)value[1],
                      (unsigned long long)value[0]);
        return;
    }
    const int64_t number = r->letter == 'h'   ? (int64_t)(int16_t)low
                           : r->letter == 'w' ? (int64_t)(int32_t)low
                                              : (int64_t)value[0];
    if (number >= DECIMAL_LEAST && number <= DECIMAL_MOST)
        em_step_print(to, "%lld", (long long)number);
    else
        em_step_print(to, "0x%llx", (unsigned long long)value[0]);
}

// A predicate is drawn as a mask of lanes.
static void print_predicate(struct em_step_text *to, const struct px_step *step, px_register reg,
                            uint32_t lanes)
{
    char mask[33];
    uint32_t set = 0;
    for (int i = 0; i < LANES; i++) {
        uint64_t value[2];
        px_step_value(step, reg, i, value);
        set |= (uint32_t)value[0] << i;
    }
    em_step_mask(step, lanes, set & lanes, mask);
    em_step_print(to, "       %s  %s is true in #\n", mask, step->program->registers[reg].name);
}

struct values {
    uint64_t list[LANES][2];
    int count;
    bool same, even; // the same in all lanes; the same distance from lane to lane
};

static void values_read(struct values *v, const struct px_step *step, px_register reg,
                        uint32_t lanes)
{
    const bool integer = !step->program->registers[reg].real;
    v->count = 0;
    for (int i = 0; i < LANES; i++)
        if (lanes >> i & 1)
            px_step_value(step, reg, i, v->list[v->count++]);
    v->same = true;
    v->even = integer && v->count > 4;
    for (int i = 1; i < v->count; i++) {
        v->same &= v->list[i][0] == v->list[0][0] && v->list[i][1] == v->list[0][1];
        v->even &= v->list[i][0] - v->list[i - 1][0] == v->list[1][0] - v->list[0][0] &&
                   v->list[i][1] == v->list[0][1];
    }
}

void em_step_register(struct em_step_text *to, const struct px_step *step, px_register reg,
                      uint32_t lanes, uint32_t all)
{
    const struct px_register_info *r = &step->program->registers[reg];
    const char margin[] = "                                         ";
    struct values v;
    if (r->letter == 'p') {
        print_predicate(to, step, reg, lanes);
        return;
    }
    values_read(&v, step, reg, lanes);
    em_step_print(to, "%s%s = ", margin, r->name);
    const int shown = v.same ? 1 : v.even ? 3 : v.count;
    for (int i = 0; i < shown; i++) {
        if (i && i % LIST_MOST == 0)
            em_step_print(to, ",\n%s%*s", margin, (int)strlen(r->name) + 3, "");
        else if (i)
            em_step_print(to, ", ");
        print_value(to, r, v.list[i]);
    }
    if (!v.same && v.even) {
        em_step_print(to, " … ");
        print_value(to, r, v.list[v.count - 1]);
    }
    if (lanes != all) {
        em_step_print(to, v.count > 1 ? " in lanes " : " in lane ");
        print_lanes(to, lanes);
    }
    em_step_print(to, "\n");
}
