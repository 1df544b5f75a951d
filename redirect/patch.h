// SPDX-License-Identifier: MIT
// Overwrites the entries of a static runtime's functions in memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct rd_entry {
    uint64_t address;
    void *const *cell; // of the function that takes its place (target.h)
};

// A page of stubs; unmapped when its object is closed.
struct rd_stubs {
    void *base;
    size_t size;
};

enum { RD_ENTRY_B = 9 }; // bytes that are overwritten: endbr64; jmp rel32

// Makes each entry jump to a stub that jumps to its cell's function:
//
//   entry:  endbr64; jmp ──▶ stub:  mov $cell, %r11; jmp *(%r11) ──▶ the function
//
// The stubs lie within 2 GiB of all entries. Returns 0, or -1 if there is no space for them or the
// code cannot be made writable; then no entry has changed, or the process cannot run its code.
int rd_patch(const struct rd_entry *entries, size_t count, struct rd_stubs *stubs);

// Gives the stubs back when the object is gone.
void rd_unpatch(const struct rd_stubs *stubs);
