// SPDX-License-Identifier: MIT
// The tables of types in a recorded run. describe.c trusts tables, so everything that it relies on
// is checked here.
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

enum { SIZE_MAX_B = 64 << 10, MEMBERS_MAX = 1024, DEPTH_MAX = 16 };

// Returns the table, or NULL if it is not in the file.
static const void *table_at(const uint8_t *tables, size_t size_B, const struct rf_table *t,
                            size_t stride)
{
    if (t->stride != stride || t->at % 8 || t->at > size_B || t->count > (size_B - t->at) / stride)
        return NULL;
    return tables + t->at;
}

static bool is_record(const cardlessShape *s)
{
    return s->kind == CARDLESS_SHAPE_STRUCT || s->kind == CARDLESS_SHAPE_UNION;
}

static bool shape_is_valid(const cardlessTypes *d, const cardlessShape *s)
{
    const cardlessTypesCounts *n = &d->counts;
    if (s->kind > CARDLESS_SHAPE_BYTES || s->name >= n->names_B || !s->size_B ||
        s->size_B > SIZE_MAX_B)
        return false;
    if (!is_record(s) && s->kind != CARDLESS_SHAPE_BYTES && s->size_B > 8)
        return false;
    if (s->kind == CARDLESS_SHAPE_FLOAT)
        return s->size_B == 4 || s->size_B == 8;
    if (s->kind == CARDLESS_SHAPE_ENUM || s->kind == CARDLESS_SHAPE_FLAGS)
        return s->first <= n->constants && s->count <= n->constants - s->first;
    if (s->kind == CARDLESS_SHAPE_POINTER)
        return s->target < n->shapes;
    if (!is_record(s))
        return true;
    return s->first <= n->members && s->count <= n->members - s->first && s->count <= MEMBERS_MAX &&
           (s->kind == CARDLESS_SHAPE_STRUCT || s->target <= s->count);
}

// Whether a member may stand in a record of this size, or a list of arguments, with `count` members
// from `first` on.
static bool member_is_valid(const cardlessTypes *d, const cardlessMember *m, uint64_t size_B,
                            uint32_t first, uint32_t count)
{
    const cardlessTypesCounts *n = &d->counts;
    if (m->name >= n->names_B || m->shape >= n->shapes || m->cases > n->cases ||
        m->case_count > n->cases - m->cases)
        return false;
    const uint64_t bytes = (uint64_t)d->shapes[m->shape].size_B * (m->elements ? m->elements : 1);
    if (bytes > size_B || m->offset > size_B - bytes)
        return false;
    if (m->selector != CARDLESS_NO_SIBLING && m->selector >= count)
        return false;
    if (!(m->flags & CARDLESS_MEMBER_LIST))
        return true;
    if (m->count >= count)
        return false;
    const cardlessMember *counter = &d->members[first + m->count];
    if (counter->shape >= n->shapes)
        return false;
    return !(m->flags & CARDLESS_MEMBER_COUNT_OUT) ||
           d->shapes[counter->shape].kind == CARDLESS_SHAPE_POINTER;
}

// Records contain each other without end if their depths never settle.
static bool depths_are_finite(const cardlessTypes *d)
{
    uint8_t *depth = calloc(d->counts.shapes + 1, 1);
    bool changes = depth != NULL, finite = depth != NULL;
    for (unsigned round = 0; changes && finite; round++) {
        changes = false;
        for (uint32_t i = 0; i < d->counts.shapes; i++) {
            const cardlessShape *s = &d->shapes[i];
            for (uint32_t k = 0; is_record(s) && k < s->count; k++) {
                const uint32_t inner = d->members[s->first + k].shape;
                if (is_record(&d->shapes[inner]) && depth[inner] >= depth[i]) {
                    depth[i] = (uint8_t)(depth[inner] + 1);
                    changes = true;
                }
            }
            finite &= depth[i] <= DEPTH_MAX;
        }
        finite &= round <= DEPTH_MAX;
    }
    free(depth);
    return finite;
}

static bool description_is_valid(const cardlessTypes *d)
{
    const cardlessTypesCounts *n = &d->counts;
    if (!n->names_B || d->names[n->names_B - 1] || d->result >= n->shapes)
        return false;
    for (uint32_t i = 0; i < n->constants; i++)
        if (d->constants[i].name >= n->names_B)
            return false;
    for (uint32_t i = 0; i < n->shapes; i++)
        if (!shape_is_valid(d, &d->shapes[i]))
            return false;
    for (uint32_t i = 0; i < n->shapes; i++) {
        const cardlessShape *s = &d->shapes[i];
        for (uint32_t k = 0; is_record(s) && k < s->count; k++)
            if (!member_is_valid(d, &d->members[s->first + k], s->size_B, s->first, s->count))
                return false;
    }
    const cardlessShape *result = &d->shapes[d->result];
    return result->kind == CARDLESS_SHAPE_ENUM && depths_are_finite(d);
}

// The number of a type of handles, or UINT32_MAX.
static uint32_t find_type(const uint8_t *tables, size_t size_B, const struct rf_tables *t,
                          const char *name)
{
    const uint32_t(*pairs)[2] = table_at(tables, size_B, &t->types, sizeof *pairs);
    const struct rf_table names = {t->type_names_at, t->type_names_B, 1};
    const char *texts = table_at(tables, size_B, &names, 1);
    const size_t length = strlen(name) + 1;
    for (uint32_t i = 0; pairs && texts && i < t->types.count; i++)
        if (pairs[i][1] < names.count && names.count - pairs[i][1] >= length &&
            !memcmp(texts + pairs[i][1], name, length))
            return pairs[i][0];
    return UINT32_MAX;
}

const struct trace_types *trace_types_of(const struct trace_file *f, uint64_t id)
{
    for (uint32_t i = 0; i < f->types_count; i++)
        if (f->types[i].id == id)
            return &f->types[i];
    return NULL;
}

void trace_tables_read(struct trace_file *f, uint32_t id, const uint8_t *tables, size_t size_B)
{
    struct rf_tables t;
    if (size_B < sizeof t || f->types_count == TRACE_TYPES_MAX || trace_types_of(f, id))
        return;
    memcpy(&t, tables, sizeof t);
    cardlessTypes d = {
        .names = table_at(tables, size_B, &t.names, 1),
        .constants = table_at(tables, size_B, &t.constants, sizeof *d.constants),
        .members = table_at(tables, size_B, &t.members, sizeof *d.members),
        .shapes = table_at(tables, size_B, &t.shapes, sizeof *d.shapes),
        .cases = table_at(tables, size_B, &t.cases, sizeof *d.cases),
        .result = (uint16_t)t.result,
        .counts = {t.names.count, t.constants.count, t.members.count, t.shapes.count,
                   t.cases.count},
    };
    if (!d.names || !d.constants || !d.members || !d.shapes || !d.cases ||
        t.result >= d.counts.shapes || !description_is_valid(&d))
        return;
    f->types[f->types_count++] =
        (struct trace_types){id, d, find_type(tables, size_B, &t, "CUstream")};
}

bool trace_arguments_are_valid(const struct trace_types *types, uint64_t first, uint64_t count)
{
    const cardlessTypes *d = &types->description;
    if (count > 64 || first > d->counts.members || count > d->counts.members - first)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const cardlessMember *m = &d->members[first + i];
        if (m->shape >= d->counts.shapes || m->offset != 8 * i || m->elements)
            return false;
        const bool by_value = !(m->flags & CARDLESS_MEMBER_INDIRECT);
        if (by_value && !member_is_valid(d, m, 8 * count, (uint32_t)first, (uint32_t)count))
            return false;
        if (by_value && d->shapes[m->shape].size_B > 8)
            return false;
        if (!by_value && m->name >= d->counts.names_B)
            return false;
    }
    return true;
}
