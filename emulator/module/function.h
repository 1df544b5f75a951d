// SPDX-License-Identifier: MIT
// Functions and their attributes.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "module.h"

struct em_device;

// ---- Precondition: em_lock held ----

// A function without its facts, which em_function_load fills in.
CUresult em_function_new(struct em_module *m, struct em_code *code, struct em_function **out);
// Makes a kernel ready to run on a device, or says why it cannot run.
CUresult em_code_load(struct em_code *code, const struct em_device *device);
CUresult em_function_load(struct em_function *f);
// Finds a function, and loads it if it is not loaded yet.
CUresult em_function_find(CUfunction handle, CUresult code, struct em_function **out);
// "The API can also be used with context-less kernel CUkernel … by casting to CUfunction. Here, the
// context to use for calculations will be the current context."
CUresult em_function_or_kernel(CUfunction handle, CUresult code, struct em_function **out);
// Finds the function that a launch names: a CUfunction, or a library's kernel, whose function in
// the current context it then returns (recorded: library/kernel-as-function).
CUresult em_function_to_launch(CUfunction handle, struct em_function **out);

// The settings that a launch obeys. Those that were set for the function are its own; the others
// are those of the library's kernel, if there is one (recorded: kernel_detached
// detached/set-8-1-0).
struct em_function_settings em_function_settings(const struct em_function *f);
// The same without a copy, if there is no need for one: in `space` otherwise.
static inline const struct em_function_settings *
em_function_settings_in(const struct em_function *f, struct em_function_settings *space)
{
    if (!f->inherited)
        return &f->own;
    *space = em_function_settings(f);
    return space;
}
void em_function_settings_init(struct em_function_settings *settings, const struct em_code *code);
// An attribute of a kernel on a device, and a change of it. Both report attributes that do not
// exist, and values out of range.
CUresult em_code_get_attribute(const struct em_code *code, const struct em_function_settings *s,
                               const struct em_device *device, CUfunction_attribute attribute,
                               int *out);
CUresult em_code_set_attribute(const struct em_code *code, struct em_function_settings *s,
                               const struct em_device *device, CUfunction_attribute attribute,
                               int value);
CUresult em_code_parameter(const struct em_code *code, size_t index, size_t *offset_B,
                           size_t *size_B);
// How many threads a block may have. The launch of a block of more threads fails with *error.
unsigned em_code_most_threads(const struct em_code *code, const struct em_device *device);
// Whether the registers of so many threads fit a block. Takes no division, unlike the one above.
bool em_code_registers_fit(const struct em_code *code, const struct em_device *device,
                           uint64_t threads);

// ---- Precondition: em_lock not held ----

// Writes the name of a function or a library's kernel: "CUfunction #3 (scale)". Returns false if
// the handle is no such thing.
bool em_function_text(uint64_t handle, char *out, size_t size_B);
CUresult em_function_get_attribute(CUfunction f, CUfunction_attribute attribute, int *out);
CUresult em_function_set_attribute(CUfunction f, CUfunction_attribute attribute, int value);
CUresult em_function_name(CUfunction f, const char **out);
CUresult em_function_module(CUfunction f, CUmodule *out);
CUresult em_function_parameter(CUfunction f, size_t index, size_t *offset_B, size_t *size_B);
CUresult em_function_is_loaded(CUfunction f, bool *out);
// Checks that the function exists, and loads it: cuFuncLoad, cuFuncSetCacheConfig …
CUresult em_function_check(CUfunction f, CUresult code);
CUresult em_cache_config_check(CUfunc_cache config);

// The calls of CUDA 3, which set a launch up one by one.
CUresult em_function_set_block(CUfunction f, int x, int y, int z);
CUresult em_function_set_shared(CUfunction f, unsigned size_B);
CUresult em_function_set_parameters_size(CUfunction f, unsigned size_B);
CUresult em_function_set_parameter(CUfunction f, int offset_B, const void *value, unsigned size_B);
