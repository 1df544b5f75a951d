// SPDX-License-Identifier: MIT
// Facts that our Vulkan layer has recorded about memory in the exporting program (vulkan_facts.h).
// They are used for diagnostics and reports only.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "array.h"
#include "imported.h"

// Finds mistakes of an import that only the exporter's side shows (M06, M07, M13). `fd` is the
// program's descriptor. Precondition: em_lock held.
void em_exporter_check_import(struct em_imported *imported, int fd);

// Whether the last export in this process failed because the memory was not declared exportable, so
// that the program has no descriptor.
bool em_exporter_undeclared(void);

// Finds mistakes of a mapping (I02, I04 to I07, I11, M13). Returns false if the facts do not say
// whether an image is there. Precondition: em_lock held.
bool em_exporter_check_mipmap(const struct em_imported *imported,
                              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                              const struct em_array_plan *plan);

// Describes the resource that is bound in [offset, offset + size): ", VkImage 0x… (2D, 640x480,
// …)", or "" if it is unknown.
// Precondition: em_lock held.
const char *em_exporter_text(const struct em_imported *imported, uint64_t offset, uint64_t size,
                             char *out, size_t out_size);

// Whether accesses to mappings of this memory must be watched: because host writes need a flush, or
// because the order of CUDA's and Vulkan's work is checked. Precondition: em_lock held.
bool em_exporter_watches(const struct em_imported *imported);
// Notes an access of a command, and reports S01 once if CUDA and Vulkan use the memory in turn
// without any semaphore. Precondition: em_lock held.
void em_exporter_check_turns(struct em_imported *imported);
// Reports B09 if the host has written bytes in [first, end) of the payload and has not flushed
// them. Reports once: sets *said. Precondition: em_lock held.
void em_exporter_check_read(const struct em_imported *imported, uint64_t first, uint64_t end,
                            bool *said);
