// SPDX-License-Identifier: MIT
// Facts that our Vulkan layer has recorded about memory in the exporting program (vulkan_facts.h).
// They are used for diagnostics and reports only.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "array.h"
#include "imported.h"

// Looks for the layer in this process. Takes the dynamic loader's lock, which a library's
// constructor holds while it calls CUDA. Precondition: em_lock not held.
void em_exporter_find(void);

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

// Whether host writes to this memory need a flush, so that reads of its mappings must be watched.
// Precondition: em_lock held.
bool em_exporter_needs_flush(const struct em_imported *imported);
// Reports B09 if the host has written bytes in [first, end) of the payload and has not flushed
// them. Reports once: sets *said. Precondition: em_lock held.
void em_exporter_check_read(const struct em_imported *imported, uint64_t first, uint64_t end,
                            bool *said);
