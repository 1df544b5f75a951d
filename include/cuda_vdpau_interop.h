/* SPDX-License-Identifier: MIT */
/* The manual's chapter "VDPAU Interoperability". */
#ifndef __CUDA_VDPAU_INTEROP_H__
#define __CUDA_VDPAU_INTEROP_H__

#include "cuda_runtime_api.h"
#include <vdpau/vdpau.h>

#include "cuda_vdpau_interop_functions.h"

#endif
