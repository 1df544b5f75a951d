// SPDX-License-Identifier: MIT
// Makes the arguments of a call from the recorded ones: copies the memory that they lead to, and
// translates what has another value in this process.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay_job.h"

enum { OUTPUT_LEAST_B = 4096, LIST_LEAST_B = 64 << 10, SMALL = 65536 };
#define MEMORY_MOST_B (UINT64_C(64) << 20)

const char *replay_name(uint32_t name)
{
    return api_description.names + name;
}

uint64_t replay_load(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static void store(uint8_t *to, uint64_t value, uint32_t size)
{
    memcpy(to, &value, size < sizeof value ? size : sizeof value);
}

const uint8_t *replay_recorded(const struct replay_job *job, const struct trace_blobs *blobs,
                               uint64_t address, uint64_t *size_B)
{
    struct trace_record r = {.at = blobs->at, .end = blobs->end};
    const uint8_t *best = NULL;
    uint64_t best_B = 0;
    while (r.at < r.end) {
        const uint64_t from = trace_field(&r);
        const char *text;
        const uint64_t size = trace_text(&r, &text);
        if (address >= from && address - from < size && size - (address - from) > best_B) {
            best = (const uint8_t *)text + (address - from);
            best_B = size - (address - from);
        }
    }
    for (size_t i = 0; blobs == &job->call->before && best_B < *size_B && i < job->byte_count;
         i++) {
        const struct trace_bytes *b = &job->bytes[i];
        if (b->role == RF_READS && b->kept && b->rows == 1 && b->slices == 1 &&
            address >= b->address && address - b->address < b->row_B &&
            b->row_B - (address - b->address) > best_B) {
            best = b->kept + (address - b->address);
            best_B = b->row_B - (address - b->address);
        }
    }
    if (best_B < *size_B)
        return NULL;
    *size_B = best_B;
    return best;
}

uint64_t replay_count(const struct replay_job *job, const struct replay_scope *at,
                      const cardlessMember *user)
{
    const cardlessTypes *d = &api_description;
    if (!(user->flags & CARDLESS_MEMBER_LIST))
        return 1;
    const cardlessMember *m = &d->members[at->first + user->count];
    const cardlessShape *s = &d->shapes[m->shape];
    const uint64_t value = replay_load(at->siblings + m->offset, s->size_B);
    if (!(user->flags & CARDLESS_MEMBER_COUNT_OUT))
        return value;
    uint64_t size_B = d->shapes[s->target].size_B;
    const uint8_t *bytes = replay_recorded(job, at->blobs, value, &size_B);
    return bytes ? replay_load(bytes, d->shapes[s->target].size_B) : 0;
}

static bool has_case(const cardlessMember *m, int64_t value)
{
    for (uint32_t i = 0; i < m->case_count; i++)
        if (api_description.cases[m->cases + i] == value)
            return true;
    return false;
}

const cardlessMember *replay_chosen(const cardlessMember *user, const cardlessShape *s,
                                    const struct replay_scope *outer, const uint8_t *bytes)
{
    const cardlessTypes *d = &api_description;
    const cardlessMember *by = NULL, *chosen = NULL;
    const uint8_t *from = outer->siblings;
    if (s->target) {
        by = &d->members[s->first + s->target - 1u];
        from = bytes;
    } else if (user->selector != CARDLESS_NO_SIBLING) {
        by = &d->members[outer->first + user->selector];
    }
    const uint32_t size = by ? d->shapes[by->shape].size_B : 0;
    const int64_t value = by ? (size == 4 ? (int32_t)replay_load(from + by->offset, 4)
                                          : (int64_t)replay_load(from + by->offset, size))
                             : 0;
    for (uint32_t i = s->first; i < (uint32_t)s->first + s->count; i++) {
        const cardlessMember *m = &d->members[i];
        if (has_case(m, value) || (m->any_case && !chosen))
            chosen = m;
    }
    return chosen;
}

static uint8_t *make_memory(struct replay_job *job, uint64_t recorded, uint64_t size_B)
{
    enum { ALIGNMENT = 64 }; // that of a CUtensorMap
    _Static_assert(sizeof(struct replay_memory) <= ALIGNMENT, "it precedes the bytes");
    void *at = NULL;
    if (size_B > MEMORY_MOST_B || posix_memalign(&at, ALIGNMENT, ALIGNMENT + size_B + 16)) {
        job->reason = REPLAY_ARGUMENTS;
        return NULL;
    }
    memset(at, 0, ALIGNMENT + size_B + 16);
    struct replay_memory *m = at;
    *m = (struct replay_memory){job->memory, recorded, size_B, (uint8_t *)at + ALIGNMENT};
    job->memory = m;
    return m->bytes;
}

static void give(struct replay_job *job, int fd)
{
    enum { MOST = sizeof job->given / sizeof *job->given };
    if (fd >= 0 && job->given_count < MOST)
        job->given[job->given_count++] = fd;
}

void replay_release(struct replay_job *job)
{
    while (job->given_count && !job->takes)
        close(job->given[--job->given_count]);
    while (job->memory && !job->is_kept) {
        struct replay_memory *next = job->memory->next;
        free(job->memory);
        job->memory = next;
    }
}

// ---- values ----

static bool set_fd(struct replay_job *job, uint8_t *value, uint32_t size)
{
    const uint64_t old = replay_load(value, size);
    for (size_t i = 0; i < job->fd_count; i++) {
        const struct trace_fd *f = &job->fds[i];
        bool is_foreign;
        if (!f->is_taken || (uint32_t)f->fd != (uint32_t)old || old >> 32)
            continue;
        const int fd = replay_fd(job->replay, f, &is_foreign);
        // Nobody signals a semaphore of another program.
        if (fd < 0 || (is_foreign && strstr(job->entry->name, "Semaphore")))
            job->reason = REPLAY_FOREIGN;
        else if (is_foreign)
            job->notes |= 1u << REPLAY_NOTE_SHARED;
        give(job, fd);
        store(value, (uint64_t)fd, size);
        return true;
    }
    return false;
}

static void set_address(struct replay_job *job, uint8_t *value)
{
    bool found;
    const uint64_t old = replay_load(value, 8);
    if (replay_address_is_lost(job->replay, old))
        job->reason = REPLAY_DEPENDS;
    store(value, replay_address(job->replay, old, &found), 8);
}

static bool is_image(const cardlessMember *m)
{
    static const char *const names[] = {"image", "code", "fatCubin", "data"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(replay_name(m->name), names[i]))
            return true;
    return false;
}

static void set_opaque(struct replay_job *job, const cardlessMember *m, const cardlessShape *s,
                       uint8_t *value)
{
    const uint64_t old = replay_load(value, s->size_B);
    if (!old && !replay_is_function_call(job))
        return;
    if (replay_function(job, replay_name(s->name), value))
        return;
    if (set_fd(job, value, s->size_B))
        return;
    bool found;
    replay_address(job->replay, old, &found);
    if (!found && is_image(m) && !job->call->result)
        job->reason = REPLAY_IMAGE;
    set_address(job, value);
}

static void set_string(struct replay_job *job, bool is_output, const struct trace_blobs *blobs,
                       uint8_t *value)
{
    const uint64_t old = replay_load(value, 8);
    bool found;
    if (!old)
        return;
    uint64_t size_B = 1;
    const uint8_t *text = is_output ? NULL : replay_recorded(job, blobs, old, &size_B);
    int fd = -1;
    const char *path = text ? replay_path(job->replay, job->index, &fd) : NULL;
    give(job, fd);
    if (!text && !is_output) {
        store(value, replay_address(job->replay, old, &found), 8);
        return;
    }
    uint8_t *to = make_memory(job, old, is_output ? LIST_LEAST_B : size_B + 128);
    if (to && path)
        memcpy(to, path, strlen(path) + 1);
    else if (to && text)
        memcpy(to, text, size_B);
    store(value, (uintptr_t)to, 8);
}

static void set_value(struct replay_job *job, const struct replay_scope *at,
                      const cardlessMember *m, const cardlessShape *s, const uint8_t *raw,
                      uint8_t *value);

// A member of a structure or union, which may be an array.
static void set_member(struct replay_job *job, const struct replay_scope *at,
                       const cardlessMember *m, const uint8_t *raw, uint8_t *value)
{
    const cardlessShape *s = &api_description.shapes[m->shape];
    for (unsigned k = 0; k < (m->elements ? m->elements : 1); k++) {
        const size_t offset = m->offset + k * s->size_B;
        set_value(job, at, m, s, raw + offset, value + offset);
    }
}

static void set_members(struct replay_job *job, const struct replay_scope *outer,
                        const cardlessShape *s, const uint8_t *raw, uint8_t *value)
{
    const struct replay_scope at = {raw, s->first, outer->depth, outer->blobs};
    for (uint32_t i = s->first; i < (uint32_t)s->first + s->count; i++)
        set_member(job, &at, &api_description.members[i], raw, value);
}

static void set_target(struct replay_job *job, const struct replay_scope *outer,
                       const cardlessMember *m, const cardlessShape *s, uint8_t *value)
{
    const cardlessShape *target = &api_description.shapes[s->target];
    struct replay_scope at = *outer;
    const uint64_t old = replay_load(value, 8);
    const bool is_output = (m->flags & CARDLESS_MEMBER_OUTPUT) && !outer->depth;
    const bool is_input = !is_output || (m->flags & CARDLESS_MEMBER_INPUT);
    bool found;
    if (!old || ++at.depth > REPLAY_DEPTH_MAX)
        return;
    const uint64_t count = replay_count(job, outer, m);
    uint64_t size_B = count < UINT32_MAX ? count * target->size_B : UINT64_MAX, there_B = size_B;
    const uint8_t *from = is_input ? replay_recorded(job, at.blobs, old, &there_B) : NULL;
    if (!from && !is_output) { // also a list of `void *` without a length: kernelParams
        store(value, replay_address(job->replay, old, &found), 8);
        return;
    }
    // A list whose length no argument has: as many bytes as were recorded.
    if (from && !is_output && !(m->flags & CARDLESS_MEMBER_LIST) &&
        (target->kind == CARDLESS_SHAPE_UNSIGNED || target->kind == CARDLESS_SHAPE_SIGNED)) {
        there_B = size_B + 1;
        const uint8_t *longer = replay_recorded(job, at.blobs, old, &there_B);
        from = longer ? longer : from;
        size_B = longer ? there_B : size_B;
    }
    // Memory whose bytes were recorded one by one is in its place.
    if (target->kind == CARDLESS_SHAPE_OPAQUE && !(m->flags & CARDLESS_MEMBER_LIST) && !is_output) {
        const uint64_t place = replay_address(job->replay, old, &found);
        if (found) {
            store(value, place, 8);
            return;
        }
    }
    const uint64_t least = m->flags & CARDLESS_MEMBER_LIST ? LIST_LEAST_B : OUTPUT_LEAST_B;
    uint8_t *to = make_memory(job, old, is_output && size_B < least ? least : size_B);
    store(value, (uintptr_t)to, 8);
    if (to && !is_input)
        memset(to, REPLAY_UNWRITTEN, job->memory->size_B);
    if (!to || !from)
        return;
    memcpy(to, from, size_B);
    // The driver writes to the values of options later.
    job->is_kept |= target->kind == CARDLESS_SHAPE_OPAQUE && !is_output;
    for (uint64_t i = 0; i < count; i++)
        set_value(job, &at, m, target, from + i * target->size_B, to + i * target->size_B);
}

static void set_key(struct replay_job *job, uint8_t *value, uint32_t size)
{
    if (replay_find(job->replay, value, size, value) == REPLAY_LOST)
        job->reason = REPLAY_DEPENDS;
}

// Identifiers. Those for other processes (CUipcMemHandle and its like) that the run did not make
// itself name memory of a process that may still live.
static void set_bytes(struct replay_job *job, uint8_t *value, uint32_t size_B)
{
    const enum replay_found found = replay_find(job->replay, value, size_B, value);
    if (found == REPLAY_LOST)
        job->reason = REPLAY_DEPENDS;
    else if (found == REPLAY_UNKNOWN_KEY && size_B >= CU_IPC_HANDLE_SIZE)
        job->reason = REPLAY_FOREIGN;
}

static void set_value(struct replay_job *job, const struct replay_scope *at,
                      const cardlessMember *m, const cardlessShape *s, const uint8_t *raw,
                      uint8_t *value)
{
    switch ((cardlessShapeKind)s->kind) {
    case CARDLESS_SHAPE_HANDLE:
        if (replay_load(value, s->size_B) > 2) // 1 and 2 are streams
            set_key(job, value, s->size_B);
        break;
    case CARDLESS_SHAPE_BYTES:
        if (s->size_B >= 16)
            set_bytes(job, value, s->size_B);
        break;
    case CARDLESS_SHAPE_HEX:
        if (s->size_B == 8)
            set_address(job, value);
        break;
    case CARDLESS_SHAPE_SIGNED:
        if (s->size_B == 4 && job->fd_count)
            set_fd(job, value, 4);
        break;
    case CARDLESS_SHAPE_OPAQUE:
        set_opaque(job, m, s, value);
        break;
    case CARDLESS_SHAPE_STRING:
        set_string(job, (m->flags & CARDLESS_MEMBER_OUTPUT) && !at->depth, at->blobs, value);
        break;
    case CARDLESS_SHAPE_POINTER:
        set_target(job, at, m, s, value);
        break;
    case CARDLESS_SHAPE_STRUCT:
        set_members(job, at, s, raw, value);
        break;
    case CARDLESS_SHAPE_UNION: {
        const cardlessMember *chosen = replay_chosen(m, s, at, raw);
        const struct replay_scope inner = {raw, s->first, at->depth, at->blobs};
        if (chosen)
            set_member(job, &inner, chosen, raw, value);
        break;
    }
    default:
        break;
    }
}

static void set_argument(struct replay_job *job, uint32_t i)
{
    const cardlessMember *m = &api_description.members[job->entry->first + i];
    const cardlessShape *s = &api_description.shapes[m->shape];
    const struct replay_scope at = {(const uint8_t *)job->recorded, job->entry->first, 0,
                                    &job->call->before};
    uint8_t *value = (uint8_t *)&job->values[i];
    if (!(m->flags & CARDLESS_MEMBER_INDIRECT)) {
        set_value(job, &at, m, s, (const uint8_t *)&job->recorded[i], value);
        return;
    }
    uint64_t size_B = s->size_B;
    const uint8_t *from = replay_recorded(job, at.blobs, job->recorded[i], &size_B);
    uint8_t *to = make_memory(job, job->recorded[i], s->size_B);
    if (!from)
        job->reason = REPLAY_ARGUMENTS;
    if (!from || !to)
        return;
    memcpy(to, from, s->size_B);
    set_value(job, &at, m, s, from, to);
    store(value, (uintptr_t)to, 8);
}

void replay_prepare(struct replay_job *job)
{
    bool is_lost, is_set;
    memcpy(job->values, job->recorded, sizeof job->values);
    const bool is_later = replay_function_waits(job);
    if (!replay_fill(job->replay, job->index, is_later, &is_lost, &is_set))
        job->notes |= 1u << REPLAY_NOTE_MISSING;
    if (is_set)
        job->notes |= 1u << REPLAY_NOTE_SET;
    if (is_lost)
        job->reason = REPLAY_DEPENDS;
    for (uint32_t i = 0; i < job->entry->count; i++)
        set_argument(job, i);
}
