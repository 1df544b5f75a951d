// SPDX-License-Identifier: MIT
// Attributes of pointers: the manual's chapter "Unified Addressing".
#pragma once
#include <cuda.h>

// cuPointerGetAttribute. Returns an error if the driver does not know the address. Takes the lock.
CUresult em_pointer_attribute(CUpointer_attribute attribute, CUdeviceptr address, void *data);
// cuPointerGetAttributes. If the driver does not know the address, it returns default values.
// `count` is not 0. Takes the lock.
CUresult em_pointer_attributes(unsigned count, const CUpointer_attribute *attributes, void **data,
                               CUdeviceptr address);
// cuPointerSetAttribute. Takes the lock.
CUresult em_pointer_set_attribute(CUpointer_attribute attribute, CUdeviceptr address,
                                  const void *value);
