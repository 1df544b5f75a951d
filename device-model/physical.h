// SPDX-License-Identifier: MIT
// Physical memory of a device: the committed total, and reference-counted pieces that can be
// mapped, exported and imported.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "import.h"
#include "rangemap.h"

// The memory of a device. It is sparse: only pages in use take host memory, so an 80 GB card fits
// a small host.
struct dm_vram {
    uint64_t total;      // bytes that can be committed
    uint64_t used;       // bytes committed
    uint64_t *published; // a copy of `used` for other processes (book.h), or NULL
    uint64_t granule;    // a power of two: sizes are rounded up to multiples of it (2 MiB on every
                         // known card)
    // A large sparse memfd of which ordinary allocations are slices; -1 before the first
    // allocation.
    struct dm_fd_identity arena;
    uint64_t arena_B;
    struct dm_rangemap slices;
    uint8_t exporter_uuid[16]; // the uuid in the header of exported memory, so that Mesa accepts it
                               // as its own
};

int dm_vram_init(struct dm_vram *vram, uint64_t total, uint64_t granule);
// Does the work of the first slice, as far as possible: above all, opens the file of slices.
void dm_vram_prepare(struct dm_vram *vram);
// Precondition: no physical memory of this device is left.
void dm_vram_finish(struct dm_vram *vram);
// Change only the committed total. Sizes are rounded up to the granule. Committing returns -ENOMEM
// beyond the total.
int dm_vram_commit(struct dm_vram *vram, uint64_t size);
void dm_vram_uncommit(struct dm_vram *vram, uint64_t size);

enum dm_physical_kind {
    DM_PHYSICAL_SLICE,    // of the arena
    DM_PHYSICAL_OWN,      // a memfd of its own
    DM_PHYSICAL_IMPORTED, // someone else's file, or an export of ours that came back
};

struct dm_physical {
    struct dm_vram *vram;
    enum dm_physical_kind kind;
    unsigned references;
    struct dm_fd_identity file; // a slice borrows the arena's; others own theirs. The program may
                                // close it: use dm_physical_fd
    int second_fd;              // another descriptor of the file while there is one, else 0 (which
                                // is never used here)
    uint64_t payload;           // offset of byte 0 in the file
    uint64_t size;              // usable bytes; a multiple of the granule unless imported
    uint64_t committed;         // bytes counted in the device's committed total
    uint64_t identity; // own exports: the number that importers find in dm_import_info; else 0
    bool writable;
    bool may_shrink;              // the exporter may truncate the file
    bool shared;                  // another process may have mapped it
    uint64_t touched;             // of a slice: so many bytes from its start have pages for sure
    struct dm_kept_mapping *left; // mappings that it had and that stay (kept.h)
};

enum { DM_PHYSICAL_EXPORTABLE = 1 };

// Returns a descriptor of the file, or -EBADF if the program has closed it (closefrom, daemon) and
// may have opened another file under the number.
int dm_physical_fd(const struct dm_physical *physical);

// Returns a number that identifies something shared between processes: not 0, and in practice never
// used twice on a machine.
uint64_t dm_new_identity(void);

// Creates zeroed memory with one reference. The size is rounded up to the granule. Returns 0,
// -ENOMEM, or -EINVAL for size 0.
int dm_physical_create(struct dm_vram *vram, uint64_t size, unsigned flags,
                       struct dm_physical **out);
// Imports the memory that dm_import_recognise() has described. Keeps a duplicate of the descriptor.
// Returns 0; -ENOTSUP: not memory; -EBADMSG: damaged header; -ENXIO: empty; -ESTALE: fd is no
// longer the file that was recognised; -ENOMEM.
int dm_physical_import(struct dm_vram *vram, int fd, const struct dm_import_info *info,
                       struct dm_physical **out);
struct dm_physical *dm_physical_ref(struct dm_physical *physical);
// The last reference frees the memory: the host gets it back (own and sliced memory), and the
// committed total shrinks.
void dm_physical_unref(struct dm_physical *physical); // may be NULL

// Returns a new descriptor that stands for this memory in any process; the caller closes it.
// -ENOTSUP for a slice.
int dm_physical_export(const struct dm_physical *physical, int *fd);
// Returns 0, or -ENXIO if the file no longer holds all of the memory because someone truncated it.
int dm_physical_intact(const struct dm_physical *physical);
// Makes [offset, offset + size) zero again by giving the pages back. Only for slices and own
// memory.
int dm_physical_discard(struct dm_physical *physical, uint64_t offset, uint64_t size);
