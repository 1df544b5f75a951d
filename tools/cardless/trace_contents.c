// SPDX-License-Identifier: MIT
// Reads the contents of a recorded run. Whatever the file says is checked here.
#include "trace_contents.h"

#include <stdlib.h>
#include <string.h>

enum { THREAD_SHIFT = 40 };

// The calls by thread and number.
struct key {
    uint64_t key;
    uint32_t call;
};

struct reader {
    const struct trace_model *model;
    struct trace_contents *out;
    struct key *keys;
    size_t key_count;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static uint32_t find_call(const struct reader *r, uint64_t key)
{
    size_t low = 0, high = r->key_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (r->keys[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->key_count && r->keys[low].key == key ? r->keys[low].call : TRACE_NONE;
}

#define ADD(out, name)                                                                             \
    trace_append((void **)&(out)->name##s, &(out)->name##_count, &(out)->name##_capacity,          \
                 sizeof *(out)->name##s)

// The bytes of a CONTENT block, or NULL.
static const uint8_t *block_at(const struct trace_file *f, uint64_t block, uint64_t size_B)
{
    struct rf_block head;
    if (block > f->size_B / RF_BLOCK_B)
        return NULL;
    const uint64_t at = (1 + block) * RF_BLOCK_B;
    if (at > f->size_B || f->size_B - at < sizeof head)
        return NULL;
    memcpy(&head, f->bytes + at, sizeof head);
    if (head.magic != RF_BLOCK_MAGIC || head.kind != RF_CONTENT || head.used_B != size_B ||
        f->size_B - at - sizeof head < size_B)
        return NULL;
    return f->bytes + at + sizeof head;
}

// Returns false if the box is empty, or too large for an address space.
static bool measure(struct trace_bytes *b)
{
    uint64_t rows_B, slices_B;
    return b->row_B && b->rows && b->slices &&
           !__builtin_mul_overflow(b->row_B, b->rows, &b->size_B) &&
           !__builtin_mul_overflow(b->size_B, b->slices, &b->size_B) &&
           !__builtin_mul_overflow(b->rows - 1, b->pitch_B, &rows_B) &&
           !__builtin_mul_overflow(b->slices - 1, b->slice_B, &slices_B) &&
           !__builtin_add_overflow(rows_B, slices_B, &b->span_B) &&
           !__builtin_add_overflow(b->span_B, b->row_B, &b->span_B) &&
           b->address <= UINT64_MAX - b->span_B && b->span_B < UINT64_C(1) << 47;
}

static bool read_bytes(struct reader *reader, struct trace_record *r)
{
    struct trace_bytes b = {.role = (enum rf_role)trace_field(r)};
    b.call = find_call(reader, trace_field(r));
    b.address = trace_field(r);
    b.row_B = trace_field(r);
    b.rows = trace_field(r);
    b.pitch_B = trace_field(r);
    b.slices = trace_field(r);
    b.slice_B = trace_field(r);
    b.hash = trace_field(r);
    const uint64_t block = trace_field(r), here_B = trace_field(r);
    if (b.role > RF_TEXELS || (b.call == TRACE_NONE && b.role != RF_TEXELS) || !measure(&b))
        return true;
    if (block)
        b.kept = block_at(&reader->model->file, block - 1, b.size_B);
    else if (here_B == b.size_B && (uint64_t)(r->end - r->at) >= here_B)
        b.kept = r->at;
    struct trace_bytes *to = ADD(reader->out, byte);
    if (to)
        *to = b;
    return to != NULL;
}

static bool read_fd(struct reader *reader, struct trace_record *r)
{
    struct trace_fd f = {.call = find_call(reader, trace_field(r))};
    f.fd = trace_field(r);
    f.is_taken = trace_field(r);
    f.device = trace_field(r);
    f.inode = trace_field(r);
    f.size_B = trace_field(r);
    if (f.call == TRACE_NONE)
        return true;
    struct trace_fd *to = ADD(reader->out, fd);
    if (to)
        *to = f;
    return to != NULL;
}

static bool read_setting(struct reader *reader, struct trace_record *r)
{
    const char *text;
    const size_t size = trace_text(r, &text);
    char *copy = strndup(text, size), **to = copy ? ADD(reader->out, setting) : NULL;
    if (to)
        *to = copy;
    else
        free(copy);
    return to != NULL;
}

static bool read_record(struct reader *reader, struct trace_record *r)
{
    switch (r->kind) {
    case RF_BYTES:
        return read_bytes(reader, r);
    case RF_FD:
        return read_fd(reader, r);
    case RF_SETTING:
        return read_setting(reader, r);
    default:
        return true;
    }
}

static int compare_bytes(const void *a, const void *b)
{
    const struct trace_bytes *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->rows < y->rows ? -1 : x->rows > y->rows; // positions, at this time
}

static int compare_fds(const void *a, const void *b)
{
    const struct trace_fd *x = a, *y = b;
    return x->call < y->call ? -1 : x->call > y->call;
}

// qsort may change the order of equals, so their positions stand in a field meanwhile.
static bool sort_bytes(struct trace_contents *c)
{
    uint64_t *rows = malloc((c->byte_count + 1) * sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < c->byte_count; i++) {
        rows[i] = c->bytes[i].rows;
        c->bytes[i].rows = i;
    }
    if (c->byte_count)
        qsort(c->bytes, c->byte_count, sizeof *c->bytes, compare_bytes);
    for (size_t i = 0; i < c->byte_count; i++)
        c->bytes[i].rows = rows[c->bytes[i].rows];
    free(rows);
    return true;
}

bool trace_contents_read(const struct trace_model *m, struct trace_contents *out)
{
    *out = (struct trace_contents){.bytes = NULL};
    struct reader reader = {m, out, malloc((m->call_count + 1) * sizeof *reader.keys), 0};
    bool works = reader.keys != NULL;
    for (size_t i = 0; works && i < m->call_count; i++) {
        const struct trace_call *c = &m->calls[i];
        if (c->of_library)
            continue;
        reader.keys[reader.key_count++] =
            (struct key){m->threads[c->thread].number << THREAD_SHIFT | c->number, (uint32_t)i};
    }
    if (reader.key_count)
        qsort(reader.keys, reader.key_count, sizeof *reader.keys, compare_keys);
    for (size_t i = 0; works && i < m->file.block_count; i++) {
        const struct trace_block *b = &m->file.blocks[i];
        size_t position = 0;
        uint64_t ticks = b->ticks;
        struct trace_record r;
        while (works && trace_next(b, &position, &ticks, &r))
            works = read_record(&reader, &r);
    }
    free(reader.keys);
    works = works && sort_bytes(out);
    if (works && out->fd_count)
        qsort(out->fds, out->fd_count, sizeof *out->fds, compare_fds);
    if (!works)
        trace_contents_free(out);
    return works;
}

void trace_contents_free(struct trace_contents *c)
{
    for (size_t i = 0; i < c->setting_count; i++)
        free(c->settings[i]);
    free(c->settings);
    free(c->bytes);
    free(c->fds);
    *c = (struct trace_contents){.bytes = NULL};
}

#define FIND(list, count_of, call_wanted, first)                                                   \
    size_t low = 0, high = (count_of);                                                             \
    while (low < high) {                                                                           \
        const size_t middle = (low + high) / 2;                                                    \
        if ((list)[middle].call < (call_wanted))                                                   \
            low = middle + 1;                                                                      \
        else                                                                                       \
            high = middle;                                                                         \
    }                                                                                              \
    *(first) = (list) + low;                                                                       \
    high = low;                                                                                    \
    while (high < (count_of) && (list)[high].call == (call_wanted))                                \
        high++;                                                                                    \
    return high - low;

size_t trace_bytes_of(const struct trace_contents *c, uint32_t call,
                      const struct trace_bytes **first)
{
    *first = NULL;
    if (!c->byte_count)
        return 0;
    FIND(c->bytes, c->byte_count, call, first)
}

size_t trace_fds_of(const struct trace_contents *c, uint32_t call, const struct trace_fd **first)
{
    *first = NULL;
    if (!c->fd_count)
        return 0;
    FIND(c->fds, c->fd_count, call, first)
}
