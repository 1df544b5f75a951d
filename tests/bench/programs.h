// SPDX-License-Identifier: MIT
// The machines on which the benchmark of kernels runs the same cases: this driver, with the kernels
// of programs.ptx, and an OpenCL platform for processors, with those of programs.cl.
#pragma once
#include <stddef.h>

enum { BENCH_BUFFERS = 3 };

// Every kernel has three pointers and a number as its arguments.
struct bench_launch {
    const char *kernel;
    unsigned blocks[2], threads[2];
    void *buffers[BENCH_BUFFERS];
    int n;
};

struct bench_machine {
    const char *name;
    // Returns whether the machine exists. `path` is a file with kernels.
    int (*open)(const char *path);
    // Returns whether there is such a kernel.
    int (*has)(const char *kernel);
    void *(*buffer)(const void *bytes, size_t size_B);
    void (*read)(void *buffer, void *to, size_t size_B);
    void (*free)(void *buffer);
    void (*launch)(const struct bench_launch *launch); // without a wait
    void (*wait)(void);
};

extern const struct bench_machine bench_cuda, bench_opencl;

// The text of a file with a zero at its end. Ends the program if there is no such file.
char *bench_text(const char *path);
