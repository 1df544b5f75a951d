// SPDX-License-Identifier: MIT
// Shared by the files of libnvJitLink.so.13, which are compiled a second time for
// libnvJitLink.so.12, with JL_MAJOR and JL_MINOR. The library is a client of libcuda.so.1: a handle
// is a CUlinkState, in a context of its own, so that the program's contexts stay as they are.
#pragma once
#define NVJITLINK_NO_INLINE
#include <cardless.h>
#include <cuda.h>
#include <nvJitLink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef JL_MAJOR
#define JL_MAJOR 13
#define JL_MINOR 0
#endif
#define JL_TEXT_OF(x) #x
#define JL_TEXT(x) JL_TEXT_OF(x)
#define JL_SONAME "libnvJitLink.so." JL_TEXT(JL_MAJOR)

struct jl_options {
    unsigned target;    // a CUjit_target, or 0 for an architecture that is not one
    unsigned registers; // the most of a thread, or 0
    bool lto, ptx;
};

// Reads the options of nvJitLinkCreate. `why` gets a sentence about an error.
nvJitLinkResult jl_options_read(uint32_t count, const char *const *options, struct jl_options *out,
                                char *why, size_t why_B);

// The type of an input by its first bytes, or NVJITLINK_INPUT_NONE.
nvJitLinkInputType jl_input_type(const void *data, size_t size);
// Whether bytes of the type `found` are an input of the type `wanted`.
bool jl_input_matches(nvJitLinkInputType found, nvJitLinkInputType wanted);
