// SPDX-License-Identifier: MIT
// Physical memory of a device: how much of it is taken, and reference-counted pieces that can be
// mapped, exported and imported.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "import.h"
#include "rangemap.h"

// A device's memory. Sparse: only what is touched takes memory of the host, so an 80 GB card fits a
// small one.
struct dm_vram {
    uint64_t total;   // bytes that can be committed
    uint64_t used;    // bytes committed
    uint64_t granule; // a power of two: everything is committed in multiples of it (2 MiB on every
                      // card known)
    // One large sparse memfd, of which ordinary allocations are slices; -1 until the first.
    struct dm_fd_identity arena;
    uint64_t arena_B;
    struct dm_rangemap slices;
    uint8_t
        producer[16]; // the uuid in the header of exported memory, so that Mesa takes it as its own
};

int dm_vram_init(struct dm_vram *vram, uint64_t total, uint64_t granule);
// Precondition: no physical memory of this device is left.
void dm_vram_finish(struct dm_vram *vram);
// The books alone. -ENOMEM beyond the total. Sizes are rounded up to the granule.
int dm_vram_commit(struct dm_vram *vram, uint64_t size);
void dm_vram_uncommit(struct dm_vram *vram, uint64_t size);

enum dm_physical_kind {
    DM_PHYSICAL_SLICE,    // of the arena
    DM_PHYSICAL_OWN,      // a memfd of its own
    DM_PHYSICAL_IMPORTED, // a file of someone else, or an export of ours that came back
};

struct dm_physical {
    struct dm_vram *vram;
    enum dm_physical_kind kind;
    unsigned references;
    struct dm_fd_identity file; // a slice borrows the arena's; others own theirs. The program may
                                // close it: ask dm_physical_fd
    uint64_t payload;           // where byte 0 lies in the file
    uint64_t size;              // bytes usable; a multiple of the granule unless imported
    uint64_t committed;         // bytes in the device's books
    uint64_t identity; // own exports: the number that dm_import_info tells importers; else 0
    bool writable;
    bool may_shrink; // a file that its producer may truncate
};

enum { DM_PHYSICAL_EXPORTABLE = 1 };

// The descriptor of the file behind it. -EBADF: the program has closed it (closefrom, daemon), and
// the number may by now be a file of its own.
int dm_physical_fd(const struct dm_physical *physical);

// A number for something shared between processes: not 0, and in practice never used twice on a
// machine.
uint64_t dm_new_identity(void);

// Fresh memory, all zero, with one reference. Size is rounded up to the granule. -ENOMEM, -EINVAL
// (size 0).
int dm_physical_create(struct dm_vram *vram, uint64_t size, unsigned flags,
                       struct dm_physical **out);
// The memory that dm_import_recognise() has described. The descriptor stays the caller's (a
// duplicate is kept). -ENOTSUP: not memory; -EBADMSG: damaged header; -ENXIO: empty; -ESTALE: fd is
// no longer the file that was recognised.
int dm_physical_import(struct dm_vram *vram, int fd, const struct dm_import_info *info,
                       struct dm_physical **out);
struct dm_physical *dm_physical_ref(struct dm_physical *physical);
// The last one frees: the host gets its memory back (own and sliced memory) and the books are
// corrected.
void dm_physical_unref(struct dm_physical *physical); // NULL is allowed

// A new descriptor that stands for this memory in any process; the caller closes it. -ENOTSUP for a
// slice.
int dm_physical_export(const struct dm_physical *physical, int *fd);
// Whether the file still holds all of it: 0, or -ENXIO if someone has truncated it.
int dm_physical_intact(const struct dm_physical *physical);
// Makes [offset, offset + size) zero again by giving the pages back. Slices and own memory only.
int dm_physical_discard(struct dm_physical *physical, uint64_t offset, uint64_t size);
