// SPDX-License-Identifier: MIT
// Registry: the fat binaries of the program, and the kernels and variables in them.
//
// A CUDA compiler adds code to each object file that registers its fat binary, kernels and
// variables while the program or a shared library loads, before main. The program then names a
// kernel by the address of its host function, and a variable by the address of its host copy.
//
// Registering does not call the driver. A fat binary is loaded when the program first uses a kernel
// or variable of it (fat_binary.h).
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) rt_registry_out_of_memory()
#include <uthash.h>

// A registered fat binary. Compiled code keeps its address as a handle.
struct rt_binary {
    struct rt_binary *handle;  // its own address, by which it is found
    const void *image;         // the wrapper that the compiler wrote
    struct rt_symbol *symbols; // registered with this binary
    unsigned references;       // the registration, and loads in progress
    _Atomic(CUlibrary) library;
    struct rt_binary *next_retired; // after nothing refers to it any more (fat_binary.c)
    UT_hash_handle hh;
};

enum rt_symbol_kind { RT_FUNCTION, RT_VARIABLE, RT_MANAGED, RT_HOST_VARIABLE };

// A kernel or variable of a fat binary.
struct rt_symbol {
    const void *host; // the address by which the program names it
    const char *name; // in the fat binary; a string of the object file that registered it
    size_t size;      // of a variable
    enum rt_symbol_kind kind;
    struct rt_binary *binary;
    struct rt_symbol *next;      // of the same binary
    struct rt_symbol *same_host; // registered later for the same address
    // After the first use: the CUkernel of a function, or the memory of a managed variable.
    void *_Atomic device;
    UT_hash_handle hh;        // by `host`
    UT_hash_handle by_device; // by `device`
};

// Registers a fat binary. Returns NULL if out of memory.
struct rt_binary *rt_registry_add(const void *image);

// Unregisters a binary and its symbols, and retires it when no load is in progress. Ignores unknown
// handles.
void rt_registry_remove(void **handle);

// Returns the binary with this handle and takes a reference, or returns NULL.
struct rt_binary *rt_registry_hold(void **handle);
void rt_registry_release(struct rt_binary *binary);

// Takes a reference to the binary that was registered after `previous` (NULL: to the first one),
// and drops the one to `previous`. Returns NULL after the last one.
struct rt_binary *rt_registry_next(struct rt_binary *previous);

// Registers a kernel or variable. Ignores unknown handles.
void rt_registry_symbol(void **handle, enum rt_symbol_kind kind, const void *host, const char *name,
                        size_t size);

// Returns the symbol that the program names by `host`, or NULL. C++ code may also name a managed
// variable by the address of its memory.
//
// Takes no lock if this thread looked the symbol up before. The symbol stays valid until its binary
// is unregistered; the program must not use the symbol any more then.
struct rt_symbol *rt_registry_find(const void *host);

// Returns the symbol with this CUkernel or managed memory, or NULL.
struct rt_symbol *rt_registry_find_device(const void *device);
void rt_registry_set_device(struct rt_symbol *symbol, void *device);

// True if memory ran out during a registration, so that symbols are missing.
bool rt_registry_incomplete(void);

// Called by uthash.
void rt_registry_out_of_memory(void);
