// SPDX-License-Identifier: MIT
// Which bytes of an allocation have been written, for CARDLESS_CHECK=memory. Copies, fills and
// kernels set bits; nothing clears them until the memory is freed.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_access;
struct em_allocation;

struct em_written {
    uint32_t references; // under em_lock
    bool all;            // atomic: all bytes are written, whatever the bits are
    uint64_t size_B;     // of the allocation
    uint64_t words[];    // a bit for each byte, atomic
};

// Begins to note writes to an allocation that has no value yet, if the user wants that. Returns
// false if host memory is short. Precondition: em_lock held.
bool em_written_begin(struct em_allocation *a);
// Precondition: em_lock held.
struct em_written *em_written_ref(struct em_written *written);
void em_written_unref(struct em_written *written); // may be NULL
// Bytes are about to be written. Outside of the allocation they are ignored.
// Precondition: em_lock held.
void em_written_note(const struct em_allocation *a, uint64_t address, uint64_t size_B);
// The same for the bytes of a command's access to linear memory.
void em_written_note_access(const struct em_allocation *a, const struct em_access *access);
