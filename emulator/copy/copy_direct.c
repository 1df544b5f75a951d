// SPDX-License-Identifier: MIT
// Large copies between bytes that another API holds, such as those of a mapped OpenGL texture, and
// linear memory. The driver need not have the bytes for that: whoever holds them copies them.
#include "array.h"
#include "copy_command.h"
#include "guard.h"
#include "host_pages.h"
#include "lock.h"
#include "pkey.h"
#include "space.h"

#include <fcntl.h>
#include <unistd.h>

// A shorter copy takes less time than the way to the other API and back.
enum { DIRECT_LEAST_B = 256 << 10 };

// Whether another library may access the memory of an end, as far as is known without looking at
// its pages. It cannot be left at a fault, so the pages must stay once they have been accessed.
static bool is_lasting(const struct em_copy_place *place, const struct em_access *access)
{
    if (place->storage || place->pageable || !place->may_fault)
        return true;
    const struct em_allocation *a = access->owner;
    return a && a->kind == EM_MEMORY_REGISTERED;
}

bool em_copy_may_be_direct(const struct em_copy_command *c)
{
    em_assert_locked();
    const struct dm_box_extent *e = &c->extent;
    return e->width_B * e->height * e->depth >= DIRECT_LEAST_B &&
           is_lasting(&c->dst, &c->access[EM_COPY_WRITES]) &&
           is_lasting(&c->src, &c->access[EM_COPY_READS]);
}

// ---- the other end ----

struct rows {
    struct em_rows at;
    struct dm_box_extent extent;
    bool write;
};

static struct rows rows_of(const struct em_copy_command *c, bool is_dst)
{
    const struct em_copy_place *p = is_dst ? &c->dst : &c->src;
    const struct dm_surface *s = &p->surface;
    return (struct rows){
        .at = {.first =
                   (uint8_t *)s->base + p->at.z * s->slice_B + p->at.y * s->pitch_B + p->at.x_B,
               .pitch_B = c->extent.height > 1 ? s->pitch_B : c->extent.width_B,
               .slice_B = c->extent.depth > 1 ? s->slice_B : 0},
        .extent = c->extent,
        .write = is_dst,
    };
}

// Does not change the byte: the copy may fail yet. (Compilers make an atomic `or` of 0 a load.)
static void access_byte(volatile uint8_t *at, bool write)
{
    uint8_t byte = *at;
    while (write &&
           !__atomic_compare_exchange_n(at, &byte, byte, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

// Accesses each page of the rows.
static void access_pages(void *argument)
{
    const struct rows *r = argument;
    for (uint64_t z = 0; z < r->extent.depth; z++)
        for (uint64_t y = 0; y < r->extent.height; y++) {
            uint8_t *row = (uint8_t *)r->at.first + z * r->at.slice_B + y * r->at.pitch_B;
            const uint64_t within = (uintptr_t)row % DM_PAGE;
            access_byte(row, r->write);
            for (uint64_t at = DM_PAGE - within; at < r->extent.width_B; at += DM_PAGE)
                access_byte(row + at, r->write);
        }
}

// Whether pages of the rows, which have been accessed, may go away although the program keeps its
// mappings: those of files, which other processes may shorten. If that cannot be known, they may.
//
// A program's own copy of a page of a file stays (a private mapping, such as that of initialised
// variables): in /proc/self/pagemap, bit 61 marks the pages of files and of shared memory. To look
// at each page would take a sixth of the time of a copy. One in 256 KiB and the last one suffice,
// because the memory of a copy is nearly always one mapping.
static bool pages_may_go(const struct rows *r)
{
    enum { STEP = DIRECT_LEAST_B / DM_PAGE };
    static const uint64_t file_page = UINT64_C(1) << 61;
    const uint64_t from = (uintptr_t)r->at.first,
                   to = from + (r->extent.depth - 1) * r->at.slice_B +
                        (r->extent.height - 1) * r->at.pitch_B + r->extent.width_B;
    if (em_host_pages_are_anonymous(from, to - from))
        return false;
    const uint64_t first = from / DM_PAGE, last = (to - 1) / DM_PAGE;
    uint64_t entry;
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool found = fd < 0;
    for (uint64_t at = first; !found; at = last - at < STEP ? last : at + STEP) {
        found = pread(fd, &entry, sizeof entry, (off_t)(at * sizeof entry)) != sizeof entry ||
                entry & file_page;
        if (at == last)
            break;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

// ---- the copy ----

bool em_copy_run_directly(struct em_copy_command *c, CUresult *result)
{
    em_assert_unlocked();
    const bool to_absent = c->access[EM_COPY_WRITES].absent;
    struct em_access *absent = &c->access[to_absent ? EM_COPY_WRITES : EM_COPY_READS];
    const struct em_copy_place *other = to_absent ? &c->src : &c->dst;
    struct rows rows = rows_of(c, !to_absent);
    struct dm_fault fault;
    bool lasting = !other->storage;
    if (lasting && (other->pageable || other->may_fault)) {
        const uint32_t keys = dm_pkey_enter();
        const int status =
            (other->may_fault ? dm_guarded_foreign : dm_guarded)(access_pages, &rows, &fault);
        dm_pkey_leave(keys);
        if (status) {
            *result = em_copy_faulted(c, &fault);
            return true;
        }
        lasting = !pages_may_go(&rows);
    }
    *result = CUDA_SUCCESS;
    absent->passed_by = lasting && absent->watch->copy_directly(absent, &rows.at);
    if (!absent->passed_by)
        em_access_fetch(absent);
    return absent->passed_by;
}
