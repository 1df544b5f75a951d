// SPDX-License-Identifier: MIT
// Images: the kernels and variables of a module, in the form that all kinds of images share. An
// image belongs to no context and never changes, so the modules of several contexts share it.
//
//     image (table of host functions, later PTX) ──em_image_…──▶ struct em_image
//                                                                   │ em_code: one a kernel
//                                                                   ▼
//     cuLaunchKernel ──▶ struct em_grid ──▶ code->executor->run(grid)
//
// An executor runs grids of its kernels. It knows neither streams nor handles.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EM_PARAMETERS_MOST_B = 32764 }; // of a kernel (recorded: load_ptx/param-32764-version-8.1)

// The registers that a thread may have (CU_JIT_MAX_REGISTERS); `most` is 0 without that option. A
// kernel's own limit (.maxnreg) is stronger, unless CU_JIT_OVERRIDE_DIRECTIVE_VALUES is set.
struct em_register_limit {
    unsigned most;
    bool overrides;
};

// How an image should be loaded.
struct em_load {
    unsigned architecture; // of the device, 90 for sm_90
    bool has_target;
    unsigned target;                    // CU_JIT_TARGET, as an architecture
    struct em_register_limit registers; // of texts that are compiled now, not linked before
};

// How a kernel uses a parameter.
enum em_parameter_use {
    EM_PARAMETER_VALUE,
    EM_PARAMETER_READS,  // an address: the kernel only reads there
    EM_PARAMETER_WRITES, // an address: the kernel reads and writes there
};

struct em_parameter {
    uint32_t offset_B, size_B; // in the launch's block of arguments
    enum em_parameter_use use;
    // Of an address: the kernel accesses only so many bytes from there on, times the value of
    // another parameter. 0: any byte of the memory in which it lies.
    uint32_t accessed_B;
    uint32_t times; // 1 + the index of that parameter; 0: once
};

struct em_code;
struct em_command;
struct em_context;
struct em_device;
struct em_grid;
struct em_executor {
    // Runs all blocks of a grid. Reports faults with em_fail. Precondition: em_lock not held.
    CUresult (*run)(const struct em_grid *grid);
    // Makes the kernel ready to run on a device, and fills in the facts of its code. Called before
    // a function is made of it; may be NULL.
    CUresult (*prepare)(struct em_code *code, const struct em_device *device);
    // Whether kernels may run after the launch has released em_lock: they run no code of the
    // program, and take no other lock of the driver unless they use objects, print or allocate.
    bool detaches;
    // Writes an argument for the trace.
    void (*print)(const struct em_code *code, unsigned parameter, const void *value, char *out,
                  size_t size_B);
};

// One kernel.
struct em_code {
    const char *name;
    const struct em_executor *executor;
    const struct em_parameter *parameters;
    unsigned parameter_count;
    unsigned parameters_B; // the block of arguments, without padding after the last one
    unsigned static_shared_B, constant_B, local_B, registers;
    unsigned most_threads;                // of a block; 0: as many as the device allows
    unsigned required_threads[3];         // of a block; 0: any
    unsigned required_cluster[3];         // 0: any
    unsigned most_cluster;                // blocks of a cluster; 0: as many as the device allows
    bool needs_cluster;                   // launches must name the size of clusters
    unsigned target;                      // the architecture that its text names; 0: the device's
    const struct px_object_uses *objects; // textures and surfaces that it uses; may be NULL
    bool prints, allocates;               // calls printf, or malloc or free
    bool never_faults;                    // needs no guarded call (guard.h)
    bool notes_writes;                    // for CARDLESS_CHECK=memory, which bytes it writes
};

// The address of a variable plus an offset, in another variable's initial value: size_B bytes of it
// after it is shifted to the right.
struct em_relocation {
    uint64_t at_B;
    uint32_t size_B, shift;
    int variable; // -1: the offset alone
    int64_t offset;
};

enum em_variable_kind {
    EM_VARIABLE_MEMORY,
    EM_VARIABLE_TEXTURE, // a texture reference, without memory
    EM_VARIABLE_SURFACE, // a surface reference
    EM_VARIABLE_INNER,   // without memory of the module, and not found by its name: shared
                         // memory, for example
};

struct em_variable {
    const char *name;
    enum em_variable_kind kind;
    uint64_t size_B, alignment_B;
    const void *initial; // the first initial_B of its bytes; the rest are zeros
    uint64_t initial_B;
    int address_of; // the variable whose address is the initial value, or -1
    bool constant;
    bool managed;
    bool hidden; // not found by its name
    const struct em_relocation *relocations;
    unsigned relocation_count;
};

struct em_image {
    uint32_t references; // under em_lock
    struct em_code **codes;
    unsigned code_count;
    struct em_variable *variables;
    unsigned variable_count;
    void (*free)(struct em_image *image); // Precondition: em_lock not held
    struct em_image *next_unused;         // without references, and not freed yet
};

// Three extents or positions; the first one varies fastest.
struct em_extent3 {
    unsigned x, y, z;
};

// Instead of an address, a texture or surface reference has a number in em_module.variables.
#define EM_REFERENCE_NUMBER(variable) (UINT64_C(0xfffff00000000000) + (variable))

// A texture or surface that an argument of a launch names, or that a reference was bound to. The
// launch keeps it, even if the program destroys it.
struct em_launch_object {
    uint64_t handle;          // or the number of a reference
    int kind;                 // enum kn_object_kind
    struct em_object *object; // a reference; NULL if there is no such object
};

// One launch, as an executor sees it.
struct em_grid {
    const struct em_code *code;
    struct em_extent3 blocks, threads;
    struct em_extent3 cluster; // in blocks; 0: no clusters
    unsigned dynamic_shared_B;
    bool cooperative;          // all blocks run at the same time
    const void *arguments;     // parameters_B bytes
    const uint64_t *variables; // the addresses of the image's variables
    unsigned variable_count;
    const struct em_launch_object *objects;
    unsigned object_count;
    unsigned multiprocessors;         // of the device
    struct em_context *context;       // whose textures and surfaces handles name
    const struct em_command *command; // that launches it
};

static inline uint64_t em_extent_volume(struct em_extent3 e)
{
    return (uint64_t)e.x * e.y * e.z;
}
