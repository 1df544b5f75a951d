// SPDX-License-Identifier: MIT
// Describes deadlocks: which threads wait, for which barrier, and who is missing there.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "block_fill.h"
#include "cluster.h"
#include "fault.h"
#include "kn_mbarrier.h"
#include "lanes/lanes.inc.h"
#include "stall.h"

enum { WAITS_MOST = 4 };

// Threads that wait for the same thing.
struct wait {
    const struct kn_op *test; // of a barrier in memory; NULL: a loop that tests something else
    unsigned line;
    uint64_t address; // of that barrier, in the shared memory of the cluster
    const struct px_block *block;
    uint32_t threads;
};

struct waits {
    struct wait list[WAITS_MOST];
    uint32_t count;
};

struct text {
    char *bytes;
    size_t used, size_B;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(t->bytes + t->used, t->size_B - t->used, format, list);
    va_end(list);
    t->used += (size_t)n;
    if (t->used >= t->size_B)
        t->used = t->size_B - 1;
}

static bool is_test(const struct kn_op *op)
{
    static const char *const names[] = {"mbarrier.test_wait", "mbarrier.test_wait.parity"};
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (op->run[1] == forms[kn_form_find(names[i])].run[1])
            return true;
    return false;
}

// The test that the loop at `at` repeats, or NULL.
static const struct kn_op *find_test(const struct px_decoded *decoded, const struct kn_op *at)
{
    const struct kn_op *end = decoded->ops + decoded->op_count;
    for (const struct kn_op *op = at; op < end; op++) {
        if (is_test(op))
            return op;
        const bool jumps = op->run[0] == px_op_jump || op->run[0] == px_op_branch;
        if (jumps && op->to <= at)
            return NULL;
    }
    return NULL;
}

static void note(struct waits *w, struct wait wait)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct wait *old = &w->list[i];
        if (old->test != wait.test || old->line != wait.line || old->address != wait.address ||
            old->block != wait.block)
            continue;
        old->threads += wait.threads;
        return;
    }
    if (w->count < WAITS_MOST)
        w->list[w->count++] = wait;
}

static void note_fragment(struct waits *waits, const struct px_warp *warp,
                          const struct px_fragment *f)
{
    const struct px_block *block = warp->block;
    const struct kn_warp *w = &warp->w;
    struct wait wait = {.line = f->at->line, .block = block, .threads = 1};
    if (f->state != PX_READY && f->state != PX_AT_PHASE)
        return;
    wait.test = find_test(block->decoded, f->at);
    for (uint32_t rest = f->lanes; rest; rest &= rest - 1) {
        if (wait.test) {
            wait.line = wait.test->line;
            wait.address = KN_REGISTER(uint64_t, wait.test->a)[__builtin_ctz(rest)] + wait.test->u;
        }
        note(waits, wait);
    }
}

// Reads the object for which threads wait. `offset` gets its place in the shared memory of its
// block. Returns false if the address is not in shared memory: the register may have another value
// after the test.
static bool read_object(const struct wait *wait, uint64_t *object, uint64_t *offset)
{
    const struct px_block *block = wait->block;
    const struct px_cluster *cluster = block->cluster;
    const uint64_t at = wait->address - block->memory.shared_window;
    const uint64_t size_B = px_shared_size(block->grid);
    const bool ranks = cluster->count > 1;
    *offset = ranks ? at % PX_RANK_B : at;
    if (!wait->test || (ranks && at / PX_RANK_B >= cluster->count) || *offset > size_B ||
        size_B - *offset < sizeof *object)
        return false;
    memcpy(object, block->memory.shared + at, sizeof *object);
    return true;
}

static void add_wait(struct text *t, const struct wait *wait)
{
    uint64_t object, offset;
    char name[160];
    add(t, "; at line %u %u thread%s ", wait->line, wait->threads, wait->threads == 1 ? "" : "s");
    if (!read_object(wait, &object, &offset)) {
        add(t, "repeat%s a test whose result nobody can change", wait->threads == 1 ? "s" : "");
        return;
    }
    px_shared_text(wait->block->grid->program, offset, name, sizeof name);
    const unsigned pending = (unsigned)kn_mbarrier_pending(object);
    add(t, "wait%s for phase %u of the mbarrier at %s, which lacks", wait->threads == 1 ? "s" : "",
        !!(object & KN_MBARRIER_PHASE), name);
    if (pending)
        add(t, " %u of %u arrivals", pending, (unsigned)kn_mbarrier_expected(object));
    if (kn_mbarrier_bytes(object))
        add(t, "%s %lld bytes", pending ? " and" : "", (long long)kn_mbarrier_bytes(object));
}

static uint32_t warps_of(const struct px_block *block)
{
    return block->running ? block->single ? 1 : block->warp_count : 0;
}

void px_stall_fail(struct px_block *const *blocks, uint32_t count)
{
    char bytes[400];
    struct text t = {.bytes = bytes, .size_B = sizeof bytes};
    struct waits waits = {.count = 0};
    struct px_warp *first = NULL;
    bytes[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < warps_of(blocks[i]); k++) {
            struct px_warp *warp = &blocks[i]->warps[k];
            if (!first && warp->count)
                first = warp;
            for (uint32_t n = 0; n < warp->count; n++)
                note_fragment(&waits, warp, &warp->fragments[n]);
        }
        px_barriers_text(blocks[i], bytes + t.used, sizeof bytes - t.used);
        t.used += strlen(bytes + t.used);
    }
    px_cluster_text(blocks[0]->cluster, bytes + t.used, sizeof bytes - t.used);
    t.used += strlen(bytes + t.used);
    for (uint32_t i = 0; i < waits.count; i++)
        add_wait(&t, &waits.list[i]);
    if (!first)
        first = blocks[0]->warps;
    const struct px_fragment *f = &first->fragments[0];
    px_fail(first, PX_FAILED_DEADLOCK, f->lanes, f->at, "the threads wait for each other%s", bytes);
}
