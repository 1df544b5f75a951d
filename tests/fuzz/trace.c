// SPDX-License-Identifier: MIT
// The reader of recorded runs. An input is the records of one thread. The target puts a header, and
// a block with the tables of types or with bytes of the input, around them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "fuzz.h"
#include "record_format.h"
#include "trace.h"
#include "trace_contents.h"

// Tables in which an argument is a pointer to a struct with a union, a list and a string.
static const char names[] = "\0count\0items\0text\0kind\0value\0a\0b\0ONE\0TWO\0result";
enum { NAME_COUNT = 1, ITEMS = 7, TEXT = 13, KIND = 18, VALUE = 23, A = 29, B = 31, ONE = 33 };
enum { SIGNED, FLAGS, STRING, UNION, STRUCT, POINTER, RESULT, HANDLE, SHAPES };
static const cardlessConstant constants[] = {{ONE, 1}, {ONE + 4, 2}};
static const int64_t cases[] = {1, 2};
static const cardlessMember members[] = {
    // the union
    {.name = A, .shape = SIGNED, .count = 255, .selector = 255, .cases = 0, .case_count = 1},
    {.name = B, .shape = POINTER, .count = 255, .selector = 255, .cases = 1, .case_count = 1},
    // the struct
    {.name = NAME_COUNT, .shape = SIGNED, .count = 255, .selector = 255},
    {.name = ITEMS,
     .offset = 8,
     .shape = POINTER,
     .count = 0,
     .selector = 255,
     .flags = CARDLESS_MEMBER_LIST},
    {.name = TEXT, .offset = 16, .shape = STRING, .count = 255, .selector = 255},
    {.name = KIND, .offset = 24, .shape = FLAGS, .count = 255, .selector = 255},
    {.name = VALUE, .offset = 32, .shape = UNION, .count = 255, .selector = 3},
    // the arguments
    {.name = A, .shape = POINTER, .count = 255, .selector = 255},
    {.name = B,
     .offset = 8,
     .shape = POINTER,
     .count = 255,
     .selector = 255,
     .flags = CARDLESS_MEMBER_OUTPUT | CARDLESS_MEMBER_INPUT | CARDLESS_MEMBER_ALWAYS},
    {.name = VALUE, .offset = 16, .shape = HANDLE, .count = 255, .selector = 255},
};
static const cardlessShape shapes[SHAPES] = {
    [SIGNED] = {.size_B = 8, .kind = CARDLESS_SHAPE_SIGNED},
    [FLAGS] = {.size_B = 8, .kind = CARDLESS_SHAPE_FLAGS, .count = 2},
    [STRING] = {.size_B = 8, .kind = CARDLESS_SHAPE_STRING},
    [UNION] = {.size_B = 8, .kind = CARDLESS_SHAPE_UNION, .count = 2},
    [STRUCT] = {.size_B = 40, .kind = CARDLESS_SHAPE_STRUCT, .first = 2, .count = 5},
    [POINTER] = {.size_B = 8, .kind = CARDLESS_SHAPE_POINTER, .target = STRUCT},
    [RESULT] = {.size_B = 4, .kind = CARDLESS_SHAPE_ENUM, .count = 2},
    [HANDLE] = {.size_B = 8, .kind = CARDLESS_SHAPE_HANDLE},
};

static void add_table(uint8_t *tables, struct rf_tables *head, struct rf_table *table,
                      const void *from, size_t count, size_t stride)
{
    head->size_B = (head->size_B + 7) & ~7u;
    *table = (struct rf_table){head->size_B, (uint32_t)count, (uint32_t)stride};
    memcpy(tables + head->size_B, from, count * stride);
    head->size_B += (uint32_t)(count * stride);
}

static uint32_t make_tables(uint8_t *out)
{
    struct rf_tables t = {.size_B = sizeof t, .result = RESULT};
    add_table(out, &t, &t.names, names, sizeof names, 1);
    add_table(out, &t, &t.constants, constants, 2, sizeof *constants);
    add_table(out, &t, &t.members, members, sizeof members / sizeof *members, sizeof *members);
    add_table(out, &t, &t.shapes, shapes, SHAPES, sizeof *shapes);
    add_table(out, &t, &t.cases, cases, 2, sizeof *cases);
    memcpy(out, &t, sizeof t);
    return t.size_B;
}

static void put_block(uint8_t *at, uint32_t kind, uint32_t thread, const uint8_t *bytes,
                      size_t size)
{
    const struct rf_block head = {.magic = RF_BLOCK_MAGIC,
                                  .kind = kind,
                                  .thread = kind == RF_TABLES ? 0 : thread,
                                  .sequence = kind == RF_TABLES,
                                  .used_B = (uint32_t)size};
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, bytes, size);
}

static FILE *nowhere;
static volatile uint8_t sum; // of bytes that are read

static void use(const struct trace_model *m)
{
    char list[] = "name=*,address=0-0xffffffffffff";
    struct trace_filter filter = {.any = false};
    trace_print(m, &filter, nowhere);
    trace_print_summary(m, nowhere);
    if (trace_filter_read(&filter, list))
        trace_print(m, &filter, nowhere);
    trace_compare(m, m, nowhere);
    trace_write_perfetto(m, "/dev/null");
    struct trace_contents contents;
    if (trace_contents_read(m, &contents)) {
        const struct trace_bytes *bytes;
        const struct trace_fd *fds;
        for (uint32_t i = 0; i < m->call_count && i < 8; i++) {
            trace_fds_of(&contents, i, &fds);
            for (size_t k = trace_bytes_of(&contents, i, &bytes); k--;)
                sum ^= bytes[k].kept ? bytes[k].kept[bytes[k].size_B - 1] : 0;
        }
        trace_contents_free(&contents);
    }
    struct trace_level level;
    for (size_t i = 0; i < m->array_count; i++)
        trace_array_level(&m->arrays[i], m->arrays[i].levels - 1, &level);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    nowhere = fopen("/dev/null", "we");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BLOCKS = 3, MOST = RF_BLOCK_B - sizeof(struct rf_block) };
    static uint8_t tables[4096];
    if (size < 2 || size > MOST || !nowhere)
        return 0;
    // The first byte chooses the layout; the rest is records, and sometimes tables or the header.
    const uint8_t how = data[0];
    data++;
    size--;
    const size_t whole = (size_t)(BLOCKS + 1) * RF_BLOCK_B,
                 used = how & 1 ? whole : RF_BLOCK_B + size;
    uint8_t *file = calloc(1, whole);
    if (!file)
        return 0;
    struct rf_header header = {.magic = RF_MAGIC,
                               .version = RF_VERSION,
                               .header_B = sizeof header,
                               .block_B = RF_BLOCK_B,
                               .ticks = {0, 1000},
                               .ns = {0, 1000}};
    if (how & 2)
        memcpy((uint8_t *)&header + 24, data, size < 100 ? size : 100);
    memcpy(file, &header, sizeof header);
    const uint32_t tables_B = make_tables(tables);
    if (how & 4)
        for (size_t i = 0; i + 2 < size && i < 60; i += 3)
            tables[(data[i] | data[i + 1] << 8) % tables_B] = data[i + 2];
    put_block(file + RF_BLOCK_B, RF_TABLES, 0, tables, tables_B);
    put_block(file + 2 * RF_BLOCK_B, how & 8 ? RF_CHUNK : RF_WINDOW, 1, data, size);
    put_block(file + 3 * RF_BLOCK_B, RF_WINDOW, how & 16 ? 1 : 2, data, size);
    if (how & 32) // anything
        memcpy(file + 2 * RF_BLOCK_B, data, size);
    struct trace_model model;
    if (trace_open_bytes(&model, file, used)) {
        use(&model);
        trace_close(&model);
    }
    return 0;
}

// Inputs are changed by whole records: if single bytes change, hardly any record stays valid.
static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static size_t put_number(uint8_t *at, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        at[size++] = (uint8_t)(value | 0x80);
    at[size++] = (uint8_t)value;
    return size;
}

// Appends a record with small numbers, which often name something that there is.
static size_t add_record(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    enum { ROOM = 256 };
    if (size + ROOM > most)
        return size;
    uint8_t *record = data + size;
    size_t length = 4;
    const unsigned fields = 2 + draw(state) % 16;
    for (unsigned i = 0; i < fields; i++)
        length +=
            put_number(record + length, draw(state) % 9 ? draw(state) % 12 : draw(state) << 20);
    record[0] = (uint8_t)length;
    record[1] = 0;
    record[2] = (uint8_t)(draw(state) % (RF_KINDS + 1));
    record[3] = (uint8_t)(draw(state) % 16);
    return size + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    draw(&state);
    if (!size && most) {
        data[0] = (uint8_t)(1 | draw(&state) % 4 * 8);
        size = 1;
    }
    for (unsigned i = 0; i < 8; i++)
        size = add_record(data, size, most, &state);
    if (size > 1 && draw(&state) % 2)
        data[draw(&state) % size] = (uint8_t)draw(&state);
    return size;
}
