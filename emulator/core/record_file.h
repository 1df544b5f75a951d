// SPDX-License-Identifier: MIT
// For the files of the recorder only.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "record_format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct em_description;
struct em_entry;

enum { EM_RECORD_DEPTH = 16 }; // of calls that callbacks of others make

// What a thread writes to. The struct is the thread's own.
struct em_record_thread {
    struct rf_block *window;
    uint8_t *at;         // the next record
    uint8_t *last;       // the record before it, or NULL
    uint64_t ticks;      // the time of the last record that has one
    uint32_t generation; // the fork that it belongs to
    uint32_t number, sequence;
    bool open, failed;
    unsigned depth; // of `calls`
    struct {
        const struct em_entry *entry;
        uint64_t number;
    } calls[EM_RECORD_DEPTH];
};

// The clock of records. rf_header relates it to nanoseconds.
static inline uint64_t em_record_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return dm_now_ns();
#endif
}

// Opens a window for the calling thread. Returns NULL if it cannot.
struct em_record_thread *em_record_open_thread(void) __attribute__((cold));
// Fills in the names of the process: policy, cpu, program.
void em_record_describe_process(struct rf_header *header);
// Writes the tables of types to the file.
void em_record_description(const struct em_description *d);
void em_record_tables(const void *tables, size_t size_B);
