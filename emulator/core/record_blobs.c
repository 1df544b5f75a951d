// SPDX-License-Identifier: MIT
// Records the memory that the arguments of a call lead to.
//
// The walk over the types is the one of describe.c, which prints from the blobs later: whatever it
// reads there is a blob here.
#include "record_blobs.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call.h"
#include "describe.h"
#include "guard.h"
#include "record_content.h"

enum {
    BLOB_MAX_B = 4096,    // of an array
    STRING_MAX_B = 256,   // of a string
    STRING_LONG_B = 4096, // of a string that is recorded outside of its call
    POINTER_DEPTH_MAX = 6 // limited because a list may contain itself
};

struct walk {
    const cardlessTypes *d;
    struct em_record *record;
    struct em_record_large *large; // NULL: it is not recorded
    bool is_full;                  // the record has no space for some memory
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

// Copies memory of the program without functions that a sanitizer of the program replaces: if the
// size of an output depends on other arguments, more bytes may be read than belong to its variable.
__attribute__((no_sanitize("address", "thread"))) static void
copy_unchecked(char *out, const char *from, size_t size)
{
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    size_t i = 0;
    for (; size - i >= sizeof(word); i += sizeof(word))
        *(word *)(out + i) = *(const volatile word *)(from + i);
    for (; i < size; i++)
        out[i] = *(const volatile char *)(from + i);
}

static size_t read_plainly(uint64_t address, void *out, size_t size, bool string)
{
    const char *from = (const char *)(uintptr_t)address;
    size = string ? string_B(from, size) : size;
    copy_unchecked(out, from, size);
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

// Writes the size of a blob, which has always two bytes. Returns the place after it.
enum { SIZE_B = 2 };
static inline uint8_t *put_size(uint8_t *at, size_t size)
{
    at[0] = (uint8_t)(size | 0x80);
    at[1] = (uint8_t)(size >> 7);
    return at + SIZE_B;
}

uint8_t *em_record_blob(uint8_t *at, const void *bytes, size_t size)
{
    at = put_size(at, size);
    copy_unchecked((char *)at, bytes, size);
    return at + size;
}

static void note_large(struct walk *w, uint64_t address, uint64_t size_B)
{
    struct em_record_large *l = w->large;
    if (!l || l->count == EM_RECORD_LARGE_MOST)
        return;
    l->of[l->count].address = address;
    l->of[l->count++].size_B = size_B;
}

// Adds a blob. Returns its bytes in the record, or NULL.
static const uint8_t *add_blob(struct walk *w, uint64_t address, size_t size, bool string)
{
    struct em_record *r = w->record;
    const size_t head = EM_FIELD_MOST_B + SIZE_B;
    if (!address || !size)
        return NULL;
    if ((size_t)(r->end - r->at) < head + size + 1) {
        w->is_full = true;
        note_large(w, address, size);
        return NULL;
    }
    struct em_record tail = *r;
    em_field(&tail, address);
    uint8_t *bytes = tail.at + SIZE_B;
    const size_t got = w->read(address, bytes, size, string);
    if (!got || (got < size && !string))
        return NULL;
    if (string && got == size && bytes[got - 1])
        note_large(w, address, STRING_LONG_B);
    r->at = put_size(tail.at, got) + got;
    return bytes;
}

static uint64_t load(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static uint64_t sibling_value(struct walk *w, const struct place *at, const cardlessMember *user)
{
    const cardlessMember *m = &w->d->members[at->first + user->count];
    const cardlessShape *s = &w->d->shapes[m->shape];
    if (!(user->flags & CARDLESS_MEMBER_COUNT_OUT))
        return load(at->siblings + m->offset, s->size_B);
    const uint32_t size = w->d->shapes[s->target].size_B;
    const uint8_t *copy =
        size <= 8 ? add_blob(w, load(at->siblings + m->offset, 8), size, false) : NULL;
    return copy ? load(copy, size) : 0;
}

static void walk_value(struct walk *w, const struct place *at, const cardlessMember *m,
                       const cardlessShape *s, const uint8_t *bytes);

static void walk_members(struct walk *w, const struct place *outer, const cardlessShape *s,
                         const uint8_t *bytes)
{
    const struct place at = {bytes, s->first, outer->depth};
    for (uint32_t i = s->first; i < (uint32_t)s->first + s->count; i++) {
        const cardlessMember *m = &w->d->members[i];
        const cardlessShape *inner = &w->d->shapes[m->shape];
        for (unsigned k = 0; k < (m->elements ? m->elements : 1); k++)
            walk_value(w, &at, m, inner, bytes + m->offset + k * inner->size_B);
    }
}

static void walk_target(struct walk *w, const struct place *outer, const cardlessMember *m,
                        const cardlessShape *s, uint64_t address)
{
    struct place at = *outer;
    const cardlessShape *target = &w->d->shapes[s->target];
    uint64_t count = 1;
    if (!address || ++at.depth > POINTER_DEPTH_MAX || !target->size_B)
        return;
    if (m->flags & CARDLESS_MEMBER_LIST)
        count = sibling_value(w, outer, m);
    const uint64_t most = BLOB_MAX_B / target->size_B;
    if (count > most && count < UINT32_MAX)
        note_large(w, address, count * target->size_B);
    count = count < most ? count : most;
    const uint8_t *bytes = add_blob(w, address, count * target->size_B, false);
    for (uint64_t i = 0; bytes && i < count; i++)
        walk_value(w, &at, m, target, bytes + i * target->size_B);
}

static void walk_value(struct walk *w, const struct place *at, const cardlessMember *m,
                       const cardlessShape *s, const uint8_t *bytes)
{
    switch ((cardlessShapeKind)s->kind) {
    case CARDLESS_SHAPE_STRING:
        add_blob(w, load(bytes, s->size_B), STRING_MAX_B, true);
        break;
    case CARDLESS_SHAPE_POINTER:
        walk_target(w, at, m, s, load(bytes, s->size_B));
        break;
    case CARDLESS_SHAPE_STRUCT:
    case CARDLESS_SHAPE_UNION: // every member: those that are no pointers cannot be read
        walk_members(w, at, s, bytes);
        break;
    default:
        break;
    }
}

struct job {
    struct walk walk;
    const struct em_record_blobs *blobs;
};

static void walk_arguments(void *argument)
{
    struct job *job = argument;
    struct walk *w = &job->walk;
    const struct em_record_blobs *b = job->blobs;
    const struct em_entry *entry = b->entry;
    const struct place at = {(const uint8_t *)b->values, entry->first_argument, 0};
    for (uint32_t i = 0; i < entry->arguments; i++) {
        const cardlessMember *m = &w->d->members[entry->first_argument + i];
        const cardlessShape *s = &w->d->shapes[m->shape];
        if (!em_record_is_wanted(m, b->returns, b->result))
            continue;
        const uint8_t *bytes = (const uint8_t *)&b->values[i];
        if (m->flags & CARDLESS_MEMBER_INDIRECT)
            bytes = add_blob(w, b->values[i], s->size_B, false);
        if (bytes)
            walk_value(w, &at, m, s, bytes);
    }
}

// Faults end the first attempt; the second one asks the kernel for each piece, which takes longer.
bool em_record_add_blobs(struct em_record *r, struct em_record_blobs *b)
{
    uint8_t *const before = r->at;
    const int saved = errno;
    struct em_record_large *const large = em_recording_contents && !b->returns ? &b->large : NULL;
    struct job job = {{b->entry->description, r, large, false, read_plainly}, b};
    b->large.count = 0;
    if (__atomic_load_n(&em_driver_state, __ATOMIC_RELAXED) == EM_DRIVER_READY &&
        !dm_guarded_host(walk_arguments, &job, 0, NULL))
        return !job.walk.is_full;
    r->at = before;
    b->large.count = 0;
    job.walk.is_full = false;
    job.walk.read = read_carefully;
    walk_arguments(&job);
    errno = saved;
    return !job.walk.is_full;
}
