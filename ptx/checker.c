// SPDX-License-Identifier: MIT
// The checker of a block: its life, its operations, and the checks of global memory.
#include "checker.h"

#include <string.h>

#include "access_form.h"
#include "alloc.h"
#include "block_fill.h"
#include "cluster.h"
#include "fault.h"
#include "lanes/lanes.inc.h"
#include "race.h"

struct px_checker *px_checker_new(struct px_block *block)
{
    const struct px_checks *checks = block->grid->host->checks;
    const uint32_t shared_B = px_shared_size(block->grid);
    const uint32_t written_B = checks->memory ? (shared_B + 7) / 8 : 0;
    struct px_checker *c = dm_calloc(1, sizeof *c + written_B);
    if (!c)
        return NULL;
    c->checks = checks;
    c->block = block;
    c->written = checks->memory ? (uint8_t *)(c + 1) : NULL;
    c->written_B = written_B;
    if (!checks->race || !shared_B)
        return c;
    c->race = px_race_new(shared_B, block->cluster->clocks, block->rank);
    if (c->race)
        return c;
    dm_free(c);
    return NULL;
}

void px_checker_free(struct px_checker *checker)
{
    if (checker)
        dm_free(checker->race);
    dm_free(checker);
}

void px_checker_start(struct px_checker *checker)
{
    if (checker->written)
        memset(checker->written, 0, checker->written_B);
    if (checker->race)
        px_race_start(checker->race);
}

// ---- findings ----

void px_party_set(struct px_party *party, const struct px_block *block, uint32_t thread,
                  unsigned line, bool write, bool atomic)
{
    const uint32_t *size = block->grid->threads;
    *party = (struct px_party){
        .line = line,
        .block = {block->number[0], block->number[1], block->number[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]},
        .write = write,
        .atomic = atomic,
    };
}

void px_checker_say(struct px_checker *checker, struct px_finding *f)
{
    const struct px_block *block = checker->block;
    for (uint32_t i = 0; i < PX_SAID && i < checker->said_count; i++)
        if (px_finding_same(checker->said[i].kind, checker->said[i].lines, f))
            return;
    const uint32_t at = checker->said_count++ % PX_SAID;
    checker->said[at].kind = f->kind;
    checker->said[at].lines[0] = f->by.line;
    checker->said[at].lines[1] = f->older.line;
    memcpy(f->block, block->number, sizeof f->block);
    checker->checks->found(checker->checks->context, f);
}

// ---- global memory ----

// The bits of the access's bytes in a map of written bytes. Workers may write bits of one byte at
// the same time.
static bool bits_all_set(const uint8_t *map, uint64_t first, uint32_t size_B)
{
    for (uint64_t at = first; at < first + size_B; at++)
        if (!(__atomic_load_n(&map[at / 8], __ATOMIC_RELAXED) >> at % 8 & 1))
            return false;
    return true;
}

static void bits_set(uint8_t *map, uint64_t first, uint32_t size_B)
{
    for (uint64_t at = first, end = first + size_B; at < end;) {
        uint64_t next = (at / 8 + 1) * 8 < end ? (at / 8 + 1) * 8 : end;
        const uint8_t bits = (uint8_t)((UINT32_C(1) << (next - at)) - 1) << at % 8;
        if ((__atomic_load_n(&map[at / 8], __ATOMIC_RELAXED) & bits) != bits)
            __atomic_fetch_or(&map[at / 8], bits, __ATOMIC_RELAXED);
        at = next;
    }
}

static bool holds(const struct px_range *r, uint64_t address, uint32_t size_B)
{
    return address >= r->first && address < r->end && size_B <= r->end - address;
}

// The memory of an access. The range that was used last comes first.
static const struct px_range *range_find(struct px_checker *c, uint64_t address, uint32_t size_B)
{
    const uint32_t count = c->range_count < PX_RANGES ? c->range_count : PX_RANGES;
    struct px_range found;
    for (uint32_t i = 0; i < count; i++)
        if (holds(&c->ranges[i], address, size_B)) {
            found = c->ranges[i];
            c->ranges[i] = c->ranges[0];
            c->ranges[0] = found;
            return c->ranges;
        }
    if (!c->checks->find(c->checks->context, address, size_B, &found))
        return NULL;
    c->ranges[c->range_count++ % PX_RANGES] = c->ranges[0];
    c->ranges[0] = found;
    return c->ranges;
}

bool px_check_global(struct px_checker *checker, const struct px_warp *warp,
                     const struct px_access *access, int lane, uint64_t address)
{
    const struct kn_memory *m = &checker->block->memory;
    const uint64_t parameter = address - (uintptr_t)m->parameters;
    if (parameter < m->parameters_B) // cvta.param
        return true;
    const struct px_range *r = range_find(checker, address, access->size_B);
    if (!r)
        return false;
    if (!r->written)
        return true;
    if (access->read && !bits_all_set(r->written, address - r->first, access->size_B)) {
        struct px_finding f = {
            .kind = PX_FOUND_UNWRITTEN, .address = address, .size_B = access->size_B};
        px_party_set(&f.by, checker->block, warp->index * KN_LANES + (uint32_t)lane,
                     access->op->line, access->write, access->write);
        px_checker_say(checker, &f);
    }
    if (access->write)
        bits_set(r->written, address - r->first, access->size_B);
    return true;
}

// ---- shared memory ----

void px_check_shared(struct px_checker *checker, const struct px_warp *warp,
                     const struct px_access *access, int lane, uint32_t offset)
{
    if (checker->race)
        px_race_access(checker, warp, access, lane, offset);
    if (!checker->written)
        return;
    if (access->read && !bits_all_set(checker->written, offset, access->size_B)) {
        struct px_finding f = {
            .kind = PX_FOUND_UNWRITTEN_SHARED, .address = offset, .size_B = access->size_B};
        px_party_set(&f.by, checker->block, warp->index * KN_LANES + (uint32_t)lane,
                     access->op->line, access->write, access->write);
        px_checker_say(checker, &f);
    }
    if (access->write)
        bits_set(checker->written, offset, access->size_B);
}

// ---- operations ----

// Local memory ends with the kernel's variables; the space after them, up to the size of a slot, is
// nobody's. Functions with frames use more.
static bool is_outside_local(const struct px_block *block, uint64_t offset, uint32_t size_B)
{
    const struct px_program *program = block->grid->program;
    return !program->has_stack && offset + size_B > program->local_B;
}

static void fail(struct px_warp *warp, const struct px_access *access, int lane, uint64_t address,
                 bool local)
{
    px_fail(warp, local ? PX_FAILED_LOCAL : PX_FAILED_ADDRESS, UINT32_C(1) << lane, access->op,
            "%u-byte %s at 0x%llx, %s", access->size_B, access->write ? "write" : "read",
            (unsigned long long)address,
            local ? "outside the local memory of the thread"
                  : "which is not wholly inside an allocation");
    struct px_failure *f = &warp->block->grid->failure;
    f->address = address;
    f->size_B = access->size_B;
    f->write = access->write;
}

// A generic address as one in the space that it is in.
static uint64_t generic_place(const struct kn_memory *m, uint64_t x, enum px_access_space *space)
{
    if (x - m->device_first < m->device_end - m->device_first)
        return x;
    if (x >> 32 == m->shared_window >> 32)
        *space = PX_ACCESS_SHARED;
    else if (x >> 32 == m->local_window >> 32)
        *space = PX_ACCESS_LOCAL;
    return *space == PX_ACCESS_GENERIC ? x : x & UINT32_MAX;
}

// The address of one lane, and the space that it is in.
static uint64_t place_of(const struct px_warp *warp, const struct px_access *access, int lane,
                         enum px_access_space *space)
{
    const struct kn_warp *w = &warp->w;
    if (*space != PX_ACCESS_GENERIC)
        return KN_REGISTER(uint32_t, access->op->a)[lane] + (uint32_t)access->op->i;
    return generic_place(w->memory, KN_REGISTER(uint64_t, access->op->a)[lane] + access->op->u,
                         space);
}

// Shared memory of the block, or of another one of the cluster.
static bool check_shared(struct px_warp *warp, const struct px_access *access, int lane,
                         uint32_t at)
{
    const struct px_block *block = warp->block;
    const uint32_t rank = block->cluster->count > 1 ? at >> PX_RANK_SHIFT : block->rank;
    const uint32_t offset = block->cluster->count > 1 ? at % PX_RANK_B : at;
    if (offset + access->size_B > px_shared_size(block->grid)) {
        px_fail(warp, PX_FAILED_SHARED, UINT32_C(1) << lane, access->op,
                "%u-byte %s at 0x%x, outside the shared memory of block rank %u", access->size_B,
                access->write ? "write" : "read", at, rank);
        return false;
    }
    px_check_shared(block->cluster->blocks[rank]->checker, warp, access, lane, offset);
    return true;
}

// Checks one lane's access, which the form itself would not refuse. Returns false after a failure.
static bool check_lane(struct px_warp *warp, const struct px_access *access, int lane,
                       enum px_access_space space, uint64_t at)
{
    struct px_checker *checker = warp->block->checker;
    if (space == PX_ACCESS_SHARED)
        return check_shared(warp, access, lane, (uint32_t)at);
    const bool local = space == PX_ACCESS_LOCAL;
    if (!checker->checks->memory || (local ? !is_outside_local(warp->block, at, access->size_B)
                                           : px_check_global(checker, warp, access, lane, at)))
        return true;
    fail(warp, access, lane, at, local);
    return false;
}

bool px_checker_watch(struct kn_warp *w, const struct kn_op *op, int lane, uint64_t address,
                      uint32_t size_B, bool write)
{
    struct px_warp *warp = px_warp_of(w);
    enum px_access_space space = PX_ACCESS_GENERIC;
    const uint64_t at = generic_place(w->memory, address, &space);
    // Barriers in memory are the operations that a fence of the checker stands before.
    const struct px_access access = {.op = op,
                                     .value_B = size_B,
                                     .size_B = size_B,
                                     .read = !write,
                                     .write = write,
                                     .strong = op > warp->block->decoded->ops &&
                                               op[-1].run[0] == px_op_fence};
    return !size_B || check_lane(warp, &access, lane, space, at);
}

// kn_op.b: the bytes of a value; c: flags; d: the space; i: the bytes of a lane's register.
// Accesses that the form itself refuses are left to it.
const struct kn_op *px_op_access(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    struct px_checker *checker = warp->block->checker;
    const struct kn_op *form = op + 1;
    const struct px_access access = {.op = form,
                                     .value_B = op->b,
                                     .size_B = op->b * (form->count ? form->count : 1),
                                     .register_B = (uint32_t)op->i,
                                     .read = op->c & PX_FLAG_READ,
                                     .write = op->c & PX_FLAG_WRITE,
                                     .strong = op->c & PX_FLAG_STRONG};
    if (checker->race)
        px_race_step(checker->race);
    KN_EACH_OF(kn_mask_of(form, w), lane)
    {
        enum px_access_space space = (enum px_access_space)op->d;
        const uint64_t at = place_of(warp, &access, lane, &space);
        w->addresses[lane] = at;
        if (at & (access.size_B - 1))
            KN_NEXT; // the form faults
        if (space == PX_ACCESS_SHARED && at + access.size_B > w->memory->shared_B)
            KN_NEXT;
        if (!check_lane(warp, &access, lane, space, at))
            return NULL;
    }
    KN_NEXT;
}

// After an operation that the lanes of a member mask execute together (register a).
const struct kn_op *px_op_members(const struct kn_op *op, struct kn_warp *w)
{
    const struct px_warp *warp = px_warp_of(w);
    struct px_race *race = warp->block->checker->race;
    const uint32_t *members = KN_REGISTER(uint32_t, op->a);
    uint32_t lanes = w->active;
    KN_EACH_OF(w->active, lane)
    lanes |= members[lane];
    if (race)
        px_race_together(race, warp->index, lanes);
    KN_NEXT;
}

const struct kn_op *px_op_fence(const struct kn_op *op, struct kn_warp *w)
{
    const struct px_warp *warp = px_warp_of(w);
    struct px_race *race = warp->block->checker->race;
    if (race)
        px_race_fence(race, warp->index, kn_mask_of(op + 1, w));
    KN_NEXT;
}

// After a wait for the phase of a barrier in memory: ordered after the arrivals, as after a fence.
const struct kn_op *px_op_passed(const struct kn_op *op, struct kn_warp *w)
{
    const struct px_warp *warp = px_warp_of(w);
    struct px_race *race = warp->block->checker->race;
    if (race)
        px_race_fence(race, warp->index, w->active);
    KN_NEXT;
}
