// SPDX-License-Identifier: MIT
// Compares the bytes that copies have written to the program's memory, by the recordings of both
// runs.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

// A call of the replay.
struct key {
    uint32_t thread, number, call;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static const struct key *find(const struct key *keys, size_t count, const struct replay_call *call)
{
    const struct key wanted = {call->thread, call->number, 0};
    return count ? bsearch(&wanted, keys, count, sizeof *keys, compare_keys) : NULL;
}

static int compare_places(const void *a, const void *b)
{
    const struct trace_bytes *const *x = a, *const *y = b;
    return (*x)->address < (*y)->address ? -1 : (*x)->address > (*y)->address;
}

// The writes of a call, by address, as a list from malloc. Returns NULL if memory is exhausted.
static const struct trace_bytes **writes_of(const struct trace_contents *c, uint32_t call,
                                            size_t *count)
{
    const struct trace_bytes *bytes;
    const size_t all = trace_bytes_of(c, call, &bytes);
    const struct trace_bytes **list = malloc((all + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < all; i++)
        if (bytes[i].role == RF_WRITES)
            list[(*count)++] = &bytes[i];
    if (*count)
        qsort(list, *count, sizeof *list, compare_places);
    return list;
}

static bool differ(const struct trace_bytes *old, const struct trace_bytes *now, char *text)
{
    uint64_t at = 0;
    if (old->size_B == now->size_B && old->hash == now->hash)
        return false;
    while (old->kept && now->kept && at < old->size_B && at < now->size_B &&
           old->kept[at] == now->kept[at])
        at++;
    if (old->kept && now->kept && at < old->size_B && at < now->size_B)
        snprintf(text, REPLAY_TEXT_B,
                 "the copy of %" PRIu64 " bytes to 0x%" PRIx64 " wrote %#x at byte %" PRIu64
                 ", and now writes %#x",
                 old->size_B, old->address, old->kept[at], at, now->kept[at]);
    else
        snprintf(text, REPLAY_TEXT_B,
                 "the copy of %" PRIu64 " bytes to 0x%" PRIx64
                 " wrote bytes with the hash %#" PRIx64 ", and now writes %" PRIu64
                 " bytes with the hash %#" PRIx64,
                 old->size_B, old->address, old->hash, now->size_B, now->hash);
    return true;
}

enum comparison { SAME, DIFFER, NO_MEMORY };

static enum comparison compare_call(const struct trace_contents *old, uint32_t call,
                                    const struct trace_contents *now, uint32_t other,
                                    size_t *compared, char *text)
{
    size_t count, others;
    const struct trace_bytes **a = writes_of(old, call, &count),
                             **b = writes_of(now, other, &others);
    enum comparison result = a && b ? SAME : NO_MEMORY;
    if (result == SAME && count != others) {
        snprintf(text, REPLAY_TEXT_B, "%zu copies wrote to the program's memory, and now %zu do",
                 count, others);
        result = DIFFER;
    }
    for (size_t i = 0; result == SAME && i < count; i++)
        if (differ(a[i], b[i], text))
            result = DIFFER;
    *compared += count;
    free(a);
    free(b);
    return result;
}

static struct key *list_calls(const struct trace_model *m)
{
    struct key *keys = malloc((m->call_count + 1) * sizeof *keys);
    for (uint32_t i = 0; keys && i < m->call_count; i++)
        keys[i] = (struct key){(uint32_t)m->threads[m->calls[i].thread].system,
                               (uint32_t)m->calls[i].number, i};
    if (keys && m->call_count)
        qsort(keys, m->call_count, sizeof *keys, compare_keys);
    return keys;
}

// Returns whether the recording of the replay has all calls that were made.
static bool compare_calls(const struct trace_model *model, const struct trace_contents *contents,
                          const struct trace_model *now, const struct trace_contents *now_contents,
                          const struct replay_shared *shared, struct replay_writes *out)
{
    struct key *keys = list_calls(now);
    bool complete = keys != NULL;
    for (uint32_t i = 0; complete && i < model->call_count; i++) {
        const struct replay_call *c = &shared->calls[i];
        char text[REPLAY_TEXT_B];
        if (c->state != REPLAY_SAME && c->state != REPLAY_DIFFERS)
            continue;
        const struct key *k = find(keys, now->call_count, c);
        const enum comparison result =
            k ? compare_call(contents, i, now_contents, k->call, &out->compared, text) : NO_MEMORY;
        complete = result != NO_MEMORY;
        if (result == DIFFER && !out->differ++) {
            out->first = i;
            memcpy(out->text, text, sizeof text);
        }
    }
    free(keys);
    return complete;
}

bool replay_compare_writes(const struct trace_model *model, const struct trace_contents *contents,
                           const char *path, const struct replay_shared *shared,
                           struct replay_writes *out)
{
    struct trace_model now;
    struct trace_contents now_contents;
    *out = (struct replay_writes){.compared = 0};
    if (!trace_open(&now, path))
        return false;
    bool complete =
        !now.file.header.failed && !now.file.lost && trace_contents_read(&now, &now_contents);
    if (complete) {
        complete = compare_calls(model, contents, &now, &now_contents, shared, out);
        trace_contents_free(&now_contents);
    }
    if (!complete)
        fprintf(stderr, "cardless: the replay's own recording lacks calls, so the bytes that "
                        "copies wrote were not all compared; is the disk of /tmp full?\n");
    trace_close(&now);
    return complete;
}
