/* SPDX-License-Identifier: MIT */
/* The manual's chapter "VDPAU Interoperability". */
#ifndef CUDAVDPAU_H
#define CUDAVDPAU_H

#include <cuda.h>
#include <vdpau/vdpau.h>

#include "cudaVDPAU_functions.h"

#endif
