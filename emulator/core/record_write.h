// SPDX-License-Identifier: MIT
// Writes records into the window of the calling thread. A record of a call should cost about as
// much as a look at the clock, so all of this is inline.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "counter.h"
#include "record_format.h"
#include "thread.h"

struct em_entry;

enum { EM_RECORD_DEPTH = 16 }; // of calls that other calls make
enum { EM_RECORD_HANDLES = 64, EM_RECORD_NAMES = 16, EM_RECORD_VALUES = 12 };
enum { EM_RECORD_PREFIX_B = 24 };

// A place in the program that calls an entry point, with the first fields of its records.
struct em_record_site {
    const void *caller;
    const struct em_entry *entry, *by; // `by`: the call of another library that makes this one
    uint64_t handles;                  // bits of the arguments that are handles
    uint8_t prefix[EM_RECORD_PREFIX_B];
    uint8_t prefix_B;
    uint8_t count;                 // of arguments
    bool inputs, outputs, failure; // arguments lead to memory: before, after, after a failure
    bool of_library;               // another library's function
    uint32_t window; // 1 + the window with a record of it whose arguments are `values`
    uint64_t values[EM_RECORD_VALUES];
};

// The window of a thread, and its calls. The struct is the thread's own.
struct em_record_thread {
    uint8_t *at, *end; // the next record and the end of the window; NULL before it is open
    uint8_t *last;     // the record before it, or NULL
    uint8_t *ended;    // the last one, if it is a command that has started and ended at once
    uint8_t *begun;    // the last one, if it is a call without blobs, and it has not returned
    uint64_t ticks;    // the time of the last record that has one
    uint64_t last_call, last_command; // numbers in the window, or 0
    uint64_t at_once;                 // the command that has started at once, or 0
    uint32_t generation;              // the process that it belongs to
    uint32_t number, sequence;
    bool failed;
    unsigned depth; // of `calls`
    struct rf_block *window;
    struct em_record_call {
        const struct em_entry *entry;
        uint64_t number;
        bool outputs, failure, of_library;
    } calls[EM_RECORD_DEPTH];
    uint64_t handles[EM_RECORD_HANDLES]; // that have been named, found by their hash
    struct em_record_known {
        const char *constant;
        uint32_t id;
    } names[EM_RECORD_NAMES]; // ids of names that were used, found by their hash
    struct em_record_site sites[RF_SITES];
};

// Number of the process from 1, in a page of its own that the kernel clears in a child, even if the
// child was made without the handlers of fork (_Fork). NULL before the first start.
extern uint32_t *em_record_generation;

static inline bool em_record_is_open(const struct em_record_thread *t)
{
    return t->at && t->generation == *em_record_generation;
}

// Opens the thread's window, or empties it if `size` bytes do not fit. Keeps errno. NULL: nothing
// can be recorded.
struct em_record_thread *em_record_make_space(struct em_record_thread *thread, size_t size)
    __attribute__((cold));

// The window of the calling thread with `size` free bytes, or NULL.
static inline struct em_record_thread *em_record_thread_for(size_t size)
{
    struct em_record_thread *t = em_thread()->record;
    if (__builtin_expect(t && (size_t)(t->end - t->at) >= size && em_record_is_open(t), 1))
        return t;
    return em_record_make_space(t, size);
}

// A record that is being written.
struct em_record {
    struct em_record_thread *thread; // NULL: the fields are dropped
    uint8_t *start, *at, *end;
};

enum { EM_FIELD_MOST_B = 10, EM_RECORD_HEAD_B = 4 };

// em_varint for a number of several bytes. It is not inline, because a record has many numbers and
// the code that writes them should stay in the processor's cache.
uint8_t *em_varint_long(uint8_t *p, uint64_t value);

// Writes a number, and returns the place after it. Up to EM_FIELD_MOST_B bytes are overwritten.
static inline uint8_t *em_varint(uint8_t *p, uint64_t value)
{
    if (value < 0x80) {
        *p = (uint8_t)value;
        return p + 1;
    }
    if (__builtin_expect(value >> 14, 0)) // times and sizes have two bytes
        return em_varint_long(p, value);
    p[0] = (uint8_t)(value | 0x80);
    p[1] = (uint8_t)(value >> 7);
    return p + 2;
}

// Small for small numbers of both signs.
static inline uint64_t em_zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline void em_field(struct em_record *record, uint64_t value)
{
    if (record->at)
        record->at = em_varint(record->at, value);
}

// Begins a record whose fields need at most `most` bytes; em_record_put should end it. Until
// em_record_put, the thread must not begin another one.
static inline struct em_record em_record_begin(enum rf_kind kind, unsigned flags, size_t most)
{
    struct em_record_thread *t = em_record_thread_for(EM_RECORD_HEAD_B + most);
    if (__builtin_expect(!t, 0))
        return (struct em_record){.thread = NULL};
    uint8_t *p = t->at;
    p[2] = (uint8_t)kind;
    p[3] = (uint8_t)flags;
    return (struct em_record){t, p, p + EM_RECORD_HEAD_B, p + EM_RECORD_HEAD_B + most};
}

// The same, with a time (dm_ticks) as its first field, which later times should not precede.
static inline struct em_record em_record_begin_at(enum rf_kind kind, unsigned flags, size_t most,
                                                  uint64_t ticks)
{
    struct em_record r = em_record_begin(kind, flags, most + EM_FIELD_MOST_B);
    if (__builtin_expect(r.thread != NULL, 1)) {
        const uint64_t past = ticks - r.thread->ticks;
        r.thread->ticks = ticks;
        em_field(&r, em_zigzag(past));
    }
    return r;
}

static inline struct em_record em_record_begin_now(enum rf_kind kind, unsigned flags, size_t most)
{
    return em_record_begin_at(kind, flags, most, dm_ticks());
}

// The time at which a command of the call in progress begins. A process with one thread waits for
// no lock, so this is the time of the call if nothing was recorded since: a look at the clock takes
// as long as a quarter of a small copy.
static inline uint64_t em_record_command_begin(void)
{
    const struct em_record_thread *t = em_thread()->record;
    if (em_is_single_threaded() && t && t->begun && t->begun == t->last && em_record_is_open(t))
        return t->ticks;
    return dm_ticks();
}

static inline void em_record_publish(struct em_record_thread *t, uint8_t *at)
{
    t->at = at;
    __atomic_store_n(&t->window->used_B, (uint32_t)(at - (uint8_t *)(t->window + 1)),
                     __ATOMIC_RELEASE);
}

// Adds the ticks since its time to the record at `at`, which is the last one of the thread, and
// sets a flag. Returns false if the ticks take too many bytes: fewer bytes than a record's head do
// no harm if the process ends in between.
static inline bool em_record_extend(struct em_record_thread *t, uint8_t *at, unsigned flag)
{
    const uint64_t past = dm_ticks() - t->ticks;
    uint8_t head[EM_RECORD_HEAD_B];
    if (past >> (7 * (EM_RECORD_HEAD_B - 1)) || t->end - t->at < EM_FIELD_MOST_B)
        return false;
    em_record_publish(t, em_varint(t->at, past));
    const uint16_t size = (uint16_t)(t->at - at);
    memcpy(head, at, sizeof head);
    memcpy(head, &size, sizeof size);
    head[3] |= (uint8_t)flag;
    memcpy(at, head, sizeof head);
    return true;
}

static inline void em_record_put(struct em_record *r)
{
    struct em_record_thread *t = r->thread;
    if (__builtin_expect(!t, 0))
        return;
    const uint16_t size = (uint16_t)(r->at - r->start);
    memcpy(r->start, &size, sizeof size);
    t->last = r->start;
    em_record_publish(t, r->at);
}
