// SPDX-License-Identifier: MIT
// Images of PTX texts that the interpreter runs.
#pragma once
#include <cuda.h>

#include "code.h"
#include "program.h"
#include "texts.h"

struct px_module;

// Precondition of all: em_lock not held.

// Makes an image, which takes over the bytes of the texts, also on failure. Several are linked.
CUresult em_ptx_image(struct em_texts *texts, const struct em_load *load, struct em_image **out);

// Reads texts as one module. px_module_free should free it.
CUresult em_ptx_parse(const struct em_texts *texts, enum px_link link, struct px_module **out);
// Reports the first kernel with a mistake.
CUresult em_ptx_check_kernels(struct px_module *text);
// Whether the texts may be compiled for an architecture.
CUresult em_ptx_check_target(const struct px_module *text, unsigned architecture);
