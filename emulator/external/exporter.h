// SPDX-License-Identifier: MIT
// What the exporting program said about memory, where our Vulkan layer was in it (vulkan_facts.h):
// only diagnostics and reports come of it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "array.h"
#include "imported.h"

// Looks for the layer in this process. Asks the dynamic loader, whose lock a library's constructor
// holds that calls CUDA. Precondition: em_lock NOT held.
void em_exporter_find(void);

// Mistakes of an import that only the exporter's side shows (M06, M07, M13). `fd` is the program's
// descriptor. Precondition: em_lock held.
void em_exporter_look_at_import(struct em_imported *imported, int fd);

// The last export in this process was of memory that was not declared exportable: that is why there
// is no descriptor.
bool em_exporter_undeclared(void);

// Mistakes of a mapping (I02, I04 to I07, I11, M13). False: nothing is known of an image there.
// Precondition: em_lock held.
bool em_exporter_look_at_mipmap(const struct em_imported *imported,
                                const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                                const struct em_array_plan *plan);

// ", VkImage 0x… (2D, 640x480, …)" of what is bound in [offset, offset + size), or "".
// Precondition: em_lock held.
const char *em_exporter_text(const struct em_imported *imported, uint64_t offset, uint64_t size,
                             char *out, size_t room);

// Whether host writes to this memory need a flush, so that reads of its mappings are to be watched.
// Precondition: em_lock held.
bool em_exporter_needs_flush(const struct em_imported *imported);
// Reports B09 if the host has written bytes in [first, end) of the payload that it did not flush;
// *said: not again. Precondition: em_lock held.
void em_exporter_look_at_read(const struct em_imported *imported, uint64_t first, uint64_t end,
                              bool *said);
