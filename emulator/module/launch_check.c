// SPDX-License-Identifier: MIT
// Checks grids, blocks, shared memory, clusters and arguments.
#include "launch_check.h"

#include <string.h>

#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "function.h"
#include "lock.h"
#include "occupancy.h"
#include "pointer_check.h"
#include "record_content.h"

// ---- extents ----

static CUresult check_extent(struct em_extent3 e, const char *name, const struct em_device *device,
                             enum dm_attribute first)
{
    const unsigned list[] = {e.x, e.y, e.z};
    for (int i = 0; i < 3; i++) {
        unsigned most = (unsigned)em_device_attribute(device, (enum dm_attribute)((int)first + i));
        if (!list[i] || list[i] > most)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "%s%c (%u) must be from 1 to %u", name,
                           "XYZ"[i], list[i], most);
    }
    return CUDA_SUCCESS;
}

// "The amount of local memory per thread is limited to 512 KB."
enum { LOCAL_MOST_B = 512 << 10 };

static CUresult check_threads(struct em_extent3 threads, const struct em_code *code,
                              const struct em_device *device)
{
    const unsigned *required = code->required_threads;
    uint64_t count = em_extent_volume(threads);
    unsigned most = (unsigned)em_device_attribute(device, DM_ATTRIBUTE_max_threads_per_block);
    if (count > most)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a block of %u x %u x %u threads exceeds %u",
                       threads.x, threads.y, threads.z, most);
    if (code->most_threads && count > code->most_threads)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a block of %llu threads exceeds the %u for which kernel %s was built",
                       (unsigned long long)count, code->most_threads, code->name);
    // A block of one thread passes (recorded: launch_params/reqntid-64).
    if (required[0] && count > 1 &&
        (threads.x != required[0] || threads.y != required[1] || threads.z != required[2]))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a block of %u x %u x %u threads is not the %u x %u x %u for which kernel "
                       "%s was built",
                       threads.x, threads.y, threads.z, required[0], required[1], required[2],
                       code->name);
    if (code->local_B > LOCAL_MOST_B)
        return em_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                       "kernel %s has %u bytes of local memory; a thread has at most %d",
                       code->name, code->local_B, LOCAL_MOST_B);
    if (!em_code_registers_fit(code, device, count))
        return em_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                       "a block of %llu threads with %u registers each exceeds the registers of a "
                       "block; kernel %s can have %u threads",
                       (unsigned long long)count, code->registers, code->name,
                       em_code_most_threads(code, device));
    return CUDA_SUCCESS;
}

// ---- clusters ----

static const struct em_extent3 no_cluster;

// The launch's own cluster, or the one that the function requires; 0: no clusters.
static struct em_extent3 cluster_of(const struct em_launch_config *c,
                                    const struct em_function_settings *settings)
{
    const struct em_extent3 e = c->attributes.cluster;
    const int *required = settings->cluster;
    if (e.x || e.y || e.z)
        return e;
    return (struct em_extent3){(unsigned)required[0], (unsigned)required[1], (unsigned)required[2]};
}

static CUresult check_cluster(const struct em_launch_config *c, const struct em_function *f,
                              struct em_extent3 e)
{
    const unsigned *required = f->code->required_cluster;
    if (required[0] && (e.x != required[0] || e.y != required[1] || e.z != required[2]))
        return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "a cluster of %u x %u x %u blocks is not the %u x %u x %u for which kernel "
                       "%s was built",
                       e.x, e.y, e.z, required[0], required[1], required[2], f->code->name);
    if (e.x || e.y || e.z)
        return em_occupancy_check_cluster(f, e, c->blocks);
    // ".explicitcluster: the kernel must be launched with the cluster dimension specified,
    // otherwise a runtime error occurs." (Not recorded: the code.)
    if (f->code->needs_cluster)
        return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "kernel %s must be launched with clusters (.explicitcluster); pass "
                       "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION to cuLaunchKernelEx, or set "
                       "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, _HEIGHT and _DEPTH",
                       f->code->name);
    return CUDA_SUCCESS;
}

// ---- the order of checks (recorded: launch_dims, launch_params) ----

static bool is_same(struct em_extent3 a, struct em_extent3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether the checks have passed a launch like this one.
static bool has_passed(const struct em_launch_config *c, const struct em_function *f)
{
    return f->passed && !c->attributes.given && !c->attributes.cooperative &&
           c->shared_B == f->passed_shared_B && is_same(c->blocks, f->passed_blocks) &&
           is_same(c->threads, f->passed_threads) && is_same(c->attributes.cluster, no_cluster);
}

static void note_passed(const struct em_launch_config *c, struct em_function *f)
{
    f->passed = !f->inherited && !c->attributes.given && !c->attributes.cooperative &&
                is_same(c->attributes.cluster, no_cluster);
    f->passed_blocks = c->blocks;
    f->passed_threads = c->threads;
    f->passed_shared_B = c->shared_B;
}

CUresult em_launch_check(const struct em_launch_config *c, struct em_function *f,
                         struct em_extent3 *cluster)
{
    em_assert_locked();
    if (em_likely(has_passed(c, f))) {
        *cluster = cluster_of(c, &f->own);
        return CUDA_SUCCESS;
    }
    struct em_function_settings space;
    const struct em_function_settings *settings = em_function_settings_in(f, &space);
    *cluster = cluster_of(c, settings);
    const struct em_device *device = f->object.context->device;
    CUresult r = check_extent(c->blocks, "gridDim", device, DM_ATTRIBUTE_max_grid_dim_x);
    if (!r)
        r = check_extent(c->threads, "blockDim", device, DM_ATTRIBUTE_max_block_dim_x);
    if (!r)
        r = check_threads(c->threads, f->code, device);
    if (!r)
        r = check_cluster(c, f, *cluster);
    if (!r && c->attributes.cooperative)
        r = em_occupancy_check_cooperative(f, c->blocks, c->threads, c->shared_B);
    if (!r && c->shared_B > (unsigned)settings->most_dynamic_shared_B)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "sharedMemBytes (%u) exceeds the %d bytes that kernel %s may use; raise them "
                    "with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
                    c->shared_B, settings->most_dynamic_shared_B, f->code->name);
    if (!r)
        note_passed(c, f);
    return r;
}

// ---- arguments ----

struct buffer {
    const void *bytes;
    size_t size_B;
    bool has_size;
};

static CUresult read_extra(void *const *extra, struct buffer *out)
{
    *out = (struct buffer){.bytes = NULL};
    for (;; extra += 2) {
        CUresult r = em_readable_object("extra", extra, sizeof *extra);
        if (r || *extra == CU_LAUNCH_PARAM_END)
            return r;
        r = em_readable_object("extra", extra, 2 * sizeof *extra);
        if (!r && *extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            r = em_readable_object("CU_LAUNCH_PARAM_BUFFER_SIZE", extra[1], sizeof(size_t));
        if (r)
            return r;
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            out->bytes = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            *out = (struct buffer){out->bytes, *(const size_t *)extra[1], true};
        else
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "extra has the name %#llx with the value %#llx, which is not a "
                           "CU_LAUNCH_PARAM_*",
                           (unsigned long long)(uintptr_t)*extra,
                           (unsigned long long)(uintptr_t)extra[1]);
    }
}

// For replays: the list with the size that it points to, and the buffer.
static void record_extra(void *const *extra, const struct buffer *b)
{
    unsigned count = 0;
    for (; extra[count] != CU_LAUNCH_PARAM_END; count += 2)
        if (extra[count] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            em_record_range(RF_READS, extra[count + 1], sizeof(size_t));
    em_record_range(RF_ADDRESSES, extra, (count + 1) * sizeof *extra);
    em_record_range(RF_READS, b->bytes, b->size_B);
}

static void record_parameters(const struct em_launch_config *c, const struct em_code *code)
{
    em_record_range(RF_ADDRESSES, c->parameters, code->parameter_count * sizeof *c->parameters);
    for (unsigned i = 0; i < code->parameter_count; i++)
        em_record_range(RF_READS, c->parameters[i], code->parameters[i].size_B);
}

// (recorded: launch_params/extra-sizes, launch_missing)
static CUresult copy_extra(void *const *extra, const struct em_code *code, unsigned char *to)
{
    struct buffer b;
    CUresult r = read_extra(extra, &b);
    if (r)
        return r;
    const char *fault =
        b.has_size ? "a CU_LAUNCH_PARAM_BUFFER_SIZE of 0" : "no CU_LAUNCH_PARAM_BUFFER_SIZE";
    if (!b.bytes)
        fault = "no CU_LAUNCH_PARAM_BUFFER_POINTER";
    if (code->parameters_B && (!b.bytes || !b.size_B))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "extra has %s, but kernel %s has %u bytes of parameters", fault, code->name,
                       code->parameters_B);
    if (b.size_B > EM_PARAMETERS_MOST_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the buffer of extra has %zu bytes; kernels have at most %u", b.size_B,
                       (unsigned)EM_PARAMETERS_MOST_B);
    if (b.bytes && b.size_B > code->parameters_B)
        return em_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                       "the buffer of extra has %zu bytes; the parameters of kernel %s take %u",
                       b.size_B, code->name, code->parameters_B);
    if (b.bytes && b.size_B < code->parameters_B)
        em_explain_of(code, CUDA_SUCCESS,
                      "the buffer of extra has %zu bytes; the parameters of kernel %s take %u, and "
                      "the rest of them is 0",
                      b.size_B, code->name, code->parameters_B);
    r = em_readable_object("CU_LAUNCH_PARAM_BUFFER_POINTER", b.bytes, b.size_B);
    if (r)
        return r;
    if (em_recording_contents && b.bytes)
        record_extra(extra, &b);
    if (b.bytes)
        memcpy(to, b.bytes, b.size_B);
    else
        b.size_B = 0;
    memset(to + b.size_B, 0, code->parameters_B - b.size_B);
    return CUDA_SUCCESS;
}

// Most arguments have 8 or 4 bytes, which take less time than a call of memcpy.
static void copy_argument(unsigned char *to, const void *from, unsigned size_B)
{
    if (size_B == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (size_B == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        memcpy(to, from, size_B);
}

CUresult em_launch_arguments(const struct em_launch_config *c, const struct em_function *f,
                             unsigned char *to)
{
    em_assert_locked();
    const struct em_code *code = f->code;
    if (c->parameters && c->extra)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "kernelParams and extra must not both be given; pass NULL for one of them");
    if (c->extra)
        return copy_extra(c->extra, code, to);
    if (code->parameter_count && !c->parameters)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "kernelParams is NULL, but kernel %s has %u "
                       "parameters",
                       code->name, code->parameter_count);
    CUresult r = em_readable_object("kernelParams", c->parameters,
                                    code->parameter_count * sizeof *c->parameters);
    for (unsigned i = 0; i < code->parameter_count && !r; i++) {
        if (!c->parameters[i])
            return em_fail(CUDA_ERROR_INVALID_VALUE, "kernelParams[%u] is NULL (kernel %s)", i,
                           code->name);
        r = em_readable_object("an element of kernelParams", c->parameters[i],
                               code->parameters[i].size_B);
        if (r)
            break;
        copy_argument(to + code->parameters[i].offset_B, c->parameters[i],
                      code->parameters[i].size_B);
    }
    if (!r && em_recording_contents && code->parameter_count)
        record_parameters(c, code);
    return r;
}
