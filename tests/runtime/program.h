// SPDX-License-Identifier: MIT
// The data and calls that a CUDA compiler adds to an object file, made by hand from PTX texts.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt_exports.h"

// A fat binary: a head, and one entry of the kind PTX that is not compressed.
struct program_container {
    uint32_t magic;
    uint16_t version, head_B;
    uint64_t rest_B;
    struct {
        uint16_t kind, version;
        uint32_t head_B;
        uint64_t size_B;
        uint32_t compressed_B, options_at;
        uint16_t minor, major;
        uint32_t architecture, name_at, name_B;
        uint64_t flags, reserved, plain_B;
    } entry;
    char text[];
};

// The compiler's struct that refers to fat binaries.
struct program_wrapper {
    uint32_t magic, version;
    const void *data;
    void *more; // version 2: a list of fat binaries to be linked, that ends with NULL
};

static inline struct program_container *program_container(const char *text)
{
    const size_t size_B = (strlen(text) + 8) / 8 * 8;
    struct program_container *c = calloc(1, sizeof *c + size_B);
    if (!c)
        abort();
    c->magic = 0xba55ed50;
    c->version = 1;
    c->head_B = 16;
    c->rest_B = sizeof c->entry + size_B;
    c->entry.kind = 1;
    c->entry.version = 0x101;
    c->entry.head_B = sizeof c->entry;
    c->entry.size_B = size_B;
    c->entry.architecture = 75;
    c->entry.flags = 0x11;
    memcpy(c->text, text, strlen(text));
    return c;
}

static inline struct program_wrapper program_wrapper(const char *text)
{
    return (struct program_wrapper){0x466243b1, 1, program_container(text), NULL};
}

static inline void program_finish(struct program_wrapper *w)
{
    free((void *)w->data);
}

static inline void program_function(void **handle, const void *host, const char *name)
{
    __cudaRegisterFunction(handle, host, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL,
                           NULL);
}

static inline void program_variable(void **handle, void *host, const char *name, size_t size_B)
{
    __cudaRegisterVar(handle, host, (char *)(uintptr_t)name, name, 0, size_B, 0, 0);
}

// `*host` becomes the address of the variable's memory when the program first uses it.
static inline void program_managed(void **handle, void **host, const char *name, size_t size_B)
{
    __cudaRegisterManagedVar(handle, host, (char *)(uintptr_t)name, name, 0, size_B, 0, 0);
}

// The host function of a kernel: compiled code calls it for kernel<<<…>>>(…), after it has passed
// the configuration to __cudaPushCallConfiguration.
static inline cudaError_t program_launch(cudaKernel_t *kernel, const void *host, void **arguments)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    if (!*kernel)
        (void)__cudaGetKernel(kernel, host);
    const cudaError_t error = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    return error ? error : __cudaLaunchKernel(*kernel, grid, block, arguments, shared, stream);
}
