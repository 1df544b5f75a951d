// SPDX-License-Identifier: MIT
// An imported memory object. The CUexternalMemory and the mappings on it share it, because mappings
// outlive the handle.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "file.h"
#include "import.h"
#include "intervals.h"
#include "layout.h"
#include "owned_fd.h"
#include "physical.h"

struct em_context;

struct em_imported {
    unsigned references; // one of the handle, one of each mapping
    struct em_file *file;
    struct dm_physical *physical; // the file's
    struct dm_import_info info;
    struct em_owned_fd owned;
    uint64_t size_B; // as the program described it
    bool dedicated;
    bool destroyed;   // its CUexternalMemory is gone
    bool needs_flush; // host writes need a flush in the exporting program (exporter.h)
    bool said_size;   // M07 was reported
    // For S01: a command has used the memory when the exporter had submitted so many batches; how
    // often CUDA used it after new batches.
    bool accessed, said_turns;
    unsigned turns;
    uint64_t batches;
    uint32_t number;              // of its CUexternalMemory
    struct dm_intervals mappings; // buffers with addresses of their own, by their bytes (watch.c)
    bool overlapping;             // two of them have shared bytes: all are watched
    struct dm_intervals written;  // the bytes that commands wrote through them since `epoch` began
    uint64_t epoch;
    struct em_external_window *shared; // buffers on it that share addresses, or NULL
};

// Opens the memory that a checked descriptor stands for. On failure the file descriptor is
// untouched and the diagnostic has been reported. Precondition: em_lock held.
CUresult em_imported_open(struct em_context *context, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                          struct em_imported **out);
void em_imported_ref(struct em_imported *imported);
// Dropping the last reference unmaps the memory and closes the descriptor. Precondition: em_lock
// held.
void em_imported_unref(struct em_imported *imported);

// Maps bytes [offset, offset + size) of the payload at an address that no other buffer has.
// Precondition: em_lock held.
CUresult em_imported_map(struct em_imported *imported, uint64_t offset, uint64_t size,
                         uint64_t *address);

// Maps the whole payload and returns the device address of its byte 0. Precondition: em_lock held.
CUresult em_imported_window(struct em_imported *imported, uint64_t *address);

// The layout that the exporter of this memory gives its images.
enum dm_layout_kind em_imported_layout(const struct em_imported *imported);
