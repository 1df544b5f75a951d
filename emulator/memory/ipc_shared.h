// SPDX-License-Identifier: MIT
// Which memory of a process is shared by IPC handles now: a table of numbers in a memfd that other
// processes read through /proc.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

// What a handle says of its place in the table.
struct em_ipc_place {
    int fd;            // of the table, in the process that shares
    uint32_t slot;     // 0: none
    uint64_t identity; // what the slot holds as long as the memory is there
};

// The place of an allocation's slot; *slot 0: it gets one. CUDA_ERROR_OUT_OF_MEMORY. Precondition:
// em_lock held.
CUresult em_ipc_shared_enter(uint32_t *slot, struct em_ipc_place *place);
// The memory goes: handles to it are refused from now on. Precondition: em_lock held.
void em_ipc_shared_leave(uint32_t slot);
// Whether process `pid` still has what was at that place.
bool em_ipc_shared_holds(int pid, const struct em_ipc_place *place);
