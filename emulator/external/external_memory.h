// SPDX-License-Identifier: MIT
// Imported external memory: recognising what a descriptor stands for, and mapping buffers and
// mipmapped arrays on it.
#pragma once
#include <cuda.h>

// cuImportExternalMemory in the current context. On success the file descriptor belongs to the
// driver. Takes the lock.
CUresult em_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUexternalMemory *out);
// cuDestroyExternalMemory. What is mapped on it stays until it is freed. Takes the lock.
CUresult em_external_destroy(CUexternalMemory handle);
// cuExternalMemoryGetMappedBuffer. Takes the lock.
CUresult em_external_map_buffer(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc, CUdeviceptr *out);
// cuExternalMemoryGetMappedMipmappedArray. Takes the lock.
CUresult em_external_map_mipmap(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                                CUmipmappedArray *out);
