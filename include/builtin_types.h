/* SPDX-License-Identifier: MIT */
/* All types of the runtime API. */
#ifndef CARDLESS_BUILTIN_TYPES_H
#define CARDLESS_BUILTIN_TYPES_H

#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
