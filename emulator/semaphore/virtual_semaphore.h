// SPDX-License-Identifier: MIT
// The semaphores of cardless.h, which stand for those of another API. Every function takes em_lock.
#pragma once
#include <cardless.h>
#include <cuda.h>
#include <stdint.h>

CUresult em_virtual_semaphore_create(cardlessSemaphoreKind kind, uint64_t value,
                                     cardlessSemaphore *out);
CUresult em_virtual_semaphore_open(int fd, cardlessSemaphore *out);
CUresult em_virtual_semaphore_destroy(cardlessSemaphore handle);
CUresult em_virtual_semaphore_export(cardlessSemaphore handle, int *out);
CUresult em_virtual_semaphore_signal(cardlessSemaphore handle, uint64_t value);
CUresult em_virtual_semaphore_wait(cardlessSemaphore handle, uint64_t value, uint64_t timeout_ns);
CUresult em_virtual_semaphore_value(cardlessSemaphore handle, uint64_t *out);
