// SPDX-License-Identifier: MIT
// Writes records into the window of the calling thread.
#include "record_write.h"

#include "call.h"

struct em_record_latest em_record_latest;

static inline uint8_t *put_varint(uint8_t *p, uint64_t value)
{
    if (value < 0x80) {
        *p = (uint8_t)value;
        return p + 1;
    }
    if (value < 0x4000) {
        p[0] = (uint8_t)(value | 0x80);
        p[1] = (uint8_t)(value >> 7);
        return p + 2;
    }
    if (em_unlikely(value >> 56)) {
        for (; value >= 0x80; value >>= 7)
            *p++ = (uint8_t)(value | 0x80);
        *p++ = (uint8_t)value;
        return p;
    }
    // Spreads 56 bits over 8 bytes: halves, quarters, eighths.
    const unsigned more = (unsigned)(63 - __builtin_clzll(value)) / 7; // bytes after the first
    uint64_t x = (value & 0x0fffffff) | (value & 0x00fffffff0000000) << 4;
    x = (x & 0x00003fff00003fff) | (x & 0x0fffc0000fffc000) << 2;
    x = (x & 0x007f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
    x |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * more) - 1);
    memcpy(p, &x, sizeof x);
    return p + more + 1;
}

uint8_t *em_varint(uint8_t *p, uint64_t value)
{
    return put_varint(p, value);
}

static inline uint8_t *put_varints(uint8_t *p, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p = put_varint(p, values[i]);
    return p;
}

void em_fields(struct em_record *r, const uint64_t *values, size_t count)
{
    if (r->at)
        r->at = put_varints(r->at, values, count);
}

static inline struct em_record begin(enum rf_kind kind, unsigned flags, size_t most)
{
    struct em_record_thread *t = em_record_thread_for(EM_RECORD_HEAD_B + most);
    if (em_unlikely(!t))
        return (struct em_record){.thread = NULL};
    uint8_t *p = t->at;
    p[2] = (uint8_t)kind;
    p[3] = (uint8_t)flags;
    return (struct em_record){t, p, p + EM_RECORD_HEAD_B, p + EM_RECORD_HEAD_B + most};
}

static inline struct em_record begin_at(enum rf_kind kind, unsigned flags, size_t most,
                                        uint64_t ticks)
{
    struct em_record r = begin(kind, flags, most + EM_FIELD_MOST_B);
    if (em_likely(r.thread)) {
        const uint64_t past = ticks - r.thread->ticks;
        r.thread->ticks = ticks;
        r.at = put_varint(r.at, em_zigzag(past));
    }
    return r;
}

static inline void put(const struct em_record *r)
{
    struct em_record_thread *t = r->thread;
    if (em_unlikely(!t))
        return;
    const uint16_t size = (uint16_t)(r->at - r->start);
    memcpy(r->start, &size, sizeof size);
    t->last = r->start;
    em_record_publish(t, r->at);
}

struct em_record em_record_begin(enum rf_kind kind, unsigned flags, size_t most)
{
    return begin(kind, flags, most);
}

struct em_record em_record_begin_at(enum rf_kind kind, unsigned flags, size_t most, uint64_t ticks)
{
    return begin_at(kind, flags, most, ticks);
}

void em_record_put(struct em_record *record)
{
    put(record);
}

uint8_t *em_record_numbers(enum rf_kind kind, unsigned flags, uint64_t ticks,
                           const uint64_t *numbers, size_t count)
{
    struct em_record r = begin_at(kind, flags, count * EM_FIELD_MOST_B, ticks);
    if (em_likely(r.thread))
        r.at = put_varints(r.at, numbers, count);
    put(&r);
    return r.start;
}
