// SPDX-License-Identifier: MIT
// Derives what the page of `cardless trace --html` shows and a recorded run does not say directly.
#include "trace_html_derive.h"

#include "format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- texts of calls

void html_call_text(const struct trace_model *m, const struct trace_call *c, struct em_text *text)
{
    trace_call_arguments(m, c, text);
    trace_call_outputs(m, c, text);
    em_text_put(text, "%c", 0); // so that string functions can read it
}

uint64_t html_number(const char *text, const char *name, uint64_t missing)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += length)
        if (at[length] == '=' && (at == text || strchr(" {.,(*", at[-1])))
            return strtoull(at + length + 1, NULL, 0);
    return missing;
}

bool html_names_object(const char *text, const struct trace_object *o)
{
    char name[80];
    size_t length =
        (size_t)snprintf(name, sizeof name, "%s #%llu", o->type, (unsigned long long)o->number);

    for (const char *at = text; at && (at = strstr(at, name)); at += length)
        if (at[length] < '0' || at[length] > '9')
            return true;
    return false;
}

uint32_t html_memory_in_text(const struct trace_model *m, const char *text, uint64_t time)
{
    for (const char *at = text; at && (at = strstr(at, "0x")); at += 2) {
        uint64_t address = strtoull(at, NULL, 16);

        for (size_t i = m->memory_count; i--;) { // the newest first
            const struct trace_memory *a = &m->memories[i];

            if (a->address <= address && address - a->address < a->size_B && a->born <= time)
                return (uint32_t)i;
        }
    }
    return TRACE_NONE;
}

// ---- shared memory

static const struct trace_memory *sorted_memories; // for compare_physical

static int compare_physical(const void *a, const void *b)
{
    const struct trace_memory *x = &sorted_memories[*(const uint32_t *)a],
                              *y = &sorted_memories[*(const uint32_t *)b];

    if (x->physical != y->physical)
        return x->physical < y->physical ? -1 : 1;
    return x->born < y->born ? -1 : x->born > y->born;
}

// Whether the mapping `a` shows a part of `b`.
static bool is_below(const struct trace_memory *b, const struct trace_memory *a)
{
    return !b->address && b->born <= a->born && a->born < b->died && trace_memory_overlaps(a, b);
}

// An import, or memory that cuMemCreate has made, has no address and is below its mappings: the
// newest one if there are several, such as imports of one file. If mappings of the same bytes have
// nothing below them, an entry is made. Allocations may be parts of the same physical memory
// without common bytes.
static void add_shared(struct html_derived *d, const struct trace_model *m, const uint32_t *members,
                       size_t count)
{
    struct html_shared *s = &d->shared[d->shared_count];
    const struct trace_memory *first = &m->memories[members[0]];
    bool makes = false;

    *s = (struct html_shared){.born = first->born, .born_call = first->born_call};
    for (size_t i = 0; i < count; i++) {
        const struct trace_memory *a = &m->memories[members[i]];
        uint32_t *below = &d->below[members[i]];

        for (size_t k = i; a->address && k-- && *below == TRACE_NONE;)
            if (is_below(&m->memories[members[k]], a))
                *below = members[k];
        makes |= a->of != TRACE_NONE && a->address && *below == TRACE_NONE;
    }
    if (!makes)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct trace_memory *a = &m->memories[members[i]];

        if (!a->address || d->below[members[i]] != TRACE_NONE)
            continue;
        if (a->size_B < UINT64_MAX - a->offset && a->offset + a->size_B > s->size_B)
            s->size_B = a->offset + a->size_B;
        s->died = a->died > s->died ? a->died : s->died;
        d->below[members[i]] = (uint32_t)(m->memory_count + d->shared_count);
    }
    d->shared_count++;
}

// Mappings of the same physical memory, whose lives overlap, belong together. A number of physical
// memory may come again after all mappings have ended.
static bool find_shared(struct html_derived *d, const struct trace_model *m)
{
    size_t n = m->memory_count, count = 0, first = 0;
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint64_t alive_until = 0;

    d->shared = malloc((n + 1) * sizeof *d->shared);
    d->below = malloc((n + 1) * sizeof *d->below);
    if (!order || !d->shared || !d->below) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        d->below[i] = TRACE_NONE;
        if (m->memories[i].physical)
            order[count++] = (uint32_t)i;
    }
    sorted_memories = m->memories;
    qsort(order, count, sizeof *order, compare_physical);
    for (size_t i = 0; i < count; i++) {
        const struct trace_memory *a = &m->memories[order[i]];

        if (i > first &&
            (a->physical != m->memories[order[first]].physical || a->born > alive_until)) {
            add_shared(d, m, order + first, i - first);
            first = i;
            alive_until = 0;
        }
        alive_until = a->died > alive_until ? a->died : alive_until;
    }
    if (count > first)
        add_shared(d, m, order + first, count - first);
    free(order);
    return true;
}

// ---- arrays

// Returns false if the file does not have all levels, or they make no sense.
static bool read_layout(const struct trace_array *a, struct dm_layout *l)
{
    *l = (struct dm_layout){.kind = (enum dm_layout_kind)a->kind,
                            .dimensions = (uint8_t)a->dimensions,
                            .layered = a->layered,
                            .cube = a->cube,
                            .element_B = a->element_B,
                            .block_px = a->block_px,
                            .layers = a->layers,
                            .levels = a->levels,
                            .total_B = a->size_B,
                            .size_B = a->size_B};
    if (!a->levels || a->levels > DM_LAYOUT_LEVELS_MAX || !a->element_B || !a->layers)
        return false;
    for (uint32_t i = 0; i < a->levels; i++) {
        struct dm_layout_level *v = &l->level[i];
        struct trace_level t;

        if (!trace_array_level(a, i, &t) || t.block_height_log2_gob > 8 ||
            t.block_depth_log2_gob > 8)
            return false;
        *v = (struct dm_layout_level){.offset_B = t.offset_B,
                                      .size_B = t.size_B,
                                      .pitch_B = t.pitch_B,
                                      .slice_B = t.slice_B,
                                      .layer_stride_B = t.layer_stride_B,
                                      .width_px = t.width_px,
                                      .height_px = t.height_px,
                                      .width_el = t.width_el,
                                      .height_el = t.height_el,
                                      .depth = t.depth,
                                      .width_gob = t.width_gob,
                                      .height_gob = t.height_gob,
                                      .block_height_log2_gob = (uint8_t)t.block_height_log2_gob,
                                      .block_depth_log2_gob = (uint8_t)t.block_depth_log2_gob};
    }
    // The recording has no sum; it is the end of the last level, in the last layer.
    l->total_B = l->level[a->levels - 1].offset_B + l->level[a->levels - 1].size_B;
    if (a->layered && l->level[0].layer_stride_B >= l->total_B)
        l->total_B = l->level[0].layer_stride_B * a->layers;
    return true;
}

// An array that is a level of a mipmapped array is part of that one's picture.
static void find_array(struct html_derived *d, const struct trace_model *m, uint32_t index)
{
    const struct trace_array *a = &m->arrays[index];
    const struct trace_object *o = a->object == TRACE_NONE ? NULL : &m->objects[a->object];
    const struct dm_format_info *info = dm_format_info(a->format);
    struct html_array *out = &d->arrays[d->array_count];

    if (!o)
        return;
    for (size_t i = 0; i < d->array_count; i++) {
        const struct trace_array *other = &m->arrays[d->arrays[i].array];

        if (other->address == a->address && m->objects[other->object].died >= a->born)
            return;
    }
    if (!read_layout(a, &out->layout))
        return;
    out->array = index;
    snprintf(out->format, sizeof out->format, "%s \xc3\x97%u", info ? info->name : "unknown format",
             a->channels);
    d->array_count++;
}

bool html_derive(struct html_derived *d, const struct trace_model *m)
{
    *d = (struct html_derived){.shared_count = 0};
    d->arrays = malloc((m->array_count + 1) * sizeof *d->arrays);
    if (!d->arrays || !find_shared(d, m))
        return false;
    for (size_t i = 0; i < m->array_count; i++)
        find_array(d, m, (uint32_t)i);
    return true;
}

void html_derived_finish(struct html_derived *d)
{
    free(d->shared);
    free(d->below);
    free(d->arrays);
    *d = (struct html_derived){.shared_count = 0};
}
