// SPDX-License-Identifier: MIT
// An imported memory object: shared by the CUexternalMemory and by all that is mapped on it, since
// mappings outlive the handle.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "hash_table.h"
#include "import.h"
#include "intervals.h"
#include "layout.h"
#include "physical.h"

struct em_context;

struct em_imported {
    unsigned references; // the handle's, and one of each mapping
    struct dm_physical *physical;
    struct dm_import_info info;
    struct dm_fd_identity fd; // the program's descriptor; fd.fd is -1 where it was closed at once
    uint64_t size_B;          // what the program said
    bool dedicated;
    bool destroyed;   // its CUexternalMemory is gone
    bool needs_flush; // host writes to it do, in the exporting program (producer.h)
    bool said_size;   // M07 was reported
    uint32_t number;  // of that CUexternalMemory
    uint64_t
        window; // device address of the payload's byte 0, mapped whole when first needed; else 0
    bool window_taken;            // by a buffer
    struct dm_intervals mappings; // buffers with addresses of their own, by their bytes (watch.c)
    bool overlapping;             // two of them have shared bytes: all are watched
    struct dm_intervals written;  // the bytes that commands wrote through them since `epoch` began
    uint64_t epoch;
    struct em_external_window *shared; // buffers on it that share addresses, or NULL
    UT_hash_handle hh;                 // among the descriptors that the driver owns
};

// Takes over what `desc` (validated) stands for. On failure the descriptor is untouched and the
// sentence is said. Precondition: em_lock held.
CUresult em_imported_open(struct em_context *context, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                          struct em_imported **out);
// The descriptor is the driver's from now on. Precondition: em_lock held.
void em_imported_take_fd(struct em_imported *imported, int fd);
void em_imported_ref(struct em_imported *imported);
// The last one unmaps and gives the memory and the descriptor back. Precondition: em_lock held.
void em_imported_unref(struct em_imported *imported);

// An address for bytes [offset, offset + size) of the payload that no other buffer has.
// Precondition: em_lock held.
CUresult em_imported_map(struct em_imported *imported, uint64_t offset, uint64_t size,
                         uint64_t *address);
// Ends what em_imported_map gave. Precondition: em_lock held.
void em_imported_unmap(struct em_imported *imported, uint64_t address);

// Device address of the payload's byte 0, mapped whole. Precondition: em_lock held.
CUresult em_imported_window(struct em_imported *imported, uint64_t *address);

// Reports a descriptor that was closed, or closed and used for another file, behind the driver's
// back (M01); once. Precondition: em_lock held.
void em_imported_check_fd(struct em_imported *imported);

// How the producer of this memory lays images out.
enum dm_layout_kind em_imported_layout(const struct em_imported *imported);
