// SPDX-License-Identifier: MIT
// Compares the outputs of a call with the recorded ones.
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "replay_job.h"

enum {
    SMALL = 65536,            // no memory has a lower address, and no list is that long
    LAST_RESERVED_HANDLE = 2, // CU_STREAM_PER_THREAD; 0 and 1 mean the same in each process, too
};

struct pair {
    const uint8_t *old, *now;
};

static bool compare_value(struct replay_job *job, const struct replay_scope *at,
                          const cardlessMember *m, const cardlessShape *s, struct pair p,
                          const char *name);

// Writes that an output differs, which ends the comparison. `format` is of one number of 64 bits.
static bool differ(struct replay_job *job, const char *name, const char *format, uint64_t old,
                   uint64_t now)
{
    int n = snprintf(job->difference, sizeof job->difference, "%s was ", name);
    n += snprintf(job->difference + n, sizeof job->difference - (size_t)n, format,
                  (unsigned long long)old);
    n += snprintf(job->difference + n, sizeof job->difference - (size_t)n, ", and is now ");
    snprintf(job->difference + n, sizeof job->difference - (size_t)n, format,
             (unsigned long long)now);
    return false;
}

static bool same_number(struct replay_job *job, const char *name, uint64_t old, uint64_t now)
{
    if (old != now)
        return differ(job, name, "%#llx", old, now);
    return true;
}

// For pointers, of which one process knows no more than whether they are NULL.
static bool both_or_neither(struct replay_job *job, const char *name, uint64_t old, uint64_t now)
{
    if (!old != !now)
        return differ(job, name, "%#llx", old, now);
    return true;
}

static bool compare_handle(struct replay_job *job, struct pair p, uint32_t size, const char *name)
{
    uint64_t old = replay_load(p.old, size), now = replay_load(p.now, size), expected = 0;
    if (old <= LAST_RESERVED_HANDLE || now <= LAST_RESERVED_HANDLE)
        return same_number(job, name, old, now);
    if (replay_find(job->replay, p.old, size, &expected) != REPLAY_FOUND) {
        replay_add(job->replay, p.old, size, p.now);
        return true;
    }
    if (expected != now)
        return differ(job, name, "the handle %#llx", expected, now);
    return true;
}

static bool compare_address(struct replay_job *job, struct pair p, bool is_opaque, const char *name)
{
    const uint64_t old = replay_load(p.old, 8), now = replay_load(p.now, 8);
    bool found;
    if (old < SMALL || now < SMALL)
        return is_opaque ? both_or_neither(job, name, old, now) : same_number(job, name, old, now);
    const uint64_t expected = replay_address(job->replay, old, &found);
    // The address may belong to freed memory of another size.
    if (!found || replay_is_born(job->replay, job->index, old)) {
        replay_add_memory(job->replay, job->index, old, now, false);
        return true;
    }
    if (expected != now && !is_opaque)
        return differ(job, name, "the address %#llx", expected, now);
    return true;
}

// Whether the call has left an output as it was: the program's memory then had other bytes.
static bool is_unwritten(const uint8_t *now, uint32_t size_B)
{
    for (uint32_t i = 0; i < size_B; i++)
        if (now[i] != REPLAY_UNWRITTEN)
            return false;
    return size_B != 0;
}

static bool compare_string(struct replay_job *job, const struct replay_scope *at, struct pair p,
                           const char *name)
{
    const uint64_t old = replay_load(p.old, 8), now = replay_load(p.now, 8);
    uint64_t size_B = 1;
    const uint8_t *text = old ? replay_recorded(job, at->blobs, old, &size_B) : NULL;
    if (!both_or_neither(job, name, old, now))
        return false;
    if (!text || !strncmp((const char *)text, (const char *)(uintptr_t)now, size_B))
        return true;
    char was[512], is[512];
    escape_line((const char *)text, size_B, was, sizeof was);
    escape_line((const char *)(uintptr_t)now, size_B, is, sizeof is);
    snprintf(job->difference, sizeof job->difference, "%s was \"%s\", and is now \"%s\"", name, was,
             is);
    return false;
}

static bool compare_elements(struct replay_job *job, const struct replay_scope *outer,
                             const cardlessMember *m, const cardlessShape *target, struct pair p,
                             uint64_t count, const char *name)
{
    struct replay_scope at = *outer;
    at.depth++;
    for (uint64_t i = 0; i < count; i++) {
        char element[256];
        snprintf(element, sizeof element, count == 1 ? "*%s" : "%s[%llu]", name,
                 (unsigned long long)i);
        const struct pair e = {p.old + i * target->size_B, p.now + i * target->size_B};
        if (!compare_value(job, &at, m, target, e, element))
            return false;
    }
    return true;
}

// Compares a pointer that the driver has put into an output, and what it points to.
static bool compare_target(struct replay_job *job, const struct replay_scope *outer,
                           const cardlessMember *m, const cardlessShape *s, struct pair p,
                           const char *name)
{
    const cardlessShape *target = &api_description.shapes[s->target];
    const uint64_t old = replay_load(p.old, 8), now = replay_load(p.now, 8);
    if (!old || !now || outer->depth >= REPLAY_DEPTH_MAX)
        return both_or_neither(job, name, old, now);
    const uint64_t count = replay_count(job, outer, m);
    uint64_t size_B = count < SMALL ? count * target->size_B : UINT64_MAX;
    const uint8_t *bytes = count ? replay_recorded(job, outer->blobs, old, &size_B) : NULL;
    if (!bytes || target->kind == CARDLESS_SHAPE_OPAQUE)
        return true;
    const struct pair elements = {bytes, (const uint8_t *)(uintptr_t)now};
    return compare_elements(job, outer, m, target, elements, count, name);
}

// Compares a member of a structure or union, which may be an array.
static bool compare_member(struct replay_job *job, const struct replay_scope *at,
                           const cardlessMember *m, struct pair p, const char *name)
{
    const cardlessShape *s = &api_description.shapes[m->shape];
    for (unsigned k = 0; k < (m->elements ? m->elements : 1); k++) {
        const size_t offset = m->offset + k * s->size_B;
        const struct pair e = {p.old + offset, p.now + offset};
        if (!compare_value(job, at, m, s, e, name))
            return false;
    }
    return true;
}

static bool compare_members(struct replay_job *job, const struct replay_scope *outer,
                            const cardlessShape *s, struct pair p, const char *name)
{
    const struct replay_scope at = {p.old, s->first, outer->depth, outer->blobs};
    for (uint32_t i = s->first; i < (uint32_t)s->first + s->count; i++) {
        const cardlessMember *m = &api_description.members[i];
        if (m->flags & CARDLESS_MEMBER_QUIET)
            continue;
        char path[256];
        snprintf(path, sizeof path, "%s.%s", name, replay_name(m->name));
        if (!compare_member(job, &at, m, p, path))
            return false;
    }
    return true;
}

static bool is_exported_bytes(const cardlessShape *s)
{
    const char *name = replay_name(s->name);
    return !strncmp(name, "CUipc", 5) || !strcmp(name, "CUmemPoolPtrExportData") ||
           !strcmp(name, "CUmemFabricHandle");
}

// Returns the first byte that differs, or the size. Structs without public members, such as
// CUtensorMap, may hold addresses in whole words, which are compared as addresses.
static uint32_t first_difference(struct replay_job *job, struct pair p, uint32_t size_B)
{
    for (uint32_t at = 0; at < size_B; at += 8) {
        uint32_t end = size_B - at < 8 ? size_B : at + 8;
        if (!memcmp(p.old + at, p.now + at, end - at))
            continue;
        bool found = false;
        if (end - at == 8 &&
            replay_address(job->replay, replay_load(p.old + at, 8), &found) ==
                replay_load(p.now + at, 8) &&
            found)
            continue;
        while (p.old[at] == p.now[at])
            at++;
        return at;
    }
    return size_B;
}

static bool compare_number(struct replay_job *job, const cardlessShape *s, struct pair p,
                           const char *name)
{
    if (!memcmp(p.old, p.now, s->size_B))
        return true;
    if (s->kind == CARDLESS_SHAPE_BYTES && is_exported_bytes(s)) {
        replay_add(job->replay, p.old, s->size_B, p.now);
        return true;
    }
    if (s->size_B > 8) {
        char byte[256 + 32];
        const uint32_t at = first_difference(job, p, s->size_B);
        if (at == s->size_B)
            return true;
        snprintf(byte, sizeof byte, "byte %u of %s", at, name);
        return differ(job, byte, "%#llx", p.old[at], p.now[at]);
    }
    const uint64_t old = replay_load(p.old, s->size_B), now = replay_load(p.now, s->size_B);
    for (size_t i = 0; s->kind == CARDLESS_SHAPE_SIGNED && s->size_B == 4 && i < job->fd_count; i++)
        if (!job->fds[i].is_taken && (uint32_t)job->fds[i].fd == old)
            return true;
    return differ(job, name, s->kind == CARDLESS_SHAPE_SIGNED ? "%lld" : "%#llx", old, now);
}

static bool compare_value(struct replay_job *job, const struct replay_scope *at,
                          const cardlessMember *m, const cardlessShape *s, struct pair p,
                          const char *name)
{
    if (is_unwritten(p.now, s->size_B))
        return true;
    switch ((cardlessShapeKind)s->kind) {
    case CARDLESS_SHAPE_HANDLE:
        return compare_handle(job, p, s->size_B, name);
    case CARDLESS_SHAPE_OPAQUE:
        if (!strcmp(replay_name(s->name), "void"))
            return compare_address(job, p, true, name);
        return both_or_neither(job, name, replay_load(p.old, 8), replay_load(p.now, 8));
    case CARDLESS_SHAPE_HEX:
        if (s->size_B == 8)
            return compare_address(job, p, false, name);
        return compare_number(job, s, p, name);
    case CARDLESS_SHAPE_STRING:
        return compare_string(job, at, p, name);
    case CARDLESS_SHAPE_POINTER:
        return compare_target(job, at, m, s, p, name);
    case CARDLESS_SHAPE_STRUCT:
        return compare_members(job, at, s, p, name);
    case CARDLESS_SHAPE_UNION: {
        const cardlessMember *chosen = replay_chosen(m, s, at, p.old);
        const struct replay_scope inner = {p.old, s->first, at->depth, at->blobs};
        return !chosen || compare_member(job, &inner, chosen, p, name);
    }
    default:
        return compare_number(job, s, p, name);
    }
}

static const struct replay_memory *memory_of(const struct replay_job *job, uint64_t recorded)
{
    for (const struct replay_memory *m = job->memory; m; m = m->next)
        if (m->recorded == recorded)
            return m;
    return NULL;
}

static bool is_output(const struct replay_job *job, const cardlessMember *m)
{
    return m->flags & (job->call->result ? CARDLESS_MEMBER_ALWAYS : CARDLESS_MEMBER_OUTPUT);
}

static bool compare_argument(struct replay_job *job, uint32_t i)
{
    const cardlessMember *m = &api_description.members[job->entry->first + i];
    const cardlessShape *s = &api_description.shapes[m->shape];
    const struct replay_scope at = {(const uint8_t *)job->recorded, job->entry->first, 0,
                                    &job->call->after};
    const struct replay_memory *now = memory_of(job, job->recorded[i]);
    if (!is_output(job, m) || !job->recorded[i] || !now)
        return true;
    const char *name = replay_name(m->name);
    if (s->kind == CARDLESS_SHAPE_STRING)
        return compare_string(
            job, &at,
            (struct pair){(const uint8_t *)&job->recorded[i], (const uint8_t *)&job->values[i]},
            name);
    if (s->kind != CARDLESS_SHAPE_POINTER)
        return true;
    const cardlessShape *target = &api_description.shapes[s->target];
    const uint64_t count = replay_count(job, &at, m);
    uint64_t size_B = count < now->size_B ? count * target->size_B : UINT64_MAX;
    const uint8_t *old = count ? replay_recorded(job, at.blobs, job->recorded[i], &size_B) : NULL;
    if (!old || count * target->size_B > now->size_B)
        return true;
    return compare_elements(job, &at, m, target, (struct pair){old, now->bytes}, count, name);
}

// All calls that return a descriptor have one output.
static void add_fds(struct replay_job *job)
{
    uint32_t output = 0;
    while (output < job->entry->count &&
           !is_output(job, &api_description.members[job->entry->first + output]))
        output++;
    for (size_t i = 0; i < job->fd_count && output < job->entry->count; i++) {
        const struct trace_fd *f = &job->fds[i];
        const struct replay_memory *now = memory_of(job, job->recorded[output]);
        int fd;
        if (f->is_taken || !now)
            continue;
        memcpy(&fd, now->bytes, sizeof fd);
        replay_add_fd(job->replay, f, fd);
    }
}

bool replay_outputs(struct replay_job *job)
{
    add_fds(job);
    for (uint32_t i = 0; i < job->entry->count; i++)
        if (!compare_argument(job, i))
            return false;
    return true;
}

// ---- calls that are not made ----

static void lose_value(struct replay_job *job, const cardlessShape *s, const uint8_t *old)
{
    const uint64_t value = replay_load(old, s->size_B);
    uint64_t known;
    switch (s->kind) {
    case CARDLESS_SHAPE_HANDLE: // a call that is made may have returned it before
        if (value > LAST_RESERVED_HANDLE &&
            replay_find(job->replay, old, s->size_B, &known) != REPLAY_FOUND)
            replay_add(job->replay, old, s->size_B, NULL);
        break;
    case CARDLESS_SHAPE_HEX:
    case CARDLESS_SHAPE_OPAQUE:
        if (s->size_B == sizeof value && value >= SMALL)
            replay_add_memory(job->replay, job->index, value, value, true);
        break;
    default:
        break;
    }
}

void replay_lose_outputs(struct replay_job *job)
{
    replay_lose_born(job->replay, job->index);
    if (!job->entry || job->call->result)
        return;
    for (uint32_t i = 0; i < job->entry->count; i++) {
        const cardlessMember *m = &api_description.members[job->entry->first + i];
        const cardlessShape *s = &api_description.shapes[m->shape];
        const struct replay_scope at = {(const uint8_t *)job->recorded, job->entry->first, 0,
                                        &job->call->after};
        if (!is_output(job, m) || s->kind != CARDLESS_SHAPE_POINTER)
            continue;
        const cardlessShape *target = &api_description.shapes[s->target];
        const uint64_t count = replay_count(job, &at, m);
        uint64_t size_B = count < SMALL ? count * target->size_B : UINT64_MAX;
        const uint8_t *old =
            count ? replay_recorded(job, at.blobs, job->recorded[i], &size_B) : NULL;
        for (uint64_t k = 0; old && k < count; k++)
            lose_value(job, target, old + k * target->size_B);
    }
}
