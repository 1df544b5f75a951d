// SPDX-License-Identifier: MIT
// Files of imported memory, with the addresses at which they are mapped.
//
// A file that is imported again and again is kept after its last import: the next import of it then
// takes a few system calls, and its mappings need not be made again. A mapping keeps the file
// itself alive, so no other file can have its device and inode numbers meanwhile. What can change
// about it is read at each import (import.h), and a file that has changed is opened anew. Files are
// kept only while imports of them follow each other quickly, and only a few small ones, because the
// memory of a kept file is not free even if nobody else has it open.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "import.h"
#include "kept.h"
#include "physical.h"

enum {
    EM_FILE_KEPT_MOST = 32,         // files
    EM_FILE_KEPT_MOST_B = 64 << 20, // their bytes together
    EM_FILE_KEPT_AFTER = 3,         // imports, each at most EM_FILE_KEPT_MS after the last one
    EM_FILE_KEPT_MS = 1000,         // without an import
};

struct em_file {
    struct dm_physical *physical;
    struct dm_import_info info; // of the last import
    // Device address of the payload's byte 0 once all of it is mapped, which happens when it is
    // first needed; until then 0.
    uint64_t window;
    // The same for one buffer at a time. Only the buffer's pages are accessible, and until a kernel
    // runs those of earlier buffers and between them.
    uint64_t view;
    bool view_taken;
    struct dm_freed_pages freed;
    bool addresses_given; // the program has addresses in the window that it may still use
    bool may_keep;        // it was imported often enough
    struct dm_import_kept kept;
    void *header;     // its mapping, or NULL
    uint64_t used_ms; // when the last import ended
    // If `bare_known`: the Vulkan layer had recorded nothing about the file when this was its
    // st_ctim.
    struct timespec bare;
    bool bare_known;
    bool next_stays;       // descriptors of imports stay open until em_file_close
    struct em_file *newer; // among the kept files
    struct em_file *older;
    struct em_file *same_hash; // the next one of the kept files with its hash
};

// Recognises a descriptor like dm_import_recognise. Precondition: em_lock held.
int em_file_recognise(int fd, struct dm_import_info *info);
// The file that was recognised: a kept one, or a new one. `stays`: the descriptor stays open until
// em_file_close, unless the program makes a mistake. Returns what dm_physical_import returns. The
// caller should give the file back with em_file_close. Precondition: em_lock held.
int em_file_open(struct dm_vram *vram, int fd, bool stays, const struct dm_import_info *info,
                 struct em_file **out);
// Precondition: em_lock held. Nothing should use the mappings any more.
void em_file_close(struct em_file *file);
// Closes all kept files. Returns whether there were any. Precondition: em_lock held.
bool em_files_drop(void);

// Whether the file has no record of the Vulkan layer (vulkan_facts.h), as far as that is known
// without a system call. `changed` is the file's st_ctim.
bool em_file_is_bare(const struct em_file *file, const struct timespec *changed);
// Notes that no record was found when the file's st_ctim was *changed.
void em_file_note_bare(struct em_file *file, const struct timespec *changed);

// Maps all of the payload at file->window. Returns 0 or a negative errno. Precondition: em_lock
// held.
int em_file_map_window(struct em_file *file);
// Maps bytes [offset, offset + size) of the payload for one buffer. Returns 0, -EINVAL if they are
// not inside the payload, or another negative errno. Precondition: em_lock held.
int em_file_map(struct em_file *file, uint64_t offset, uint64_t size, uint64_t *address);
// Undoes em_file_map. Precondition: em_lock held.
void em_file_unmap(struct em_file *file, uint64_t address);
