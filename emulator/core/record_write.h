// SPDX-License-Identifier: MIT
// Writes records into the window of the calling thread. A record of a call should cost about as
// much as a look at the clock. Most of this is not inline, because less code leaves more of the
// program's in the processor's cache.
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
enum { EM_RECORD_HANDLES = 64, EM_RECORD_NAMES = 64, EM_RECORD_VALUES = 12 };
// The stream, the name, and how many accesses follow: their mode, address and size.
enum { EM_RECORD_SUBMITTED = 3 + 2 * 3 };
enum { EM_RECORD_OUTPUTS = 4 };

// A place in the program that calls an entry point.
struct em_record_site {
    const void *caller;
    const struct em_entry *entry, *by; // `by`: the call of another library that makes this one
    uint64_t handles;                  // bits of the arguments that are handles
    uint32_t id, by_id, caller_id;     // for its records
    uint8_t number;                    // of the site, or RF_SITES
    uint8_t count;                     // of arguments
    uint8_t flags;                     // of its calls
    bool inputs, outputs, failure;     // arguments lead to memory: before, after, after a failure
    bool of_library;                   // another library's function
    uint8_t output_count;              // if its outputs are these numbers only, else 0
    struct em_record_output {
        uint8_t argument, size_B;
    } output[EM_RECORD_OUTPUTS];
    // 1 + the sequence number of the window in which `values` were recorded, and of the one in
    // which a command with `submitted` was.
    uint32_t window, submit_window;
    uint64_t values[EM_RECORD_VALUES], submitted[EM_RECORD_SUBMITTED];
};

// The window of a thread, and its calls. The struct is the thread's own.
struct em_record_thread {
    uint8_t *at, *end; // the next record and the end of the window; NULL before it is open
    uint8_t *last;     // the record before it, or NULL
    uint8_t *ended;    // the last one, if it ends a command that has started at once
    uint8_t *begun;    // the last one, if it is a call without blobs, and it has not returned
    uint64_t ticks;    // the time of the last record that has one
    uint64_t now;      // the last look at the clock, or 0
    uint64_t last_call, last_command; // numbers in the window, or 0
    uint64_t at_once;                 // the command that has started at once, or 0
    uint32_t generation;              // the process that it belongs to
    uint32_t number, sequence;
    uint64_t stack, stack_B; // the thread's stack, or 0
    bool failed;
    unsigned depth; // of `calls`
    struct rf_block *window;
    struct em_record_call {
        const struct em_entry *entry;
        struct em_record_site *site; // or NULL
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
static inline struct em_record_thread *em_record_thread_of(const struct em_thread *self,
                                                           size_t size)
{
    struct em_record_thread *t = self->record;
    if (__builtin_expect(t && (size_t)(t->end - t->at) >= size && em_record_is_open(t), 1))
        return t;
    return em_record_make_space(t, size);
}

static inline struct em_record_thread *em_record_thread_for(size_t size)
{
    return em_record_thread_of(em_thread(), size);
}

// A record that is being written.
struct em_record {
    struct em_record_thread *thread; // NULL: the fields are dropped
    uint8_t *start, *at, *end;
};

enum { EM_FIELD_MOST_B = 10, EM_RECORD_HEAD_B = 4 };

// Writes a number, and returns the place after it. Up to EM_FIELD_MOST_B bytes are overwritten.
uint8_t *em_varint(uint8_t *p, uint64_t value);

// The same, for a number that is probably small.
static inline uint8_t *em_varint_small(uint8_t *p, uint64_t value)
{
    if (__builtin_expect(value >= 0x80, 0))
        return em_varint(p, value);
    *p = (uint8_t)value;
    return p + 1;
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

void em_fields(struct em_record *record, const uint64_t *values, size_t count);

// Begins a record whose fields need at most `most` bytes; em_record_put should end it. Until
// em_record_put, the thread must not begin another one.
struct em_record em_record_begin(enum rf_kind kind, unsigned flags, size_t most);

// The time. `self` is the calling thread.
static inline uint64_t em_record_clock_of(struct em_thread *self)
{
    const uint64_t ticks = dm_ticks();
    self->has_waited = false;
    if (self->record)
        self->record->now = ticks;
    return ticks;
}

static inline uint64_t em_record_clock(void)
{
    return em_record_clock_of(em_thread());
}

// The time of the last look at the clock, if the call in progress has looked and nothing has passed
// since that takes long: it has neither waited for a lock nor run a function of the program. Only
// for records whose order with those of other threads does not matter (edges, and the return of a
// call whose command has just ended); others use em_record_in_order.
static inline uint64_t em_record_recently_of(struct em_thread *self)
{
    const struct em_record_thread *t = self->record;
    if (__builtin_expect(!t || !t->now || self->has_waited || !self->entry || !em_record_is_open(t),
                         0))
        return em_record_clock_of(self);
    return t->now;
}

static inline uint64_t em_record_recently(void)
{
    return em_record_recently_of(em_thread());
}

// The latest time of a command's begin or end and of a birth or death, and that of a birth or death
// alone, in all threads. Atomic.
extern struct em_record_latest {
    uint64_t any, life;
} em_record_latest;

static inline void em_record_note(uint64_t *latest, uint64_t ticks)
{
    uint64_t before = __atomic_load_n(latest, __ATOMIC_RELAXED);
    if (em_is_single_threaded())
        __atomic_store_n(latest, ticks > before ? ticks : before, __ATOMIC_RELAXED);
    else
        while (before < ticks && !__atomic_compare_exchange_n(latest, &before, ticks, true,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
}

// The begin of a command: the last look at the clock, unless another thread has begun or ended a
// command since, which is before this one if em_lock or the stream orders them.
static inline uint64_t em_record_in_order(void)
{
    uint64_t ticks = em_record_recently();
    const uint64_t latest = __atomic_load_n(&em_record_latest.any, __ATOMIC_RELAXED);
    if (__builtin_expect(ticks < latest, 0)) {
        ticks = em_record_clock();
        ticks = ticks > latest ? ticks : latest; // clocks of two processors may differ
    }
    em_record_note(&em_record_latest.any, ticks);
    return ticks;
}

// The end of a command.
static inline uint64_t em_record_end_of(struct em_thread *self)
{
    const uint64_t ticks = em_record_clock_of(self);
    em_record_note(&em_record_latest.any, ticks);
    return ticks;
}

static inline uint64_t em_record_end(void)
{
    return em_record_end_of(em_thread());
}

// The birth or death of an object or of memory. It is after all others, because its address or
// handle may be that of another one.
static inline uint64_t em_record_life(void)
{
    uint64_t ticks = em_record_in_order();
    const uint64_t latest = __atomic_load_n(&em_record_latest.life, __ATOMIC_RELAXED);
    if (__builtin_expect(ticks <= latest, 0)) {
        ticks = em_record_clock();
        ticks = ticks > latest ? ticks : latest + 1;
    }
    em_record_note(&em_record_latest.life, ticks);
    em_record_note(&em_record_latest.any, ticks);
    return ticks;
}

// The same as em_record_begin, with the time `ticks` as the first field.
struct em_record em_record_begin_at(enum rf_kind kind, unsigned flags, size_t most, uint64_t ticks);

static inline struct em_record em_record_begin_now(enum rf_kind kind, unsigned flags, size_t most)
{
    return em_record_begin_at(kind, flags, most, em_record_clock());
}

// The thread's records end at `at`.
static inline void em_record_publish(struct em_record_thread *t, uint8_t *at)
{
    t->at = at;
    __atomic_store_n(&t->window->used_B, (uint32_t)(at - (uint8_t *)(t->window + 1)),
                     __ATOMIC_RELEASE);
}

void em_record_put(struct em_record *record);

// Writes a record of numbers, the first of which is a time. Returns it, or NULL if nothing can be
// recorded.
uint8_t *em_record_numbers(enum rf_kind kind, unsigned flags, uint64_t ticks,
                           const uint64_t *numbers, size_t count);

// Adds the ticks from its time to `until` to the record at `at`, which is the last one of the
// thread, and sets a flag. Returns false if they take more than three bytes. The process may end
// before the head says so: three bytes are less than a head, and a reader skips them.
static inline bool em_record_extend(struct em_record_thread *t, uint8_t *at, uint64_t until,
                                    unsigned flag)
{
    const uint64_t past = until - t->ticks;
    uint32_t head;
    if (__builtin_expect(past >> 21 || t->end - t->at < EM_FIELD_MOST_B, 0))
        return false;
    uint8_t *p = t->at;
    p[0] = (uint8_t)(past | 0x80);
    p[1] = (uint8_t)(past >> 7);
    p += 2;
    if (__builtin_expect(past >> 14, 0)) {
        p[-1] |= 0x80;
        *p++ = (uint8_t)(past >> 14);
    }
    em_record_publish(t, p);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    memcpy(&head, at, sizeof head);
    head = (head & 0xffff0000) | (uint16_t)(p - at) | flag << 24; // size, kind, flags
    memcpy(at, &head, sizeof head);
    return true;
}

// Ends a record whose first field is the time `ticks`, and whose fields end at `end`.
static inline void em_record_put_at(struct em_record_thread *t, enum rf_kind kind, unsigned flags,
                                    uint64_t ticks, uint8_t *end)
{
    const uint32_t head = (uint16_t)(end - t->at) | (uint32_t)kind << 16 | flags << 24;
    memcpy(t->at, &head, sizeof head);
    t->ticks = ticks;
    t->last = t->at;
    em_record_publish(t, end);
}

// Where the second field of such a record begins.
static inline uint8_t *em_record_at(const struct em_record_thread *t, uint64_t ticks)
{
    return em_varint(t->at + EM_RECORD_HEAD_B, em_zigzag(ticks - t->ticks));
}
