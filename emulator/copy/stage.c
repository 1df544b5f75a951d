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

void em_stage_drop(const struct em_staged *staged)
{
    em_assert_locked();
    if (staged->size_B <= SMALL_MOST_B)
        small_B -= staged->size_B;
    else
        blocks -= blocks_of(staged->size_B);
    dm_free(staged->bytes);
}

static void release(struct em_command *command)
{
    struct em_copy_command *c = (struct em_copy_command *)command;
    em_stage_drop(&(struct em_staged){c->src.surface.base, size_of(c)});
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

static bool qualifies(const struct em_copy_command *c)
{
    const struct dm_box_extent *e = &c->extent;
    return c->src.pageable && c->dst.residence == EM_ON_DEVICE && e->width_B <= BLOCKS * BLOCK_B &&
           e->height <= BLOCKS * BLOCK_B && e->depth <= BLOCKS * BLOCK_B;
}

bool em_stage_reserve(const struct em_copy_command *c, struct em_staged *out)
{
    em_assert_locked();
    if (!qualifies(c) || !has_room(size_of(c)))
        return false;
    out->size_B = size_of(c);
    out->bytes = dm_alloc(out->size_B);
    if (!out->bytes)
        return false;
    if (out->size_B <= SMALL_MOST_B)
        small_B += out->size_B;
    else
        blocks += blocks_of(out->size_B);
    return true;
}

// Manual, "API synchronization behavior", of asynchronous copies: "For transfers from pageable host
// memory to device memory, host memory is copied to a staging buffer immediately […]. The function
// will return once the pageable buffer has been copied to the staging memory."
bool em_stage_fill(const struct em_copy_command *c, const struct em_staged *staged)
{
    em_assert_unlocked();
    struct dm_fault fault;
    const struct dm_box_extent *e = &c->extent;
    struct transfer t = {
        .command = c,
        .to = {.base = staged->bytes, .pitch_B = e->width_B, .slice_B = e->width_B * e->height}};
    const int r = c->src.may_fault ? dm_guarded_foreign(take_along, &t, &fault)
                                   : dm_guarded_host(take_along, &t, staged->size_B, &fault);
    return !r && !t.status;
}

bool em_stage_use(struct em_copy_command *c, const struct em_staged *staged)
{
    em_assert_locked();
    const struct dm_box_extent *e = &c->extent;
    if (!qualifies(c))
        return false;
    if (em_recording_contents)
        em_copy_record(c, &c->src, RF_READS);
    c->command.ops = &staged_ops;
    c->src.surface = (struct dm_surface){
        .base = staged->bytes, .pitch_B = e->width_B, .slice_B = e->width_B * e->height};
    c->src.at = (struct dm_position){0, 0, 0};
    c->src.pageable = c->src.may_fault = false;
    // The program's memory is not read any more, and nobody else knows the staging memory.
    c->access[EM_COPY_READS].address = (uint64_t)(uintptr_t)staged->bytes;
    c->access[EM_COPY_READS].size_B = staged->size_B;
    c->command.accesses_at = offsetof(struct em_copy_command, access[EM_COPY_WRITES]);
    c->command.access_count = 1;
    return true;
}
