// SPDX-License-Identifier: MIT
// Records the lives of objects and memory, diagnostics, and edges of the order.
#include "call.h"
#include "context_base.h"
#include "lock.h"
#include "object.h"
#include "physical.h"
#include "record.h"
#include "stop.h"

static void write_numbers(enum rf_kind kind, uint64_t ticks, const uint64_t *numbers, size_t size_B)
{
    em_record_numbers(kind, 0, ticks, numbers, size_B / sizeof *numbers);
}

void em_record_object(const struct em_object *object)
{
    const uint32_t type = em_record_name(em_type_name(object->type));
    struct em_context *context = object->context;
    const uint64_t numbers[] = {object->handle, type, object->number,
                                context ? em_context_base(context)->object.handle : 0};
    write_numbers(RF_OBJECT, em_record_life(), numbers, sizeof numbers);
}

void em_record_object_end(uint64_t handle, int reason)
{
    const uint64_t numbers[] = {handle, (uint64_t)reason};
    write_numbers(RF_OBJECT_END, em_record_life(), numbers, sizeof numbers);
}

void em_record_memory(const struct em_record_memory *m)
{
    const uint32_t kind = em_record_name(m->kind);
    const uint64_t numbers[] = {m->id,   kind,        m->address, m->size_B,
                                m->host, m->physical, m->offset};
    write_numbers(RF_MEMORY, em_record_life(), numbers, sizeof numbers);
}

uint64_t em_record_physical(const struct dm_physical *p)
{
    if (!p || p->kind == DM_PHYSICAL_SLICE)
        return (uintptr_t)p;
    const uint64_t parts[] = {p->file.dev, p->file.ino, p->payload};
    struct rf_hash hash = RF_HASH_START;
    rf_hash_add(&hash, parts, sizeof parts);
    return rf_hash_end(&hash);
}

void em_record_memory_end(uint64_t id)
{
    write_numbers(RF_MEMORY_END, em_record_life(), &id, sizeof id);
}

void em_record_mapped(uint64_t handle, bool is_mapped)
{
    struct em_record r = em_record_begin(RF_MAPPED, 0, 3 * EM_FIELD_MOST_B);
    em_field(&r, dm_ticks());
    em_field(&r, handle);
    em_field(&r, is_mapped);
    em_record_put(&r);
}

void em_record_diagnostic(const char *id, int result, const char *text)
{
    struct em_record r =
        em_record_begin_now(RF_DIAGNOSTIC, 0, 3 * EM_FIELD_MOST_B + 32 + EM_FIELD_TEXT_B);
    em_field(&r, em_self.calls);
    em_field(&r, (uint64_t)result);
    em_field_text(&r, id);
    em_field_text(&r, text);
    em_record_put(&r);
    em_stop(EM_STOP_DIAGNOSTIC, id, 0);
}

// The last signals, found by their key. Each row has those of some keys, the newest first.
enum { ROWS = 512, SIGNALS = 8 };
static struct signal {
    uint64_t key, value, command;
} signals[ROWS][SIGNALS];

static struct signal *row_of(uint64_t key)
{
    return signals[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}
_Static_assert(ROWS == 1 << (64 - 55), "the hash has as many bits as a row");

void em_record_signalled(uint64_t key, uint64_t value, uint64_t command)
{
    em_assert_locked();
    struct signal *row = row_of(key);
    for (unsigned i = SIGNALS - 1; i; i--)
        row[i] = row[i - 1];
    row[0] = (struct signal){key, value, command};
}

static void record_edge(uint64_t from, uint64_t to, const char *why);

bool em_record_awaited(uint64_t key, uint64_t value, bool at_least, uint64_t command,
                       const char *why)
{
    em_assert_locked();
    const struct signal *row = row_of(key), *found = NULL;
    for (unsigned i = 0; i < SIGNALS; i++)
        if (row[i].key == key && (row[i].value == value || (at_least && row[i].value > value)))
            found = found && !at_least ? found : &row[i];
    if (found)
        record_edge(found->command, command, why);
    return found != NULL;
}

static void record_edge(uint64_t from, uint64_t to, const char *why)
{
    const uint32_t name = em_record_name(why);
    const uint64_t numbers[] = {from, to, name};
    write_numbers(RF_EDGE, em_record_recently(), numbers, sizeof numbers);
}
