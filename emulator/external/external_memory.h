// SPDX-License-Identifier: MIT
// The manual's chapter "External Resource Interoperability", memory: importing it, and mapping
// buffers and mipmapped arrays on it.
#pragma once
#include <cuda.h>

// Registers the room's listener. Called when the driver starts. Precondition: em_lock NOT held.
void em_external_start(void);
// Closes files that were kept to be imported again and were not for a second. Precondition: em_lock
// NOT held.
void em_files_drop_unused(void);
// cuImportExternalMemory in the current context. On success the file descriptor belongs to the
// driver. Takes the lock.
CUresult em_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUexternalMemory *out);
// cuDestroyExternalMemory. Mappings of the object stay until they are freed. Takes the lock.
CUresult em_external_destroy(CUexternalMemory handle);
// cuExternalMemoryGetMappedBuffer. Takes the lock.
CUresult em_external_map_buffer(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc, CUdeviceptr *out);
// cuExternalMemoryGetMappedMipmappedArray. Takes the lock.
CUresult em_external_map_mipmap(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                                CUmipmappedArray *out);
