// SPDX-License-Identifier: MIT
// Allocation and memory system calls for device-model and emulator. Tests count them and make the
// n-th one fail.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Like malloc, calloc, realloc and free. Return NULL if memory runs out. Thread-safe.
void *dm_alloc(size_t size) __attribute__((malloc));
void *dm_calloc(size_t count, size_t size) __attribute__((malloc));
void *dm_realloc(void *p, size_t size);
void dm_free(void *p);

// Test hook: the n-th allocation from now fails (1 = the next one), and later ones succeed again. 0
// switches it off. A test loops like this:
//
//   for (n = 1; ; n++) {
//       dm_alloc_fail_after(n);
//       run();
//       if (!dm_alloc_failed())
//           break;
//   }
void dm_alloc_fail_after(uint64_t n);
// Returns true if the allocation counted down to has failed since the last dm_alloc_fail_after.
// Also switches the countdown off.
bool dm_alloc_failed(void);
// Number of allocations up to the one that fails; 0 if the countdown is off.
uint64_t dm_alloc_countdown(void);

// Test hook: counts blocks from dm_alloc and its relatives, from the first dm_alloc_count on. Call
// it before the first allocation, because freeing an older block is counted too.
struct dm_alloc_live {
    int64_t count; // blocks that are allocated now
    int64_t bytes; // their total size, as rounded up by the C library
};
void dm_alloc_count(void);
struct dm_alloc_live dm_alloc_live(void);

// System calls that take memory, counted like allocations. They return 0 or a negative errno, and
// bypass the C library's wrappers, so that a sanitizer neither sees nor limits them.
int dm_sys_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd, uint64_t offset,
                uint64_t *out);
int dm_sys_memfd_create(const char *name, unsigned flags, int *out_fd);
int dm_sys_ftruncate(int fd, uint64_t size);
int dm_sys_protect(uint64_t address, uint64_t size, int prot, int pkey); // pkey -1: plain mprotect
int dm_sys_dup(int fd, int *out_fd);                                     // close-on-exec

struct stat;
// fstat without the C library, which makes a slower system call for it. Returns 0 or a negative
// errno. Takes no memory, so it is not counted.
int dm_sys_stat(int fd, struct stat *out);

// System calls that give memory back. The countdown never makes them fail, because freeing must not
// need memory.
int dm_sys_munmap(uint64_t address, uint64_t size);
// Turns [address, address + size) back into inaccessible reserved space. Fails only if the kernel
// has no mappings left.
int dm_sys_unback(uint64_t address, uint64_t size);
int dm_sys_punch(int fd, uint64_t offset, uint64_t size);
// Gives the memory of private pages back; they read as zero afterwards.
void dm_sys_discard(uint64_t address, uint64_t size);
