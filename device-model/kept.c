// SPDX-License-Identifier: MIT
// A list of kept mappings, the oldest first, and a map of them by address.
#include "kept.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "guard.h"
#include "kn_fill.h"
#include "pkey.h"

struct dm_kept_mapping {
    struct dm_mapping *mapping;
    unsigned flags;
    bool open; // accessible
    bool left; // others hold the memory; else the mapping's reference to it is the only one
    struct dm_kept_mapping *older, *newer;
    struct dm_kept_mapping *next_left, **to_left; // of the same memory
    struct dm_space *space;
};

static uint64_t counted_B(const struct dm_kept_mapping *k)
{
    return k->left ? 0 : k->mapping->size;
}

static void set_open(struct dm_space *space, struct dm_kept_mapping *k, bool open)
{
    unsigned count = space->kept.open;
    if (k->open != open)
        __atomic_store_n(&space->kept.open, open ? count + 1 : count - 1, __ATOMIC_RELAXED);
    k->open = open;
}

static void append(struct dm_kept *kept, struct dm_kept_mapping *k)
{
    k->older = kept->newest;
    k->newer = NULL;
    *(k->older ? &k->older->newer : &kept->oldest) = k;
    kept->newest = k;
    kept->size_B += counted_B(k);
}

// Removes it from all lists. Its mapping and pages stay.
static struct dm_mapping *forget(struct dm_space *space, struct dm_kept_mapping *k)
{
    if (k->left) {
        space->kept.left--;
        *k->to_left = k->next_left;
        if (k->next_left)
            k->next_left->to_left = k->to_left;
    }
    struct dm_kept *kept = &space->kept;
    struct dm_mapping *m = k->mapping;
    *(k->older ? &k->older->newer : &kept->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &kept->newest) = k->older;
    kept->size_B -= counted_B(k);
    dm_rangemap_remove(&kept->ranges, m->va, NULL);
    set_open(space, k, false);
    dm_free(k);
    return m;
}

// If the kernel has no mappings left to split, inaccessible pages of the file stay. They do no
// harm, and the next mapping there replaces them.
static void drop(struct dm_space *space, struct dm_kept_mapping *k)
{
    bool left = k->left;
    struct dm_mapping *m = forget(space, k);
    dm_sys_unback(m->va, m->size);
    if (!left)
        dm_physical_unref(m->physical);
    dm_free(m);
}

void dm_kept_drop(struct dm_space *space, uint64_t va, uint64_t size)
{
    struct dm_range range;
    // The first one may begin below `va`.
    while (dm_rangemap_next(&space->kept.ranges, va, &range) &&
           (range.start <= va || range.start - va < size))
        drop(space, range.owner);
}

static bool can_keep(const struct dm_space *space, const struct dm_mapping *m,
                     const struct dm_physical *physical, unsigned flags)
{
    return physical->kind == DM_PHYSICAL_SLICE && physical->references == 2 && !physical->shared &&
           m->offset == 0 && m->size == physical->size && m->size <= DM_KEPT_MOST &&
           !(flags & DM_MAP_HOST) && m->va - space->base < space->size;
}

int dm_space_give(struct dm_space *space, uint64_t va, struct dm_physical *physical, unsigned flags)
{
    struct dm_range range;
    struct dm_mapping *m = dm_rangemap_owner(&space->mapped, va);
    struct dm_kept_mapping *k =
        can_keep(space, m, physical, flags) ? dm_calloc(1, sizeof *k) : NULL;
    if (!k || dm_rangemap_insert(&space->kept.ranges, va, m->size, k)) {
        dm_free(k);
        int r = dm_space_unmap(space, va, m->size);
        if (r == 0)
            dm_physical_unref(physical);
        return r;
    }
    dm_rangemap_remove(&space->mapped, va, &range);
    dm_vram_uncommit(physical->vram, physical->committed);
    physical->committed = 0;
    physical->references--;
    k->mapping = m;
    k->flags = flags;
    append(&space->kept, k);
    set_open(space, k, true);
    while (space->kept.size_B > DM_KEPT_MOST)
        drop(space, space->kept.oldest);
    return 0;
}

// ---- mappings of memory that others hold ----

static void drop_oldest_left(struct dm_space *space)
{
    struct dm_kept_mapping *k = space->kept.oldest;
    while (!k->left)
        k = k->newer;
    drop(space, k);
}

int dm_space_leave(struct dm_space *space, uint64_t va, uint64_t size, unsigned flags)
{
    struct dm_range range;
    struct dm_mapping *m = dm_rangemap_owner(&space->mapped, va);
    bool can_leave = m && m->va == va && m->size == size && m->backed && flags &&
                     !(flags & DM_MAP_HOST) && va - space->base < space->size;
    struct dm_kept_mapping *k = can_leave ? dm_calloc(1, sizeof *k) : NULL;
    if (!k || dm_rangemap_insert(&space->kept.ranges, va, size, k)) {
        dm_free(k);
        return dm_space_unmap(space, va, size);
    }
    dm_rangemap_remove(&space->mapped, va, &range);
    struct dm_physical *physical = m->physical;
    *k = (struct dm_kept_mapping){.mapping = m, .flags = flags, .left = true, .space = space};
    k->to_left = &physical->left;
    k->next_left = physical->left;
    if (k->next_left)
        k->next_left->to_left = &k->next_left;
    physical->left = k;
    append(&space->kept, k);
    set_open(space, k, true);
    if (++space->kept.left > DM_LEFT_MOST)
        drop_oldest_left(space);
    dm_physical_unref(physical); // the last reference drops `k`
    return 0;
}

void dm_kept_drop_left(struct dm_physical *physical)
{
    while (physical->left)
        drop(physical->left->space, physical->left);
}

bool dm_kept_has(const struct dm_space *space, uint64_t va, uint64_t size)
{
    const struct dm_kept_mapping *k = dm_rangemap_owner(&space->kept.ranges, va);
    return k && k->left && k->mapping->va == va && k->mapping->size == size;
}

// If it has other pages, they stay until the caller maps others in their place.
int dm_space_take_left(struct dm_space *space, const struct dm_mapping *m, unsigned flags)
{
    struct dm_kept_mapping *k = dm_rangemap_owner(&space->kept.ranges, m->va);
    if (!k)
        return -ENOENT;
    bool same = k->mapping->physical == m->physical && k->mapping->offset == m->offset;
    bool ready = k->open && k->flags == flags;
    dm_free(forget(space, k));
    if (!same)
        return -ENOENT;
    return ready ? 0 : dm_pages_access(m->va, m->size, flags);
}

// ---- memory that is taken back into use ----

static void clear(void *range)
{
    const struct dm_range *r = range;
    kn_fill8_rows((void *)(uintptr_t)r->start, r->size, 0, r->size, 1);
}

static int clear_range(uint64_t va, uint64_t size)
{
    if (!size)
        return 0;
    struct dm_range r = {.start = va, .size = size};
    uint32_t rights = dm_pkey_enter();
    int status = dm_guarded(clear, &r, NULL);
    dm_pkey_leave(rights);
    return status;
}

// Clears the pages that exist. The others are zero. The pages of a slice do not go away, so the
// kernel is asked only about those that may be new.
static int clear_pages(const struct dm_mapping *m)
{
    const uint64_t first = m->physical->payload, end = first + m->size;
    uint64_t at = first + m->physical->touched;
    int fd = dm_physical_fd(m->physical);
    int status = fd < 0 ? fd : clear_range(m->va, m->physical->touched);
    while (!status && at < end) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        if (data < 0 || (uint64_t)data >= end)
            return data >= 0 || errno == ENXIO ? 0 : -errno; // ENXIO: no data from here on
        off_t hole = lseek(fd, data, SEEK_HOLE);
        if (hole < 0)
            return -errno;
        uint64_t stop = (uint64_t)hole < end ? (uint64_t)hole : end;
        status = clear_range(m->va + ((uint64_t)data - first), stop - (uint64_t)data);
        if ((uint64_t)data == first + m->physical->touched)
            m->physical->touched = stop - first;
        at = stop;
    }
    return status;
}

int dm_space_take(struct dm_space *space, struct dm_vram *vram, uint64_t va, uint64_t size,
                  unsigned flags, struct dm_physical **out)
{
    struct dm_kept_mapping *k = dm_rangemap_owner(&space->kept.ranges, va);
    if (!k || k->left || k->mapping->va != va || k->mapping->size != size ||
        k->mapping->physical->vram != vram || k->flags != flags)
        return -ENOENT;
    if (dm_vram_commit(vram, size))
        return -ENOMEM;
    struct dm_mapping *m = k->mapping;
    int r = k->open ? 0 : dm_pages_access(va, size, flags);
    if (!r) {
        set_open(space, k, true);
        r = clear_pages(m);
    }
    if (!r)
        r = dm_rangemap_insert(&space->mapped, va, size, m);
    if (r) { // a fresh mapping may still succeed
        dm_vram_uncommit(vram, size);
        drop(space, k);
        return -ENOENT;
    }
    forget(space, k);
    m->physical->committed = size;
    *out = dm_physical_ref(m->physical);
    return 0;
}

// ---- pages whose mapping stays ----

static void count_open(struct dm_space *space, int change)
{
    __atomic_store_n(&space->kept.open, space->kept.open + (unsigned)change, __ATOMIC_RELAXED);
}

static bool has_freed(const struct dm_freed_pages *pages)
{
    return pages->end - pages->first > pages->used_end - pages->used_first;
}

// Brings the list up to date after a change of the ranges.
static void list_freed(struct dm_space *space, struct dm_freed_pages *pages)
{
    bool listed = has_freed(pages);
    if (listed == pages->listed)
        return;
    pages->listed = listed;
    count_open(space, listed ? 1 : -1);
    if (listed) {
        pages->previous = NULL;
        pages->next = space->kept.freed;
        space->kept.freed = pages;
    } else {
        *(pages->previous ? &pages->previous->next : &space->kept.freed) = pages->next;
    }
    if (pages->next)
        pages->next->previous = listed ? pages : pages->previous;
}

int dm_freed_take(struct dm_space *space, struct dm_freed_pages *pages, uint64_t va, uint64_t size,
                  unsigned flags)
{
    bool any = pages->first != pages->end;
    uint64_t first = any && pages->first < va ? pages->first : va;
    uint64_t end = any && pages->end > va + size ? pages->end : va + size;
    if (pages->broken)
        return -ENOMEM;
    // Pages between the two ranges become accessible, too.
    if (first != pages->first || end != pages->end) {
        int r = dm_pages_access(first, end - first, flags);
        if (r)
            return r;
    }
    pages->first = first;
    pages->end = end;
    pages->used_first = va;
    pages->used_end = va + size;
    list_freed(space, pages);
    return 0;
}

void dm_freed_leave(struct dm_space *space, struct dm_freed_pages *pages)
{
    pages->used_first = pages->used_end = pages->first;
    list_freed(space, pages);
}

void dm_freed_forget(struct dm_space *space, struct dm_freed_pages *pages)
{
    pages->first = pages->end = pages->used_first = pages->used_end = 0;
    list_freed(space, pages);
    *pages = (struct dm_freed_pages){0};
}

static void close_pages(struct dm_freed_pages *pages, uint64_t first, uint64_t end)
{
    if (first == end || !dm_sys_protect(first, end - first, PROT_NONE, -1))
        return;
    // The kernel has no mappings left to split.
    dm_sys_unback(first, end - first);
    pages->broken = true;
}

static void close_freed(struct dm_space *space, struct dm_freed_pages *pages)
{
    close_pages(pages, pages->first, pages->used_first);
    close_pages(pages, pages->used_end, pages->end);
    pages->first = pages->used_first;
    pages->end = pages->used_end;
    list_freed(space, pages);
}

void dm_space_close_kept(struct dm_space *space)
{
    while (space->kept.freed)
        close_freed(space, space->kept.freed);
    for (struct dm_kept_mapping *k = space->kept.newest, *older; k && k->open; k = older) {
        older = k->older;
        if (dm_sys_protect(k->mapping->va, k->mapping->size, PROT_NONE, -1))
            drop(space, k);
        else
            set_open(space, k, false);
    }
}
