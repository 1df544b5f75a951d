/* SPDX-License-Identifier: MIT */
/* The manual's chapter "OpenGL Interoperability". */
#ifndef CUDAGL_H
#define CUDAGL_H

#include <cuda.h>
#include <GL/gl.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "cardless/abi/gl.h"

#ifdef __cplusplus
}
#endif

#include "cudaGL_functions.h"

#endif
