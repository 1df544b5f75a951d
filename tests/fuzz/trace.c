// SPDX-License-Identifier: MIT
// The reader of recorded runs. An input is the records of one thread. The target puts a header, and
// a block with the tables of types, in front of them. Or the input is numbers of which the target
// writes a recording (trace_written.h), and predicts the calls that are read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "fuzz.h"
#include "record_format.h"
#include "trace.h"
#include "trace_contents.h"
#include "trace_written.h"

// The file: its header, a block with tables, and two blocks with the input.
enum { TABLES_BLOCK = 1, FIRST_BLOCK, SECOND_BLOCK, FILE_BLOCKS };
enum { TABLES_MOST_B = 4096, INPUT_MOST_B = RF_BLOCK_B - sizeof(struct rf_block) };

// The bits of an input's first byte, which chooses the file's layout. The rest of the input is
// records, except that:
enum layout {
    LAYOUT_WHOLE = 1,       // the file has all blocks; else it ends with the first bytes of one
    LAYOUT_HEADER = 2,      // the input overwrites the header
    LAYOUT_TABLES = 4,      // the input overwrites some bytes of the tables
    LAYOUT_CHUNK = 8,       // the first block is a chunk; else a window
    LAYOUT_ONE_THREAD = 16, // both blocks belong to one thread
    LAYOUT_ANY_BLOCK = 32,  // the input overwrites the head of the first block, too
    LAYOUT_WRITTEN = 0xff,  // as a whole: the target writes the file
};
enum { HEADER_CHANGED_B = 100, TABLE_BYTES_CHANGED = 20, CALLS_READ = 8 };

// Tables in which an argument is a pointer to a struct with a union, a list and a string.
static const char names[] = "\0count\0items\0text\0kind\0value\0a\0b\0ONE\0TWO\0result";
// Offsets of the names.
enum {
    NAME_COUNT = 1,
    ITEMS = 7,
    TEXT = 13,
    KIND = 18,
    VALUE = 23,
    A = 29,
    B = 31,
    ONE = 33,
    TWO = 37,
};
enum { SIGNED, FLAGS, STRING, UNION, STRUCT, POINTER, RESULT, HANDLE, SHAPES };
static const cardlessConstant constants[] = {{ONE, 1}, {TWO, 2}};
static const int64_t cases[] = {1, 2};
enum { NONE = CARDLESS_NO_SIBLING };
enum { STRUCT_FIRST = 2, STRUCT_MEMBERS = 5 }; // in `members`
enum { STRUCT_KIND = 3 };                      // in the struct: `kind`, which selects in the union
static const cardlessMember members[] = {
    // the union
    {.name = A, .shape = SIGNED, .count = NONE, .selector = NONE, .cases = 0, .case_count = 1},
    {.name = B, .shape = POINTER, .count = NONE, .selector = NONE, .cases = 1, .case_count = 1},
    // the struct
    {.name = NAME_COUNT, .shape = SIGNED, .count = NONE, .selector = NONE},
    {.name = ITEMS,
     .offset = 8,
     .shape = POINTER,
     .count = 0,
     .selector = NONE,
     .flags = CARDLESS_MEMBER_LIST},
    {.name = TEXT, .offset = 16, .shape = STRING, .count = NONE, .selector = NONE},
    {.name = KIND, .offset = 24, .shape = FLAGS, .count = NONE, .selector = NONE},
    {.name = VALUE, .offset = 32, .shape = UNION, .count = NONE, .selector = STRUCT_KIND},
    // the arguments
    {.name = A, .shape = POINTER, .count = NONE, .selector = NONE},
    {.name = B,
     .offset = 8,
     .shape = POINTER,
     .count = NONE,
     .selector = NONE,
     .flags = CARDLESS_MEMBER_OUTPUT | CARDLESS_MEMBER_INPUT | CARDLESS_MEMBER_ALWAYS},
    {.name = VALUE, .offset = 16, .shape = HANDLE, .count = NONE, .selector = NONE},
};
static const cardlessShape shapes[SHAPES] = {
    [SIGNED] = {.size_B = 8, .kind = CARDLESS_SHAPE_SIGNED},
    [FLAGS] = {.size_B = 8, .kind = CARDLESS_SHAPE_FLAGS, .count = 2},
    [STRING] = {.size_B = 8, .kind = CARDLESS_SHAPE_STRING},
    [UNION] = {.size_B = 8, .kind = CARDLESS_SHAPE_UNION, .count = 2},
    [STRUCT] = {.size_B = 40,
                .kind = CARDLESS_SHAPE_STRUCT,
                .first = STRUCT_FIRST,
                .count = STRUCT_MEMBERS},
    [POINTER] = {.size_B = 8, .kind = CARDLESS_SHAPE_POINTER, .target = STRUCT},
    [RESULT] = {.size_B = 4, .kind = CARDLESS_SHAPE_ENUM, .count = 2},
    [HANDLE] = {.size_B = 8, .kind = CARDLESS_SHAPE_HANDLE},
};

static void add_table(uint8_t *tables, struct rf_tables *head, struct rf_table *table,
                      const void *from, size_t count, size_t stride)
{
    head->size_B = (head->size_B + 7) & ~7u; // tables are aligned to 8 bytes
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
        for (uint32_t i = 0; i < m->call_count && i < CALLS_READ; i++) {
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

// The file's blocks, made of the input as `layout` says.
static void fill_blocks(uint8_t *file, unsigned layout, const uint8_t *data, size_t size)
{
    uint8_t tables[TABLES_MOST_B] = {0};
    uint8_t *first = file + FIRST_BLOCK * RF_BLOCK_B, *second = file + SECOND_BLOCK * RF_BLOCK_B;
    const uint32_t tables_B = make_tables(tables);
    // Each byte of the tables that changes takes its offset (16 bits) and its value.
    for (size_t i = 0; layout & LAYOUT_TABLES && i < TABLE_BYTES_CHANGED && 3 * i + 2 < size; i++)
        tables[(data[3 * i] | data[3 * i + 1] << 8) % tables_B] = data[3 * i + 2];
    put_block(file + TABLES_BLOCK * RF_BLOCK_B, RF_TABLES, 0, tables, tables_B);
    put_block(first, layout & LAYOUT_CHUNK ? RF_CHUNK : RF_WINDOW, 1, data, size);
    put_block(second, RF_WINDOW, layout & LAYOUT_ONE_THREAD ? 1 : 2, data, size);
    if (layout & LAYOUT_ANY_BLOCK)
        memcpy(first, data, size);
}

static void fill_header(uint8_t *file, unsigned layout, const uint8_t *data, size_t size)
{
    struct rf_header header = {.magic = RF_MAGIC,
                               .version = RF_VERSION,
                               .header_B = sizeof header,
                               .block_B = RF_BLOCK_B,
                               .ticks = {0, 1000},
                               .ns = {0, 1000}};
    if (layout & LAYOUT_HEADER) // after the version
        memcpy(&header.block_B, data, size < HEADER_CHANGED_B ? size : HEADER_CHANGED_B);
    memcpy(file, &header, sizeof header);
}

static void run_written(const uint8_t *data, size_t size)
{
    static struct written w;
    static uint8_t file[WRITTEN_FILE_B];
    struct fuzz_input in = {data, data + size};
    struct trace_model model;
    memset(file, 0, sizeof file);
    written_make(&in, &w, file);
    uint8_t *exact = malloc(w.size_B); // so that a read after the end is found
    FUZZ_CHECK(exact, "no memory");
    memcpy(exact, file, w.size_B);
    FUZZ_CHECK(trace_open_bytes(&model, exact, w.size_B), "a recording is not read");
    written_check(&w, &model);
    use(&model);
    trace_close(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_MOST_B || !nowhere)
        return 0;
    const unsigned layout = data[0];
    if (layout == LAYOUT_WRITTEN) {
        run_written(data + 1, size - 1);
        return 0;
    }
    const size_t whole = (size_t)FILE_BLOCKS * RF_BLOCK_B,
                 used = layout & LAYOUT_WHOLE ? whole : RF_BLOCK_B + size - 1;
    uint8_t *file = calloc(1, whole);
    if (!file)
        return 0;
    fill_header(file, layout, data + 1, size - 1);
    fill_blocks(file, layout, data + 1, size - 1);
    struct trace_model model;
    if (trace_open_bytes(&model, file, used)) {
        use(&model);
        trace_close(&model);
    }
    return 0;
}

// Inputs are changed by whole records: if single bytes change, hardly any record stays valid.
enum {
    RECORDS_ADDED = 8, // to an input by one change
    RECORD_HEAD_B = 4, // of a record: length, kind and flags
    RECORD_MOST_B = 256,
    FIELDS_LEAST = 2,
    FIELDS_MOST = 17,
    SMALL_NUMBERS = 12, // of threads, calls, entry points …
    SELDOM = 9,         // one field in so many is a large number
    LARGE_SHIFT = 20,
    RECORD_FLAGS = 16,
    NEW_WRITTEN = 20, // one input in so many becomes a recording that the target writes
    NUMBERS_ADDED = 800,
};

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
    if (size + RECORD_MOST_B > most)
        return size;
    uint8_t *record = data + size;
    size_t length = RECORD_HEAD_B;
    const uint64_t fields = FIELDS_LEAST + draw(state) % (FIELDS_MOST - FIELDS_LEAST + 1);
    for (uint64_t i = 0; i < fields; i++) {
        const bool is_small = draw(state) % SELDOM;
        const uint64_t number = draw(state);
        length +=
            put_number(record + length, is_small ? number % SMALL_NUMBERS : number << LARGE_SHIFT);
    }
    record[0] = (uint8_t)length; // less than RECORD_MOST_B: a field has at most 10 bytes
    record[1] = 0;
    record[2] = (uint8_t)(draw(state) % (RF_KINDS + 1));
    record[3] = (uint8_t)(draw(state) % RECORD_FLAGS);
    return size + length;
}

// Adds or changes numbers of which a recording is written.
static size_t change_written(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    if (!size || data[0] != LAYOUT_WRITTEN)
        size = 1;
    data[0] = LAYOUT_WRITTEN;
    for (uint64_t n = draw(state) % (size > 1 ? NUMBERS_ADDED / 8 : NUMBERS_ADDED); n; n--) {
        if (size < most)
            data[size++] = (uint8_t)draw(state);
    }
    for (uint64_t n = draw(state) % 4; n && size > 1; n--)
        data[1 + draw(state) % (size - 1)] = (uint8_t)draw(state);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    draw(&state);
    if ((size && data[0] == LAYOUT_WRITTEN) || (most && draw(&state) % NEW_WRITTEN == 0))
        return change_written(data, size, most, &state);
    if (!size && most) {
        data[0] = (uint8_t)(LAYOUT_WHOLE | (draw(&state) & (LAYOUT_CHUNK | LAYOUT_ONE_THREAD)));
        size = 1;
    }
    for (unsigned i = 0; i < RECORDS_ADDED; i++)
        size = add_record(data, size, most, &state);
    if (size > 1 && draw(&state) % 2)
        data[draw(&state) % size] = (uint8_t)draw(&state);
    return size;
}
