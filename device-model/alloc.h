// SPDX-License-Identifier: MIT
// Allocation and the memory system calls of device-model and emulator. Tests count them, and make
// the n-th one fail.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As malloc, calloc, realloc and free; NULL when out of memory. Safe from every thread.
void *dm_alloc(size_t size) __attribute__((malloc));
void *dm_calloc(size_t count, size_t size) __attribute__((malloc));
void *dm_realloc(void *p, size_t size);
void dm_free(void *p);

// Test hook: the n-th allocation from now fails (1 = the next one), those after it succeed again; 0
// turns it off. The loop of a test: for (n = 1; ; n++) { dm_alloc_fail_after(n); run(); if
// (!dm_alloc_failed()) break; }
void dm_alloc_fail_after(uint64_t n);
// Whether the allocation that was counted down to has failed since the last dm_alloc_fail_after.
// Also turns the countdown off.
bool dm_alloc_failed(void);
// How many allocations are left until the one that fails; 0 if the countdown is off.
uint64_t dm_alloc_countdown(void);

// Test hook: counts what dm_alloc and its kin hand out from the first dm_alloc_count on. Call it
// before the first allocation, because frees of older blocks are counted too.
struct dm_alloc_live {
    int64_t count; // blocks that are allocated now
    int64_t bytes; // their size, as the C library rounds it up
};
void dm_alloc_count(void);
struct dm_alloc_live dm_alloc_live(void);

// System calls that take memory, counted like allocations. 0 or a negative errno.
// They are made without the C library's wrapper, so that a sanitizer neither sees nor limits them.
int dm_sys_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd, uint64_t offset,
                uint64_t *out);
int dm_sys_memfd_create(const char *name, unsigned flags, int *out_fd);
int dm_sys_ftruncate(int fd, uint64_t size);
int dm_sys_protect(uint64_t address, uint64_t size, int prot, int pkey); // pkey -1: plain mprotect
int dm_sys_dup(int fd, int *out_fd);                                     // close-on-exec

// System calls that give memory back. Never made to fail by the countdown: what frees must not need
// memory.
int dm_sys_munmap(uint64_t address, uint64_t size);
// Turns [address, address + size) back into untouchable reserved space. Fails only where the kernel
// is out of mappings.
int dm_sys_unback(uint64_t address, uint64_t size);
int dm_sys_punch(int fd, uint64_t offset, uint64_t size);
