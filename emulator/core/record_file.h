// SPDX-License-Identifier: MIT
// For the files of the recorder only.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cardless_types.h"
#include "record_format.h"

struct em_entry;

// Opens a window for the calling thread. Returns NULL if it cannot.
struct em_record_thread *em_record_open_thread(void) __attribute__((cold));
// In a child of fork: all ids are new again.
void em_record_forget_ids(void);
// Fills in the names of the process: policy, cpu, program.
void em_record_describe_process(struct rf_header *header);
// Writes the objects that are loaded, but for those that the file has.
void em_record_modules(void);
// Writes tables of types to the file: the driver's (id 0) or a library's.
void em_record_description(const cardlessTypes *d, uint32_t id);
void em_record_tables(const void *tables, size_t size_B, uint32_t id);

// Reserves blocks at the end of the file. Returns the first one.
uint32_t em_record_take_blocks(uint32_t count);
static inline uint64_t em_record_block_offset(uint32_t block)
{
    return (uint64_t)RF_BLOCK_B * (1 + (uint64_t)block);
}
// Writes to the file. Returns 0 or an errno.
int em_record_write(const void *bytes, size_t size, uint64_t offset);
// Ends the recording because of an errno: the file cannot grow.
void em_record_stop(int error);
