// SPDX-License-Identifier: MIT
// Recordings that the fuzz target `trace` writes itself.
#include "trace_written.h"

enum { RECORD_MOST_B = 512, HEAD_B = 4, NO_SITE = RF_SITES, DEFINITIONS = 0, LAYOUT_B = 40 };

// ---- fields ----

struct record {
    uint8_t bytes[RECORD_MOST_B];
    size_t size_B;
};

static void put(struct record *r, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        r->bytes[r->size_B++] = (uint8_t)(value | 0x80);
    r->bytes[r->size_B++] = (uint8_t)value;
}

static void put_signed(struct record *r, uint64_t value)
{
    put(r, value << 1 ^ (0 - (value >> 63)));
}

static void put_text(struct record *r, const char *text)
{
    const size_t size_B = strlen(text);
    put(r, size_B);
    memcpy(r->bytes + r->size_B, text, size_B);
    r->size_B += size_B;
}

static struct record begin(enum rf_kind kind, unsigned flags)
{
    return (struct record){.bytes = {0, 0, (uint8_t)kind, (uint8_t)flags}, .size_B = HEAD_B};
}

static void end(struct written_block *b, struct record *r)
{
    const uint16_t size_B = (uint16_t)r->size_B;
    memcpy(r->bytes, &size_B, sizeof size_B);
    FUZZ_CHECK(b->used_B + size_B <= sizeof b->records, "a full block");
    memcpy(b->records + b->used_B, r->bytes, size_B);
    b->used_B += size_B;
}

// "Skip … fields after the last one that it knows."
static void put_more(struct fuzz_input *in, struct record *r)
{
    for (unsigned n = fuzz_chance(in, 4) ? fuzz_below(in, 4) : 0; n; n--)
        put(r, fuzz_take(in, 2));
}

// ---- blocks ----

static unsigned new_block(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_block *b = &w->blocks[w->block_count];
    *b = (struct written_block){.thread = thread, .kind = RF_WINDOW};
    b->ticks = b->last = w->time - (w->time > 5 ? fuzz_below(in, 5) : 0);
    return w->block_count++;
}

// A thread's window is full: it becomes a chunk.
static void next_block(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_thread *t = &w->threads[thread];
    struct written_block *last = &w->blocks[t->block];
    if (w->block_count == WRITTEN_BLOCKS)
        return;
    last->kind = RF_CHUNK;
    t->block = new_block(in, w, thread);
    w->blocks[t->block].sequence = last->sequence + 1;
}

// Entry points and names. Their block is at the start of the file.
static void define(struct fuzz_input *in, struct written *w)
{
    struct written_block *b = &w->blocks[DEFINITIONS];
    char name[16];
    for (unsigned id = 1; id <= WRITTEN_ENTRIES; id++) {
        struct record r = begin(RF_ENTRY, 0);
        snprintf(name, sizeof name, "cuEntry%u", id);
        put(&r, id);
        put(&r, 0);
        put(&r, 0);
        put_text(&r, name);
        put(&r, 0);
        put_more(in, &r);
        end(b, &r);
    }
    for (unsigned id = 1; id <= WRITTEN_NAMES; id++) {
        struct record r = begin(RF_NAME, 0);
        snprintf(name, sizeof name, "name %u", id);
        put(&r, id);
        put_text(&r, name);
        end(b, &r);
    }
}

// ---- records ----

static struct written_event *add_event(struct written *w, unsigned thread, enum rf_kind kind)
{
    struct written_event *e = &w->events[w->event_count++];
    *e = (struct written_event){.kind = kind, .thread = thread, .time = w->time};
    return e;
}

static void put_time(struct record *r, struct written_block *b, uint64_t time)
{
    put_signed(r, time - b->last);
    b->last = time;
}

static void finish(struct written *w, struct written_event *e, struct record *r)
{
    struct written_block *b = &w->blocks[w->threads[e->thread].block];
    end(b, r);
    e->block = (unsigned)(b - w->blocks);
    e->end_B = b->used_B;
}

// The arguments: all of them, or those that differ from those of the site's last call.
static unsigned any_arguments(struct fuzz_input *in, struct written_block *b,
                              struct written_call *c, unsigned *site, uint64_t *differ)
{
    *site = fuzz_below(in, 6);
    struct written_site *s = *site < WRITTEN_SITES ? &b->sites[*site] : NULL;
    const bool repeats = s && s->known && fuzz_below(in, 2);
    *differ = repeats ? fuzz_below(in, 1u << WRITTEN_ARGUMENTS) : (1u << WRITTEN_ARGUMENTS) - 1;
    c->entry = repeats ? s->entry : fuzz_below(in, WRITTEN_ENTRIES + 1);
    c->count = repeats ? s->count : fuzz_below(in, WRITTEN_ARGUMENTS + 1);
    *differ &= (1u << c->count) - 1;
    for (unsigned i = 0; i < c->count; i++)
        c->arguments[i] =
            *differ >> i & 1 ? fuzz_take(in, fuzz_chance(in, 4) ? 8 : 1) : s->arguments[i];
    if (s && !repeats) {
        *s = (struct written_site){.known = true, .entry = c->entry, .count = c->count};
        memcpy(s->arguments, c->arguments, sizeof s->arguments);
    }
    return repeats ? RF_CALL_REPEATS : 0;
}

static void add_call(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_thread *t = &w->threads[thread];
    struct written_event *e = add_event(w, thread, RF_CALL);
    struct written_block *b = &w->blocks[t->block];
    struct written_call *c = &e->call;
    unsigned site, flags;
    uint64_t differ;
    e->nested = t->depth && t->depth < WRITTEN_OPEN && !fuzz_chance(in, 8);
    e->returned = fuzz_below(in, 2);
    *c = (struct written_call){.thread = thread + 1, .start = w->time, .end = TRACE_NEVER};
    c->of_library = fuzz_chance(in, 5);
    flags = any_arguments(in, b, c, &site, &differ);
    const bool repeats = flags;
    flags |= (e->nested ? RF_CALL_NESTED : 0) | (e->returned ? RF_CALL_RETURNED : 0) |
             (c->of_library ? RF_CALL_OF_LIBRARY : 0);
    struct record r = begin(RF_CALL, flags);
    put_time(&r, b, w->time);
    if (!c->of_library) {
        c->number = t->number += 1 + (fuzz_chance(in, 8) ? fuzz_below(in, 100) : 0);
        put_signed(&r, c->number - b->number);
        b->number = c->number;
    }
    put(&r, site < WRITTEN_SITES ? site : NO_SITE + site);
    if (repeats) {
        put(&r, differ);
    } else {
        put(&r, c->entry);
        put(&r, 0);
        put(&r, 0);
        put(&r, c->count);
    }
    for (unsigned i = 0; i < c->count; i++) {
        if (differ >> i & 1)
            put(&r, c->arguments[i]);
    }
    if (e->returned) {
        c->end = c->start + fuzz_below(in, 9);
        put(&r, c->end - c->start);
        put_more(in, &r);
    }
    if (!e->nested)
        t->depth = 0;
    if (!e->returned)
        t->sites[t->depth] = site;
    if (!e->returned)
        t->open[t->depth++] = c->number;
    finish(w, e, &r);
}

// The innermost call returns, or one outside of it: then those inside of it never do.
static void add_return(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_thread *t = &w->threads[thread];
    if (!t->depth)
        return;
    unsigned at = fuzz_chance(in, 6) ? fuzz_below(in, t->depth) : t->depth - 1;
    struct written_event *e = add_event(w, thread, RF_RETURN);
    e->of_library = !t->open[at];
    for (unsigned i = at; e->of_library && i < t->depth; i++) // the innermost one of a library
        at = t->open[i] ? at : i;
    e->number = t->open[at];
    e->result = (int32_t)fuzz_below(in, 3);
    struct record r = begin(RF_RETURN, e->of_library ? RF_RETURN_OF_LIBRARY : 0);
    put_time(&r, &w->blocks[t->block], w->time);
    if (!e->of_library)
        put_signed(&r, e->number - w->blocks[t->block].number);
    put(&r, (uint64_t)e->result);
    t->depth = at;
    finish(w, e, &r);
}

static struct written_submission any_submission(struct fuzz_input *in)
{
    struct written_submission s = {.known = true};
    s.stream = 1 + fuzz_below(in, 2);
    s.name = 1 + fuzz_below(in, WRITTEN_NAMES);
    s.accesses = fuzz_below(in, WRITTEN_ACCESSES + 1);
    for (unsigned i = 0; i < s.accesses; i++) {
        s.access[i][0] = fuzz_below(in, 2);
        s.access[i][1] = fuzz_take(in, 4);
        s.access[i][2] = fuzz_take(in, 2);
    }
    return s;
}

static void add_command(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_thread *t = &w->threads[thread];
    struct written_block *b = &w->blocks[t->block];
    struct written_event *e = add_event(w, thread, RF_SUBMIT);
    e->ended = fuzz_below(in, 2);
    e->returns = e->ended && t->depth && fuzz_below(in, 2);
    const unsigned site = t->depth ? t->sites[t->depth - 1] : WRITTEN_SITES;
    struct written_submission *last = site < WRITTEN_SITES ? &b->submitted[site] : NULL;
    const bool repeats = last && last->known && fuzz_below(in, 2);
    const struct written_submission s = e->submission = repeats ? *last : any_submission(in);
    if (last)
        *last = s;
    const unsigned flags = RF_SUBMIT_OF_CALL | (e->ended ? RF_SUBMIT_ENDED : 0) |
                           (e->returns ? RF_SUBMIT_RETURNS : 0) | (repeats ? RF_SUBMIT_REPEATS : 0);
    struct record r = begin(RF_SUBMIT, flags);
    put_time(&r, b, w->time);
    // Numbers of commands are those of the process.
    e->number = t->command += WRITTEN_THREADS;
    put_signed(&r, e->number - b->command);
    b->command = e->number;
    if (!repeats) {
        put(&r, s.stream);
        put(&r, s.name);
        put(&r, s.accesses);
        for (unsigned i = 0; i < 3 * s.accesses; i++)
            put(&r, s.access[i / 3][i % 3]);
        put(&r, 0);
    }
    e->until = w->time;
    if (e->ended) {
        e->until = w->time + fuzz_below(in, 9);
        put(&r, e->until - w->time);
    }
    put_more(in, &r);
    if (e->returns)
        t->depth--;
    finish(w, e, &r);
}

static void add_end(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_thread *t = &w->threads[thread];
    struct written_event *e = add_event(w, thread, RF_END);
    e->returns = t->depth && fuzz_chance(in, 3);
    struct record r = begin(RF_END, e->returns ? RF_END_RETURNS : 0);
    e->number = t->command; // which may have ended, or not have been submitted
    e->result = (int32_t)fuzz_below(in, 2);
    put_time(&r, &w->blocks[t->block], w->time);
    put(&r, e->number);
    put(&r, (uint64_t)e->result);
    put_more(in, &r);
    t->depth -= e->returns;
    finish(w, e, &r);
}

static void add_object(struct fuzz_input *in, struct written *w, unsigned thread, bool died)
{
    struct written_event *e = add_event(w, thread, died ? RF_OBJECT_END : RF_OBJECT);
    struct record r = begin(e->kind, 0);
    e->number = died ? w->object : ++w->object;
    put_time(&r, &w->blocks[w->threads[thread].block], w->time);
    put(&r, e->number << 20);
    if (!died) {
        put(&r, 1 + fuzz_below(in, WRITTEN_NAMES));
        put(&r, e->number);
        put(&r, 0);
    }
    put_more(in, &r);
    finish(w, e, &r);
}

static void add_diagnostic(struct fuzz_input *in, struct written *w, unsigned thread)
{
    struct written_event *e = add_event(w, thread, RF_DIAGNOSTIC);
    struct record r = begin(RF_DIAGNOSTIC, 0);
    e->result = (int32_t)fuzz_below(in, 3);
    put_time(&r, &w->blocks[w->threads[thread].block], w->time);
    put(&r, 0);
    put(&r, (uint64_t)e->result);
    put_text(&r, "id");
    put_text(&r, "a sentence");
    put_more(in, &r);
    finish(w, e, &r);
}

// "A reader should skip records of a kind that it does not know", and padding.
static void add_unknown(struct fuzz_input *in, struct written *w, unsigned thread)
{
    const unsigned kind = fuzz_below(in, 2) ? RF_PAD : RF_KINDS + fuzz_below(in, 256 - RF_KINDS);
    struct record r = begin((enum rf_kind)kind, (unsigned)fuzz_take(in, 1));
    for (unsigned n = fuzz_below(in, 20); n; n--)
        r.bytes[r.size_B++] = (uint8_t)fuzz_take(in, 1);
    end(&w->blocks[w->threads[thread].block], &r);
}

static void add(struct fuzz_input *in, struct written *w)
{
    const unsigned thread = fuzz_below(in, WRITTEN_THREADS);
    w->time += 1 + (fuzz_chance(in, 8) ? fuzz_below(in, 1000) : 0);
    switch (fuzz_below(in, 12)) {
    case 0:
    case 1:
    case 2:
        add_call(in, w, thread);
        break;
    case 3:
    case 4:
        add_return(in, w, thread);
        break;
    case 5:
        add_command(in, w, thread);
        break;
    case 6:
        add_end(in, w, thread);
        break;
    case 7:
    case 8:
        add_object(in, w, thread, fuzz_below(in, 2));
        break;
    case 9:
        add_diagnostic(in, w, thread);
        break;
    case 10:
        add_unknown(in, w, thread);
        break;
    default:
        if (fuzz_chance(in, 3))
            next_block(in, w, thread);
    }
}

// ---- the file ----

static void put_block(uint8_t *file, size_t at, struct written_block *b)
{
    const struct rf_block head = {.magic = RF_BLOCK_MAGIC,
                                  .kind = b->kind,
                                  .thread = b->thread + 1,
                                  .sequence = b->sequence,
                                  .ticks = b->ticks,
                                  .used_B = (uint32_t)b->used_B};
    memcpy(file + at, &head, sizeof head);
    memcpy(file + at + sizeof head, b->records, b->used_B);
    b->at = at;
}

// "If a chunk and a window of a thread have the same number, the process ended while the thread
// copied its window, and the window counts for nothing."
static size_t put_copied_window(struct fuzz_input *in, struct written *w, uint8_t *file, size_t at)
{
    struct written_block copy = w->blocks[fuzz_below(in, w->block_count)];
    if (copy.kind != RF_CHUNK)
        return at;
    copy.kind = RF_WINDOW;
    for (unsigned i = 0; i < 8 && copy.used_B; i++)
        copy.records[fuzz_below(in, (unsigned)copy.used_B)] = (uint8_t)fuzz_take(in, 1);
    put_block(file, at, &copy);
    return at + RF_BLOCK_B;
}

// Blocks are in the file in any order, and free ones may be between them. The file may end early,
// but not in the first block of records.
static void put_file(struct fuzz_input *in, struct written *w, uint8_t *file)
{
    size_t at = RF_BLOCK_B, least;
    bool there[WRITTEN_BLOCKS] = {false};
    for (unsigned i = 0; i < w->block_count; i++) {
        unsigned next = i ? fuzz_below(in, w->block_count) : DEFINITIONS;
        while (there[next])
            next = (next + 1) % w->block_count;
        there[next] = true;
        put_block(file, at, &w->blocks[next]);
        at += RF_BLOCK_B * (fuzz_chance(in, 8) && at < RF_BLOCK_B * WRITTEN_BLOCKS ? 2 : 1);
    }
    if (fuzz_chance(in, 4))
        at = put_copied_window(in, w, file, at);
    const struct rf_header header = {.magic = RF_MAGIC,
                                     .version = RF_VERSION,
                                     .header_B = sizeof header,
                                     .block_B = RF_BLOCK_B,
                                     .ticks = {0, 1000},
                                     .ns = {0, 1000},
                                     .blocks = at / RF_BLOCK_B - 1};
    memcpy(file, &header, sizeof header);
    w->size_B = at;
    w->is_whole = true;
    if (!fuzz_chance(in, 3))
        return;
    least = 2 * RF_BLOCK_B;
    w->size_B -= fuzz_below(in, 2) ? RF_BLOCK_B * fuzz_below(in, 4) : fuzz_take(in, 3);
    if (w->size_B < least || w->size_B > at)
        w->size_B = least;
    w->is_whole = w->size_B == at;
    for (unsigned i = 0; i < w->block_count; i++)
        w->is_cut |= w->blocks[i].at + sizeof(struct rf_block) + w->blocks[i].used_B > w->size_B;
}

void written_make(struct fuzz_input *in, struct written *w, uint8_t file[WRITTEN_FILE_B])
{
    // The first numbers are for the file, the others for its records.
    struct fuzz_input layout = *in;
    if (in->end - in->at > LAYOUT_B)
        layout.end = in->at + LAYOUT_B;
    in->at = layout.end;
    memset(w, 0, sizeof *w);
    w->time = 1;
    for (unsigned i = 0; i < WRITTEN_THREADS; i++) {
        w->threads[i].block = new_block(in, w, i);
        w->threads[i].command = 1 + i;
    }
    define(in, w);
    while (fuzz_more(in) && w->event_count < WRITTEN_EVENTS && w->time < UINT32_MAX)
        add(in, w);
    put_file(&layout, w, file);
}
