// SPDX-License-Identifier: MIT
// Finds the blocks of a recorded run, and steps through their records.
#include "trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool not_a_trace(const char *name, const char *why)
{
    if (name)
        fprintf(stderr, "cardless: %s is not a recorded run: %s\n", name, why);
    return false;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct trace_block *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    if (x->is_window != y->is_window)
        return x->is_window ? 1 : -1;
    return x->offset < y->offset ? -1 : 1;
}

// Of two blocks with the same number the first one counts: a window that was being copied.
static void drop_copies(struct trace_file *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->block_count; i++) {
        const struct trace_block *b = &f->blocks[i];
        const struct trace_block *last = kept ? &f->blocks[kept - 1] : NULL;
        if (last && last->thread == b->thread && last->sequence == b->sequence)
            continue;
        const uint32_t expected = last && last->thread == b->thread ? last->sequence + 1 : 0;
        f->lost += b->sequence != expected;
        f->blocks[kept++] = *b;
    }
    f->block_count = kept;
}

static bool add_block(struct trace_file *f, const struct rf_block *head, uint64_t offset)
{
    const size_t left = f->size_B - offset - sizeof *head, room = RF_BLOCK_B - sizeof *head;
    const size_t most = room < left ? room : left;
    // A window is in the file as a whole, a chunk as far as it is used.
    f->lost += left < (head->kind == RF_WINDOW ? room : head->used_B);
    if (!(f->block_count & (f->block_count - 1))) { // a power of two: full
        const size_t capacity = f->block_count ? 2 * f->block_count : 1;
        struct trace_block *more = realloc(f->blocks, capacity * sizeof *more);
        if (!more)
            return false;
        f->blocks = more;
    }
    f->blocks[f->block_count++] = (struct trace_block){
        .thread = head->thread,
        .sequence = head->sequence,
        .ticks = head->ticks,
        .records = f->bytes + offset + sizeof *head,
        .size_B = head->used_B < most ? head->used_B : most,
        .is_window = head->kind == RF_WINDOW,
        .offset = offset,
    };
    return true;
}

static bool find_blocks(struct trace_file *f)
{
    uint64_t next;
    for (uint64_t at = RF_BLOCK_B; at + sizeof(struct rf_block) <= f->size_B; at = next) {
        struct rf_block head;
        memcpy(&head, f->bytes + at, sizeof head);
        next = at + RF_BLOCK_B;
        if (head.magic != RF_BLOCK_MAGIC)
            continue;
        if (head.kind == RF_WINDOW || head.kind == RF_CHUNK) {
            if (!add_block(f, &head, at))
                return false;
        } else if (head.kind == RF_TABLES || head.kind == RF_CONTENT) {
            const uint64_t left = f->size_B - at - sizeof head;
            f->lost += left < head.used_B;
            if (head.kind == RF_TABLES)
                trace_tables_read(f, head.thread, f->bytes + at + sizeof head,
                                  head.used_B < left ? head.used_B : left);
            if (head.sequence && head.sequence <= (f->size_B - at) / RF_BLOCK_B + 1)
                next = at + (uint64_t)head.sequence * RF_BLOCK_B;
        }
    }
    // Blocks after the header of which the file has at least a byte.
    const uint64_t begun = (f->size_B - 1) / RF_BLOCK_B;
    f->lost += begun < f->header.blocks ? (uint32_t)(f->header.blocks - begun) : 0;
    if (f->block_count)
        qsort(f->blocks, f->block_count, sizeof *f->blocks, compare_blocks);
    drop_copies(f);
    return true;
}

bool trace_file_read(struct trace_file *f, uint8_t *bytes, size_t size_B, const char *name)
{
    *f = (struct trace_file){.bytes = bytes, .size_B = size_B};
    struct rf_header *h = &f->header;
    if (size_B < sizeof *h)
        return not_a_trace(name, "it is too short");
    memcpy(h, bytes, sizeof *h);
    if (memcmp(h->magic, RF_MAGIC, sizeof h->magic))
        return not_a_trace(name, "it does not begin with \"CARDLESS TRACE\"");
    if (h->version != RF_VERSION || h->block_B != RF_BLOCK_B) {
        if (name)
            fprintf(stderr,
                    "cardless: %s has version %u of the format, and this program reads version "
                    "%d; use the cardless that belongs to the driver that wrote it\n",
                    name, h->version, RF_VERSION);
        return false;
    }
    h->policy[sizeof h->policy - 1] = 0;
    h->cpu[sizeof h->cpu - 1] = 0;
    h->program[sizeof h->program - 1] = 0;
    if (find_blocks(f))
        return true;
    return not_a_trace(name, "out of memory");
}

bool trace_file_open(struct trace_file *f, const char *path)
{
    *f = (struct trace_file){.bytes = NULL};
    FILE *in = fopen(path, "rbe");
    size_t size = 0, used = 0;
    uint8_t *bytes = NULL;
    bool foreign = false;
    while (in && !ferror(in) && !feof(in) && !foreign) {
        if (used == size) {
            size = size ? 2 * size : 1 << 20;
            uint8_t *more = realloc(bytes, size);
            if (!more) {
                errno = ENOMEM;
                break;
            }
            bytes = more;
        }
        used += fread(bytes + used, 1, size - used, in);
        // A file of others may have no end. trace_file_read refuses it.
        foreign = used >= sizeof RF_MAGIC && memcmp(bytes, RF_MAGIC, sizeof RF_MAGIC);
    }
    const bool complete = in && (feof(in) || foreign);
    const int error = errno;
    if (in)
        fclose(in);
    if (!complete) {
        fprintf(stderr, "cardless: cannot read %s: %s\n", path, strerror(error));
        free(bytes);
        return false;
    }
    if (trace_file_read(f, bytes, used, path))
        return true;
    trace_file_close(f);
    return false;
}

void trace_file_close(struct trace_file *f)
{
    free(f->blocks);
    free(f->bytes);
    *f = (struct trace_file){.bytes = NULL};
}

uint64_t trace_file_ns(const struct trace_file *f, uint64_t ticks)
{
    const struct rf_header *h = &f->header;
    const uint64_t from = h->ticks[0];
    if (ticks < from)
        return 0;
    const uint64_t clock = h->ticks[1] - from, ns = h->ns[1] - h->ns[0];
    const double rate = clock && ns ? (double)ns / (double)clock : 1.0;
    const double result = (double)(ticks - from) * rate;
    return result < 1e18 ? (uint64_t)result : (uint64_t)1e18;
}

// ---- records

static bool has_time(unsigned kind)
{
    switch (kind) {
    case RF_CALL:
    case RF_RETURN:
    case RF_SUBMIT:
    case RF_START:
    case RF_END:
    case RF_OBJECT:
    case RF_OBJECT_END:
    case RF_MEMORY:
    case RF_MEMORY_END:
    case RF_EDGE:
    case RF_DIAGNOSTIC:
    case RF_ARRAY:
        return true;
    default:
        return false;
    }
}

uint64_t trace_field(struct trace_record *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
        const uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

size_t trace_text(struct trace_record *r, const char **text)
{
    uint64_t size = trace_field(r);
    const uint64_t left = (uint64_t)(r->end - r->at);
    size = size < left ? size : left;
    *text = (const char *)r->at;
    r->at += size;
    return (size_t)size;
}

char *trace_copy_text(struct trace_record *r)
{
    const char *text;
    const size_t size = trace_text(r, &text);
    char *copy = malloc(size + 1);
    for (size_t i = 0; copy && i < size; i++)
        copy[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
    if (copy)
        copy[size] = 0;
    return copy;
}

bool trace_next(const struct trace_block *b, size_t *position, uint64_t *ticks,
                struct trace_record *r)
{
    enum { HEAD_B = 4 };
    uint16_t size;
    if (b->size_B < HEAD_B || *position > b->size_B - HEAD_B)
        return false;
    const uint8_t *at = b->records + *position;
    memcpy(&size, at, sizeof size);
    if (size < HEAD_B || size > b->size_B - *position)
        return false;
    *position += size;
    *r = (struct trace_record){(enum rf_kind)at[2], at[3], *ticks, at + HEAD_B, at + size};
    if (has_time(at[2])) {
        const uint64_t past = trace_field(r);
        *ticks += past >> 1 ^ (0 - (past & 1));
        r->ticks = *ticks;
    }
    return true;
}

void *trace_append(void **list, size_t *count, size_t *capacity, size_t size)
{
    if (*count == *capacity) {
        const size_t more = *capacity ? 2 * *capacity : 64;
        void *bigger = realloc(*list, more * size);
        if (!bigger)
            return NULL;
        *list = bigger;
        *capacity = more;
    }
    return (char *)*list + size * (*count)++;
}
