// SPDX-License-Identifier: MIT
// Records calls: their arguments as words, and the memory that they lead to as blobs.
//
// The walk over the types is the one of describe.c, which prints from the blobs later: whatever it
// reads there is a blob here.
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call.h"
#include "describe.h"
#include "guard.h"
#include "record.h"
#include "record_content.h"
#include "record_file.h"
#include "stop.h"

enum {
    BLOB_MAX_B = 4096,    // of an array
    STRING_MAX_B = 256,   // of a string
    STRING_LONG_B = 4096, // of a string that is recorded outside of its call
    HANDLE_LEAST = 16,    // below are special streams, which the reader knows
    POINTER_DEPTH_MAX = 6 // limited because a list may contain itself
};

// Memory that has no place in the record of its call.
enum { LARGE_MOST = 16 };
struct large {
    unsigned count;
    struct {
        uint64_t address, size_B;
    } of[LARGE_MOST];
};

struct walk {
    const struct em_description *d;
    struct em_record *record;
    struct large *large; // NULL: it is not recorded
    // Reads the program's memory. Returns how many bytes it could read; `string`: up to a final 0.
    size_t (*read)(uint64_t address, void *out, size_t size, bool string);
};

struct place {
    const uint8_t *siblings;
    uint32_t first;
    unsigned depth;
};

// The bytes of a string with its final 0, if that is among the first `most`.
static size_t string_B(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    return length < most ? length + 1 : most;
}

static size_t read_plainly(uint64_t address, void *out, size_t size, bool string)
{
    const char *from = (const char *)(uintptr_t)address;
    size = string ? string_B(from, size) : size;
    memcpy(out, from, size);
    return size;
}

// Asks the kernel, page by page: a string may end just before a page that is not mapped.
static size_t read_carefully(uint64_t address, void *out, size_t size, bool string)
{
    const size_t page = 4096;
    size_t done = 0;
    while (done < size) {
        size_t part = page - (address + done) % page;
        part = part < size - done ? part : size - done;
        struct iovec to = {(char *)out + done, part},
                     from = {(void *)(uintptr_t)(address + done), part};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)part)
            break;
        done += part;
    }
    return string ? string_B(out, done) : done;
}

static void note_large(struct walk *w, uint64_t address, uint64_t size_B)
{
    struct large *l = w->large;
    if (!l || l->count == LARGE_MOST)
        return;
    l->of[l->count].address = address;
    l->of[l->count++].size_B = size_B;
}

// Adds a blob. Returns its bytes in the record, or NULL.
static const uint8_t *add_blob(struct walk *w, uint64_t address, size_t size, bool string)
{
    struct em_record *r = w->record;
    const size_t head = 10 + 2;
    if (!address || !size)
        return NULL;
    if ((size_t)(r->end - r->at) < head + size + 1) {
        note_large(w, address, size);
        return NULL;
    }
    struct em_record tail = *r;
    em_field(&tail, address);
    uint8_t *bytes = tail.at + 2; // the size has two bytes
    const size_t got = w->read(address, bytes, size, string);
    if (!got || (got < size && !string))
        return NULL;
    if (string && got == size && bytes[got - 1])
        note_large(w, address, STRING_LONG_B);
    tail.at[0] = (uint8_t)(got | 0x80);
    tail.at[1] = (uint8_t)(got >> 7);
    r->at = bytes + got;
    return bytes;
}

static uint64_t load(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static uint64_t sibling_value(struct walk *w, const struct place *at, const struct em_member *user)
{
    const struct em_member *m = &w->d->members[at->first + user->count];
    const struct em_shape *s = &w->d->shapes[m->shape];
    if (!(user->flags & EM_MEMBER_COUNT_OUT))
        return load(at->siblings + m->offset, s->size_B);
    const uint32_t size = w->d->shapes[s->target].size_B;
    const uint8_t *copy =
        size <= 8 ? add_blob(w, load(at->siblings + m->offset, 8), size, false) : NULL;
    return copy ? load(copy, size) : 0;
}

static void walk_value(struct walk *w, const struct place *at, const struct em_member *m,
                       const struct em_shape *s, const uint8_t *bytes);

static void walk_members(struct walk *w, const struct place *outer, const struct em_shape *s,
                         const uint8_t *bytes)
{
    const struct place at = {bytes, s->first, outer->depth};
    for (uint32_t i = s->first; i < (uint32_t)s->first + s->count; i++) {
        const struct em_member *m = &w->d->members[i];
        const struct em_shape *inner = &w->d->shapes[m->shape];
        for (unsigned k = 0; k < (m->elements ? m->elements : 1); k++)
            walk_value(w, &at, m, inner, bytes + m->offset + k * inner->size_B);
    }
}

static void walk_target(struct walk *w, const struct place *outer, const struct em_member *m,
                        const struct em_shape *s, uint64_t address)
{
    struct place at = *outer;
    const struct em_shape *target = &w->d->shapes[s->target];
    uint64_t count = 1;
    if (!address || ++at.depth > POINTER_DEPTH_MAX || !target->size_B)
        return;
    if (m->flags & EM_MEMBER_LIST)
        count = sibling_value(w, outer, m);
    const uint64_t most = BLOB_MAX_B / target->size_B;
    if (count > most && count < UINT32_MAX)
        note_large(w, address, count * target->size_B);
    count = count < most ? count : most;
    const uint8_t *bytes = add_blob(w, address, count * target->size_B, false);
    for (uint64_t i = 0; bytes && i < count; i++)
        walk_value(w, &at, m, target, bytes + i * target->size_B);
}

static void walk_value(struct walk *w, const struct place *at, const struct em_member *m,
                       const struct em_shape *s, const uint8_t *bytes)
{
    switch ((enum em_shape_kind)s->kind) {
    case EM_SHAPE_STRING:
        add_blob(w, load(bytes, s->size_B), STRING_MAX_B, true);
        break;
    case EM_SHAPE_POINTER:
        walk_target(w, at, m, s, load(bytes, s->size_B));
        break;
    case EM_SHAPE_STRUCT:
    case EM_SHAPE_UNION: // every member, because what is no pointer is unreadable and left out
        walk_members(w, at, s, bytes);
        break;
    default:
        break;
    }
}

static bool is_wanted(const struct em_member *m, bool returns, CUresult result)
{
    const unsigned flags = m->flags;
    if (returns)
        return (flags & (result ? EM_MEMBER_ALWAYS : EM_MEMBER_OUTPUT)) != 0;
    return !(flags & EM_MEMBER_OUTPUT) || flags & EM_MEMBER_INPUT;
}

struct job {
    struct walk walk;
    const struct em_entry *entry;
    const uint64_t *values;
    bool returns;
    CUresult result;
    struct large large;
};

static void walk_arguments(void *argument)
{
    struct job *job = argument;
    struct walk *w = &job->walk;
    const struct em_entry *entry = job->entry;
    const struct place at = {(const uint8_t *)job->values, entry->first_argument, 0};
    for (uint32_t i = 0; i < entry->arguments; i++) {
        const struct em_member *m = &w->d->members[entry->first_argument + i];
        const struct em_shape *s = &w->d->shapes[m->shape];
        if (!is_wanted(m, job->returns, job->result))
            continue;
        const uint8_t *bytes = (const uint8_t *)&job->values[i];
        if (m->flags & EM_MEMBER_INDIRECT)
            bytes = add_blob(w, job->values[i], s->size_B, false);
        if (bytes)
            walk_value(w, &at, m, s, bytes);
    }
}

// Adds the memory that the arguments lead to. Faults end the first attempt; the second one asks the
// kernel for each piece, which takes longer.
static void add_blobs(struct em_record *r, struct job *job)
{
    uint8_t *const before = r->at;
    const int saved = errno;
    struct large *const large = em_recording_contents && !job->returns ? &job->large : NULL;
    job->walk = (struct walk){job->entry->description, r, large, read_plainly};
    if (__atomic_load_n(&em_driver_state, __ATOMIC_RELAXED) == EM_DRIVER_READY &&
        !dm_guarded(walk_arguments, job, NULL))
        return;
    r->at = before;
    job->large.count = 0;
    job->walk.read = read_carefully;
    walk_arguments(job);
    errno = saved;
}

// ---- call sites

static bool any_follows(const struct em_entry *entry, bool returns, CUresult result)
{
    const struct em_description *d = entry->description;
    for (uint32_t i = 0; i < entry->arguments; i++) {
        const struct em_member *m = &d->members[entry->first_argument + i];
        const unsigned kind = d->shapes[m->shape].kind;
        if (is_wanted(m, returns, result) &&
            (kind == EM_SHAPE_POINTER || kind == EM_SHAPE_STRING || m->flags & EM_MEMBER_INDIRECT))
            return true;
    }
    return false;
}

// Whether the arguments are unknown: their records have none.
static __attribute__((cold, noinline)) void fill_site(struct em_record_site *s, bool unknown)
{
    const struct em_entry *entry = s->entry;
    const struct em_description *d = unknown ? NULL : entry->description;
    const uint32_t id = em_record_entry(entry), by = em_record_entry(s->by),
                   from = em_record_caller(s->caller);
    s->count = d ? (uint8_t)entry->arguments : 0;
    uint8_t *p = em_varint(s->prefix, id);
    p = em_varint(p, by);
    p = em_varint(p, from);
    p = em_varint(p, s->count);
    s->prefix_B = (uint8_t)(p - s->prefix);
    s->inputs = s->count && any_follows(entry, false, CUDA_SUCCESS);
    s->outputs = s->count && any_follows(entry, true, CUDA_SUCCESS);
    s->failure = s->count && any_follows(entry, true, CUDA_ERROR_UNKNOWN);
    s->handles = 0;
    for (uint32_t i = 0; i < s->count && d->handle_text; i++)
        if (d->shapes[d->members[entry->first_argument + i].shape].kind == EM_SHAPE_HANDLE)
            s->handles |= UINT64_C(1) << i;
}
// Ids have at most 3 bytes, a level of record_ids.c being 1 << 19 and the largest.
_Static_assert(EM_RECORD_PREFIX_B >= 4 * 3 + EM_FIELD_MOST_B, "a prefix fits, and its last number");

static struct em_record_site *site_of(struct em_record_thread *t, const struct em_entry *entry,
                                      const struct em_entry *by, const void *caller)
{
    const uint64_t hash = ((uintptr_t)caller ^ (uintptr_t)entry) * UINT64_C(0x9e3779b97f4a7c15);
    struct em_record_site *s = &t->sites[hash >> 57];
    _Static_assert(EM_RECORD_SITES == 1 << (64 - 57), "the hash has as many bits as a position");
    if (em_likely(s->caller == caller && s->entry == entry && s->by == by))
        return s;
    *s = (struct em_record_site){.caller = caller, .entry = entry, .by = by};
    fill_site(s, false);
    return s;
}

// Names that a number and a type do not give, such as those of kernels.
static __attribute__((cold, noinline)) void name_handle(const struct em_entry *entry, unsigned i,
                                                        uint64_t handle)
{
    const struct em_description *d = entry->description;
    const struct em_shape *s = &d->shapes[d->members[entry->first_argument + i].shape];
    const int saved = errno;
    char text[128];
    if (em_record_is_new(handle | 1) && d->handle_text(s->target, handle, text, sizeof text)) {
        struct em_record r = em_record_begin(RF_HANDLE, 0, EM_FIELD_MOST_B + sizeof text + 2);
        em_field(&r, handle);
        em_field_text(&r, text);
        em_record_put(&r);
    }
    errno = saved;
}

static void name_handles(struct em_record_thread *t, const struct em_record_site *site,
                         const uint64_t *values)
{
    for (uint64_t left = site->handles; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint64_t handle = values[i];
        const uint64_t place = handle * UINT64_C(0x9e3779b97f4a7c15) >> 58;
        _Static_assert(EM_RECORD_HANDLES == 1 << (64 - 58), "as many bits as a position");
        if (em_likely(handle < HANDLE_LEAST || t->handles[place] == handle))
            continue;
        t->handles[place] = handle;
        name_handle(site->entry, i, handle);
    }
}

// ---- calls

static void record_call(struct em_thread *self, struct em_record_thread *t,
                        const struct em_record_site *site, const uint64_t *values)
{
    const size_t most = (2 + (size_t)site->count) * EM_FIELD_MOST_B + EM_RECORD_PREFIX_B;
    struct em_record r = em_record_begin_now(RF_CALL, t->depth ? RF_CALL_NESTED : 0,
                                             site->inputs ? RF_RECORD_MAX_B : most);
    if (em_unlikely(!r.thread))
        return;
    if (t->depth < EM_RECORD_DEPTH)
        t->calls[t->depth++] = (struct em_record_call){.entry = site->entry,
                                                       .number = self->calls,
                                                       .outputs = site->outputs,
                                                       .failure = site->failure};
    uint8_t *p = em_varint(r.at, self->calls);
    memcpy(p, site->prefix, sizeof site->prefix);
    p += site->prefix_B;
    for (uint32_t i = 0; i < site->count; i++)
        p = em_varint(p, values[i]);
    r.at = p;
    if (!site->inputs) {
        em_record_put(&r);
        return;
    }
    struct job job = {.entry = site->entry, .values = values};
    add_blobs(&r, &job);
    em_record_put(&r);
    for (unsigned i = 0; i < job.large.count; i++)
        em_record_range(RF_READS, (const void *)(uintptr_t)job.large.of[i].address,
                        job.large.of[i].size_B);
}

void em_record_call(struct em_thread *self, const struct em_entry *entry, const uint64_t *values,
                    const void *caller)
{
    if (!em_recording)
        return;
    struct em_record_thread *t = em_record_thread_for(1);
    if (em_unlikely(!t))
        return;
    struct em_record_site *site = site_of(t, entry, self->caller, caller);
    name_handles(t, site, values);
    record_call(self, t, site, values);
    if (values)
        em_stop(EM_STOP_CALL, entry->name, 0);
}

// The begin of the call was not recorded.
static __attribute__((cold, noinline)) void record_unknown_call(struct em_thread *self,
                                                                const struct em_entry *entry)
{
    struct em_record_thread *t = em_record_thread_for(1);
    struct em_record_site site = {.entry = entry, .by = self->caller};
    if (!t)
        return;
    fill_site(&site, true);
    site.outputs = site.failure = entry->description != NULL;
    record_call(self, t, &site, NULL);
}

void em_record_return(const struct em_entry *entry, CUresult result, const uint64_t *values)
{
    struct em_thread *self = em_thread();
    struct em_record_thread *t = self->record;
    if (!em_recording)
        return;
    unsigned depth = t ? t->depth : 0;
    while (depth && t->calls[depth - 1].entry != entry)
        depth--;
    if (em_unlikely(!depth)) {
        record_unknown_call(self, entry);
        t = self->record;
        depth = t ? t->depth : 0;
    }
    if (!depth)
        return;
    const bool is_innermost = depth == t->depth;
    const struct em_record_call *call = &t->calls[depth - 1];
    const bool follows = result ? call->failure : call->outputs;
    t->depth = depth - 1;
    if (em_likely(!result && !follows && is_innermost && t->ended == t->last && t->ended)) {
        t->ended[3] |= RF_SUBMIT_RETURNS;
        t->ended = NULL;
        return;
    }
    const uint64_t number = call->number;
    struct em_record r =
        em_record_begin_now(RF_RETURN, 0, follows ? RF_RECORD_MAX_B : 2 * EM_FIELD_MOST_B);
    em_field(&r, number);
    em_field(&r, (uint64_t)result);
    struct job job = {.entry = entry, .values = values, .returns = true, .result = result};
    if (follows && r.at)
        add_blobs(&r, &job);
    em_record_put(&r);
}
