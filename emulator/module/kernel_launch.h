// SPDX-License-Identifier: MIT
// Launches: checks, the command, and the parameters of kernel nodes.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "command.h"
#include "module.h"

enum { EM_LAUNCH_ATTRIBUTES = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING + 1 };

// The attributes of a launch that have been checked. The others change nothing here.
struct em_launch_attributes {
    bool cooperative;
    struct em_extent3 cluster;      // 0: no cluster
    CUevent completion[2];          // programmatic and launch completion; or NULL
    unsigned given;                 // bits: attributes that have a value
    CUlaunchAttributeValue *values; // EM_LAUNCH_ATTRIBUTES of them; may be NULL
};

// The arguments of a launch.
struct em_launch_config {
    CUfunction function; // or a library's kernel
    struct em_extent3 blocks, threads;
    unsigned shared_B;
    void **parameters, **extra;
    struct em_launch_attributes attributes;
};

// Launches a kernel in a stream, or adds a node if the stream is captured. Precondition: em_lock
// not held.
CUresult em_launch(const struct em_launch_config *config, struct em_stream *stream);
// cuLaunch and its like: with the arguments that have been set one by one.
CUresult em_launch_old(CUfunction function, int width, int height, struct em_stream *stream);

// Takes over an attribute. `in_graph`: of a kernel node, which may have one more; em_lock is held
// then, and otherwise not.
CUresult em_launch_set_attribute(struct em_launch_attributes *attributes, CUlaunchAttributeID id,
                                 const CUlaunchAttributeValue *value, bool in_graph);

// ---- kernel nodes. Precondition: em_lock held ----

// A launch that has been checked, with its arguments.
struct em_launch_kept {
    struct em_function *function; // a reference
    struct em_launch_config config;
    bool named_kernel; // by a CUkernel
    CUlaunchAttributeValue values[EM_LAUNCH_ATTRIBUTES];
    unsigned char *arguments;
    void **pointers; // to the arguments, for the program
};
CUresult em_launch_keep(const struct em_launch_config *config, struct em_launch_kept **out);
CUresult em_launch_keep_copy(const struct em_launch_kept *kept, struct em_launch_kept **out);
void em_launch_keep_free(struct em_launch_kept *kept);
// The handle of the context of a kept launch.
uint64_t em_launch_context(const struct em_launch_kept *kept);
// Makes the command of a kept launch.
CUresult em_launch_prepare(const struct em_launch_kept *kept, struct em_command **out);
