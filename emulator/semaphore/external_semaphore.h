// SPDX-License-Identifier: MIT
// The manual's chapter "External Resource Interoperability", semaphores: importing and destroying
// them. semaphore_command.h signals them and waits for them.
#pragma once
#include <cuda.h>

#include "object.h"
#include "owned_fd.h"
#include "semaphore_payload.h"

struct em_external_semaphore {
    struct em_object object; // type EM_EXTERNAL_SEMAPHORE
    // NULL: the descriptor was memory, which driver 580 accepts. It cannot be signalled.
    struct em_payload *payload;
    struct em_owned_fd owned;
    uint32_t journal;
};

// cuImportExternalSemaphore in the current context. On success the file descriptor belongs to the
// driver. Takes the lock.
CUresult em_external_semaphore_import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                                      CUexternalSemaphore *out);
// cuDestroyExternalSemaphore. Commands that use the semaphore keep its payload. Takes the lock.
CUresult em_external_semaphore_destroy(CUexternalSemaphore handle);
