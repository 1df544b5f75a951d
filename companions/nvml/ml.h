// SPDX-License-Identifier: MIT
// What the files of libnvidia-ml.so.1 share. The library has no state but the count of its
// initialisations: it asks libcuda.so.1 (cardless.h, "monitoring") at every call.
#pragma once
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <cardless.h>
#include <nvml.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

nvmlReturn_t ml_check_started(void);

// The ordinal of a handle, or -1 if it is not one. A handle is never dereferenced.
int ml_card_of(nvmlDevice_t device);
nvmlDevice_t ml_handle_of(int card);

int ml_card_count(void);
nvmlReturn_t ml_result(CUresult result);
// "NVML_ERROR_INSUFFICIENT_SIZE if length is too small".
nvmlReturn_t ml_copy_text(const char *text, char *out, unsigned length);
