// SPDX-License-Identifier: MIT
// Attributes of pointers: the manual's chapter "Unified Addressing".
#pragma once
#include <cuda.h>

// cuPointerGetAttribute: an address that the driver does not know is an error. Takes the lock.
CUresult em_pointer_attribute(CUpointer_attribute attribute, CUdeviceptr address, void *data);
// cuPointerGetAttributes: an address that the driver does not know has its attributes too. `count`
// is not 0. Takes the lock.
CUresult em_pointer_attributes(unsigned count, const CUpointer_attribute *attributes, void **data,
                               CUdeviceptr address);
// cuPointerSetAttribute. Takes the lock.
CUresult em_pointer_set_attribute(CUpointer_attribute attribute, CUdeviceptr address,
                                  const void *value);
