// SPDX-License-Identifier: MIT
// Device memory shared between processes by cuIpcGetMemHandle.
#pragma once
#include <cuda.h>
#include <stdint.h>

// All take the lock and work in the current context.
CUresult em_ipc_get(uint64_t address, CUipcMemHandle *out);
CUresult em_ipc_open(const CUipcMemHandle *handle, unsigned flags, uint64_t *out);
CUresult em_ipc_close(uint64_t address);
