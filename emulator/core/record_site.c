// SPDX-License-Identifier: MIT
// Call sites of a program. Records of a site's calls leave out what its earlier records say.
#include "record_site.h"

#include "describe.h"
#include "record.h"
#include "record_blobs.h"

static bool leads_to_memory(const cardlessMember *m, const cardlessShape *s)
{
    return s->kind == CARDLESS_SHAPE_POINTER || s->kind == CARDLESS_SHAPE_STRING ||
           m->flags & CARDLESS_MEMBER_INDIRECT;
}

static bool any_follows(const struct em_entry *entry, bool returns, CUresult result)
{
    const cardlessTypes *d = entry->description;
    for (uint32_t i = 0; i < entry->arguments; i++) {
        const cardlessMember *m = &d->members[entry->first_argument + i];
        const cardlessShape *s = &d->shapes[m->shape];
        if (leads_to_memory(m, s) && em_record_is_wanted(m, returns, result))
            return true;
    }
    return false;
}

// The outputs of a site that are numbers.
static void find_outputs(struct em_record_site *s, const cardlessTypes *d)
{
    s->output_count = 0;
    for (uint32_t i = 0; s->outputs && i < s->count; i++) {
        const cardlessMember *m = &d->members[s->entry->first_argument + i];
        const cardlessShape *shape = &d->shapes[m->shape];
        if (!em_record_is_wanted(m, true, CUDA_SUCCESS) || !leads_to_memory(m, shape))
            continue;
        const cardlessShape *target = &d->shapes[shape->target];
        const bool is_number = shape->kind == CARDLESS_SHAPE_POINTER && target->size_B <= 8 &&
                               target->kind <= CARDLESS_SHAPE_OPAQUE;
        if (!is_number || m->flags & (CARDLESS_MEMBER_LIST | CARDLESS_MEMBER_INDIRECT) ||
            s->output_count == EM_RECORD_OUTPUTS) {
            s->output_count = 0;
            return;
        }
        s->output[s->output_count++] =
            (struct em_record_output){(uint8_t)i, (uint8_t)target->size_B};
    }
}

__attribute__((cold)) void em_record_site_fill(struct em_record_site *s, bool unknown)
{
    const struct em_entry *entry = s->entry;
    const cardlessTypes *d = unknown ? NULL : entry->description;
    s->id = em_record_entry(entry);
    s->by_id = em_record_entry(s->by);
    s->caller_id = em_record_caller(s->caller);
    s->count = d && entry->arguments <= EM_RECORD_ARGUMENTS ? (uint8_t)entry->arguments : 0;
    s->inputs = s->count && any_follows(entry, false, CUDA_SUCCESS);
    s->outputs = s->count && any_follows(entry, true, CUDA_SUCCESS);
    s->failure = s->count && any_follows(entry, true, CUDA_ERROR_UNKNOWN);
    find_outputs(s, d);
    s->handles = 0;
    for (uint32_t i = 0; i < s->count && d->handle_text; i++)
        if (d->shapes[d->members[entry->first_argument + i].shape].kind == CARDLESS_SHAPE_HANDLE)
            s->handles |= 1u << i;
}

// A site may be in any of these places, so that a program's sites seldom replace each other.
enum { SITE_PLACES = 4 };

struct em_record_site *em_record_site_other(struct em_record_thread *t, size_t position,
                                            const struct em_entry *entry, const struct em_entry *by,
                                            const void *caller)
{
    struct em_record_site *place = &t->sites[position];
    for (size_t i = 1; i < SITE_PLACES; i++) {
        struct em_record_site *s = &t->sites[position ^ i];
        if (em_record_site_is(s, entry, by, caller))
            return s;
        place = place->entry && !s->entry ? s : place;
    }
    *place = (struct em_record_site){
        .caller = caller, .entry = entry, .by = by, .number = (uint8_t)(place - t->sites)};
    em_record_site_fill(place, false);
    return place;
}
