// SPDX-License-Identifier: MIT
// CARDLESS_RECORD=FILE: records the run in a binary file (record_format.h) that `cardless trace`
// reads.
//
// A thread writes records into its window, a block of the file that is mapped. So nothing is lost
// if the process ends in any way. A full window is copied to the end of the file. A record costs
// some stores and one look at the clock; texts are made by the reader.
//
// Everything here may be called with em_lock held or not, and only if em_recording is set.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hidden.h"
#include "record_format.h"
#include "record_write.h"

struct em_entry;
struct em_text;
struct em_thread;

// Fixed before the first call returns, unless the file cannot grow.
extern DM_HIDDEN bool em_recording;

// Creates the file of CARDLESS_RECORD. Does nothing after the first time. In a child of fork the
// next call makes a file for the child.
void em_record_start(void);
// In a child of fork: forgets the file, which is the parent's.
void em_record_in_child(void);
// Notes the clock and that the process ends by itself. Called when the driver shuts down.
void em_record_finish(void);

// ---- the calls of the program ----

// A call begins; it should be followed by em_record_return. `values` holds the arguments in order,
// as in em_trace; NULL if they are unknown.
void em_record_call(struct em_thread *self, const struct em_entry *entry, const uint64_t *values,
                    const void *caller);
// It is about to return.
void em_record_return(struct em_thread *self, const struct em_entry *entry, CUresult result,
                      const uint64_t *values);

// A call of another library's function begins, and is about to return (cardlessRecorder). Its call
// site is em_self.caller_returns_to, and the calls of the driver that it makes are nested in it.
void em_record_library_call(const struct em_entry *entry, const uint64_t *values);
void em_record_library_return(const struct em_entry *entry, int result, const uint64_t *values);

// ---- writing records: see also record_write.h ----

// Sets flags of the record that the thread has written last, if it is of this kind.
void em_record_flag_last(enum rf_kind kind, unsigned flags);

void em_field_bytes(struct em_record *record, const void *bytes, size_t size);
// Texts are cut at EM_FIELD_TEXT_B - 2 bytes.
enum { EM_FIELD_TEXT_B = 2050 };
void em_field_text(struct em_record *record, const char *text);

// The id of a string constant, of an entry point, or of an address in the program. Writes a record
// the first time, so it must not be called between em_record_begin and em_record_put.
uint32_t em_record_name(const char *constant);
uint32_t em_record_entry(const struct em_entry *entry);
uint32_t em_record_caller(const void *address);
// Returns true the first time that it is asked for this number.
bool em_record_is_new(uint64_t number);

// ---- objects and memory ----

struct em_object;
void em_record_object(const struct em_object *object);
void em_record_object_end(uint64_t handle, int reason);

// Memory that has an address. `kind` is a constant; `physical` is the number of the bytes below,
// which other memory may have too, or 0.
struct em_record_memory {
    uint64_t id;
    const char *kind;
    uint64_t address, size_B, host, physical, offset;
};
void em_record_memory(const struct em_record_memory *memory);
void em_record_memory_end(uint64_t id);
// The number of physical memory, or 0 for NULL. The same file has the same number whenever it is
// imported.
struct dm_physical;
uint64_t em_record_physical(const struct dm_physical *physical);

// A graphics resource is mapped from now on, or is not any more, by whichever call.
void em_record_mapped(uint64_t handle, bool is_mapped);

// A diagnostic; `id` is "E03", `result` a code or 0.
void em_record_diagnostic(const char *id, int result, const char *text);

// Order between commands, by their sequence numbers; 0 is the host. `key` identifies an event's
// record, a semaphore or a word, and `value` what a signal sets it to. em_record_awaited writes the
// edge from the last signal of `value`, or of any value that is at least as high, if there was one.
// `why` is a constant. Returns whether there was one. Precondition: em_lock held.
void em_record_signalled(uint64_t key, uint64_t value, uint64_t command);
bool em_record_awaited(uint64_t key, uint64_t value, bool at_least, uint64_t command,
                       const char *why);
