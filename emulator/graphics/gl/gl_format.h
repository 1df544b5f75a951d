// SPDX-License-Identifier: MIT
// Internal formats of OpenGL: their channels, and the CUDA array with the same elements.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum gl_kind {
    GL_KIND_UNORM,
    GL_KIND_SNORM,
    GL_KIND_FLOAT,
    GL_KIND_UINT,
    GL_KIND_SINT,
    GL_KIND_DEPTH, // depth, stencil or both
    GL_KIND_OTHER, // compressed, shared exponent
};

// The colours that a format holds.
enum gl_base {
    GL_BASE_R,
    GL_BASE_RG,
    GL_BASE_RGB,
    GL_BASE_RGBA,
    GL_BASE_ALPHA,
    GL_BASE_LUMINANCE,
    GL_BASE_LUMINANCE_ALPHA,
    GL_BASE_INTENSITY,
    GL_BASE_STENCIL
};

struct gl_format {
    uint32_t number; // the internal format
    enum gl_base base;
    enum gl_kind kind;
    uint8_t bits[4]; // of each channel
};

// The elements of a CUDA array, and the OpenGL format in which they are copied.
struct gl_transfer {
    uint32_t format, type; // for glGetTexImage, glTexSubImage and glReadPixels
    CUarray_format array_format;
    unsigned channels;
    unsigned element_B;
};

// The properties of a sized internal format. NULL if it is unknown or not sized.
const struct gl_format *em_gl_format(uint32_t number);
// The CUDA array that shows images of a format. Returns false if CUDA has no such array.
bool em_gl_format_transfer(const struct gl_format *format, struct gl_transfer *out);
// Whether a format stores its colours by the sRGB curve.
bool em_gl_format_is_srgb(uint32_t number);
