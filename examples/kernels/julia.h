// SPDX-License-Identifier: MIT
// A picture that a kernel in PTX draws through a surface, and the same picture computed on the CPU.
//
// The kernels know nothing about the memory below the surface: it belongs to Vulkan, to OpenGL or
// to CUDA.
#pragma once
#include <cuda.h>
#include <stdint.h>

// Ends the program if a call has failed.
void julia_check(CUresult result, const char *what, const char *file, int line);

struct julia {
    CUmodule module;
    CUfunction draw, halve;
};

// Loads the kernels into the current context, which should still be current at julia_close.
void julia_open(struct julia *julia);
void julia_close(struct julia *julia);

// Draws a Julia set into a whole 2D array of RGBA8, which must allow surface accesses
// (CUDA_ARRAY3D_SURFACE_LDST). The set's parameter depends on `frame`.
void julia_draw(const struct julia *julia, CUarray array, uint32_t frame, CUstream stream);
// Makes an array of half the size: each texel is the mean of four, which the texture unit computes.
void julia_halve(const struct julia *julia, CUarray from, CUarray to, CUstream stream);

// Computes the same on the CPU. Texels of julia_draw are equal on every device, because the kernel
// computes with integers. Those of julia_halve may differ by one, because the last bit of a
// filtered value belongs to the device.
void julia_expected(uint8_t *rgba, uint32_t width, uint32_t height, uint32_t frame);
void julia_expected_half(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t height);
