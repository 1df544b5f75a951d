// SPDX-License-Identifier: MIT
// The allocations that a process shares through IPC handles: a table of numbers in a memfd, which
// other processes read through /proc.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

// The place in the table that a handle refers to.
struct em_ipc_place {
    int fd;            // the table's, in the exporting process
    uint32_t slot;     // 0 if there is no slot
    uint64_t identity; // the slot's contents until the memory is freed
};

// Returns the place of an allocation's slot, and takes a slot if *slot is 0. Fails with
// CUDA_ERROR_OUT_OF_MEMORY. Precondition: em_lock held.
CUresult em_ipc_shared_enter(uint32_t *slot, struct em_ipc_place *place);
// Frees the slot because its memory is freed: handles to it are refused from now on.
// Precondition: em_lock held.
void em_ipc_shared_free(uint32_t slot);
// Returns whether process `pid` still shares the memory at that place.
bool em_ipc_shared_holds(int pid, const struct em_ipc_place *place);
