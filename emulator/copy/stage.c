// SPDX-License-Identifier: MIT
// Staging: an asynchronous copy from pageable memory that has to wait takes its bytes along.
#include "stage.h"

#include "alloc.h"
#include "copy_command.h"
#include "guard.h"
#include "lock.h"

// The rules of a card's driver (recorded: pageable_copies). Copies of up to 64 KiB share a buffer;
// larger ones take one or both of two blocks of 1 MiB. If there is no room, the call waits.
enum { SMALL_MOST_B = 64 << 10, SMALL_TOTAL_B = 62 * SMALL_MOST_B, BLOCK_B = 1 << 20, BLOCKS = 2 };

// In use; guarded by em_lock.
static uint64_t small_B;
static unsigned blocks;

static uint64_t size_of(const struct em_copy_command *c)
{
    return c->extent.width_B * c->extent.height * c->extent.depth;
}

static unsigned blocks_of(uint64_t size_B)
{
    return (unsigned)((size_B + BLOCK_B - 1) / BLOCK_B);
}

static void release(struct em_command *command)
{
    struct em_copy_command *c = (struct em_copy_command *)command;
    em_assert_locked();
    if (size_of(c) <= SMALL_MOST_B)
        small_B -= size_of(c);
    else
        blocks -= blocks_of(size_of(c));
    dm_free(c->src.surface.base);
}

static const struct em_command_ops staged_ops = {
    .name = "memcpy", .run = em_copy_run, .release = release, .once = true};

static bool has_room(uint64_t size_B)
{
    if (size_B <= SMALL_MOST_B)
        return small_B + size_B <= SMALL_TOTAL_B;
    return size_B <= BLOCKS * BLOCK_B && blocks + blocks_of(size_B) <= BLOCKS;
}

struct transfer {
    const struct em_copy_command *command;
    struct dm_surface to;
    int status;
};

static void take_along(void *argument)
{
    struct transfer *t = argument;
    const struct em_copy_command *c = t->command;
    const struct dm_position start = {0, 0, 0};
    t->status = dm_box_copy(&t->to, start, &c->src.surface, c->src.at, c->extent);
}

// Manual, "API synchronization behavior", of asynchronous copies: "For transfers from pageable host
// memory to device memory, host memory is copied to a staging buffer immediately […]. The function
// will return once the pageable buffer has been copied to the staging memory."
bool em_copy_stage(struct em_copy_command *c)
{
    em_assert_locked();
    struct dm_fault fault;
    const struct dm_box_extent *e = &c->extent;
    if (!c->src.pageable || c->dst.residence != EM_ON_DEVICE || e->width_B > BLOCKS * BLOCK_B ||
        e->height > BLOCKS * BLOCK_B || e->depth > BLOCKS * BLOCK_B || !has_room(size_of(c)))
        return false;
    const uint64_t size_B = size_of(c);
    struct transfer t = {
        .command = c,
        .to = {.base = dm_alloc(size_B), .pitch_B = e->width_B, .slice_B = e->width_B * e->height}};
    if (!t.to.base)
        return false;
    const int faulted =
        (c->src.may_fault ? dm_guarded_foreign : dm_guarded)(take_along, &t, &fault);
    if (faulted || t.status) {
        dm_free(t.to.base); // the copy itself reports the error
        return false;
    }
    if (size_B <= SMALL_MOST_B)
        small_B += size_B;
    else
        blocks += blocks_of(size_B);
    if (em_recording_contents)
        em_copy_record(c, &c->src, RF_READS);
    c->command.ops = &staged_ops;
    c->src.surface = t.to;
    c->src.at = (struct dm_position){0, 0, 0};
    c->src.pageable = c->src.may_fault = false;
    // The program's memory is not read any more, and nobody else knows the staging memory.
    c->access[EM_COPY_READS].address = (uint64_t)(uintptr_t)t.to.base;
    c->access[EM_COPY_READS].size_B = size_B;
    c->command.accesses_at = offsetof(struct em_copy_command, access[EM_COPY_WRITES]);
    c->command.access_count = 1;
    return true;
}
