// SPDX-License-Identifier: MIT
// Occupancy (recorded: x_streams occupancy/*).
#include "occupancy.h"

#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "function.h"
#include "lock.h"
#include "pointer_check.h"
#include "rank.h"

enum { WARP = 32, REGISTERS_UNIT = 256, CLUSTER_PORTABLE = 8, SHARED_ALWAYS_B = 48 << 10 };

static int attribute(const struct em_function *f, enum dm_attribute which)
{
    return em_device_attribute(f->object.context->device, which);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int greatest(int a, int b)
{
    return a > b ? a : b;
}

static int warps_of(int threads)
{
    return (threads + WARP - 1) / WARP;
}

// The blocks of a multiprocessor; 0 if not even one fits. The driver computes with 32 bits, so a
// huge size counts as a negative one, and fits (recorded: occupancy/dynamic). It asks neither for
// the kernel's launch bounds nor for an attribute that allows less dynamic shared memory than
// kernels have by default (recorded: x_runtime_k jit_functions/occupancy-bounds,
// occupancy-dynamic-shared-1024).
static int blocks_for(const struct em_function *f, int threads, size_t dynamic_B)
{
    const struct em_code *code = f->code;
    const int dynamic = (int)(unsigned)dynamic_B;
    const int most_dynamic_B = greatest(em_function_settings(f).most_dynamic_shared_B,
                                        SHARED_ALWAYS_B - (int)code->static_shared_B);
    if (threads > attribute(f, DM_ATTRIBUTE_max_threads_per_block) || dynamic > most_dynamic_B)
        return 0;
    int warps = warps_of(threads);
    int most = least(attribute(f, DM_ATTRIBUTE_max_blocks_per_multiprocessor),
                     attribute(f, DM_ATTRIBUTE_max_threads_per_multiprocessor) / WARP / warps);
    int registers = ((int)code->registers * WARP + REGISTERS_UNIT - 1) / REGISTERS_UNIT *
                    REGISTERS_UNIT * warps;
    if (registers)
        most = least(most, attribute(f, DM_ATTRIBUTE_max_registers_per_multiprocessor) / registers);
    int shared = (int)code->static_shared_B + dynamic +
                 attribute(f, DM_ATTRIBUTE_reserved_shared_memory_per_block);
    if (shared > 0)
        most =
            least(most, attribute(f, DM_ATTRIBUTE_max_shared_memory_per_multiprocessor) / shared);
    return most;
}

static CUresult check_flags(unsigned flags)
{
    if (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) has bits other than CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE",
                       flags);
    return CUDA_SUCCESS;
}

// ---- launches ----

CUresult em_occupancy_check_cooperative(const struct em_function *f, struct em_extent3 blocks,
                                        struct em_extent3 threads, unsigned shared_B)
{
    em_assert_locked();
    uint64_t most = (uint64_t)blocks_for(f, (int)em_extent_volume(threads), shared_B) *
                    (uint64_t)attribute(f, DM_ATTRIBUTE_multiprocessor_count);
    if (em_extent_volume(blocks) > most)
        return em_fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                       "%llu blocks cannot run at the same time: the device holds %llu blocks of "
                       "kernel %s with this size and shared memory",
                       (unsigned long long)em_extent_volume(blocks), (unsigned long long)most,
                       f->code->name);
    return CUDA_SUCCESS;
}

// The blocks of the largest cluster. ".maxclusterrank: the maximum number of blocks of a cluster";
// a non-portable size must be allowed all the same.
static unsigned cluster_most(const struct em_function *f)
{
    const unsigned most = !attribute(f, DM_ATTRIBUTE_cluster_launch) ? 0
                          : em_function_settings(f).non_portable     ? PX_CLUSTER_MOST
                                                                     : CLUSTER_PORTABLE;
    return f->code->most_cluster && f->code->most_cluster < most ? f->code->most_cluster : most;
}

CUresult em_occupancy_check_cluster(const struct em_function *f, struct em_extent3 cluster,
                                    struct em_extent3 blocks)
{
    em_assert_locked();
    const unsigned most = cluster_most(f);
    uint64_t count = em_extent_volume(cluster);
    if (!count || count > most || blocks.x % cluster.x || blocks.y % cluster.y ||
        blocks.z % cluster.z)
        return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "a cluster of %u x %u x %u blocks must have from 1 to %u blocks, and divide "
                       "the grid of %u x %u x %u",
                       cluster.x, cluster.y, cluster.z, most, blocks.x, blocks.y, blocks.z);
    return CUDA_SUCCESS;
}

// ---- queries ----

CUresult em_occupancy_blocks(CUfunction handle, int threads, size_t shared_B, unsigned flags,
                             int *out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        r = check_flags(flags);
    if (!r && threads <= 0)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "blockSize (%d) must be greater than 0", threads);
    if (!r)
        *out = blocks_for(f, threads, shared_B);
    em_unlock();
    return r;
}

// The program's function must not be called with em_lock held.
static size_t shared_for(CUoccupancyB2DSize to_shared, size_t shared_B, int threads)
{
    em_assert_unlocked();
    if (!to_shared)
        return shared_B;
    const bool outer = em_program_begin();
    const size_t size_B = to_shared(threads);
    em_program_end(outer);
    return size_B;
}

CUresult em_occupancy_potential(CUfunction handle, CUoccupancyB2DSize to_shared, size_t shared_B,
                                int limit, unsigned flags, int *blocks, int *threads)
{
    em_assert_unlocked();
    struct em_function *f;
    int most = 0, all = 0, multiprocessors = 0;
    em_lock();
    CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        r = check_flags(flags);
    if (!r && limit < 0)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "blockSizeLimit (%d) must not be negative", limit);
    if (!r) {
        most = (int)em_code_most_threads(f->code, f->object.context->device);
        all = attribute(f, DM_ATTRIBUTE_max_threads_per_multiprocessor);
        multiprocessors = attribute(f, DM_ATTRIBUTE_multiprocessor_count);
    }
    em_unlock();
    if (r)
        return r;
    if (limit && limit < most)
        most = limit;
    // From the largest size down, in whole warps; the first one with the most threads wins.
    int best = 0;
    for (int size = warps_of(most) * WARP; size > 0 && best < all && !r; size -= WARP) {
        int tried = least(size, most), fits;
        r = em_occupancy_blocks(handle, tried, shared_for(to_shared, shared_B, tried), flags,
                                &fits);
        if (!r && fits * tried > best) {
            best = fits * tried;
            *threads = tried;
            *blocks = fits * multiprocessors;
        }
    }
    if (!r && !best)
        *threads = *blocks = 0;
    return r;
}

// The driver does not subtract the shared memory that it reserves in each block (recorded:
// occupancy/available-shared).
CUresult em_occupancy_shared(CUfunction handle, int blocks, int threads, size_t *out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r && (blocks <= 0 || threads <= 0 || !blocks_for(f, threads, 0) ||
               blocks > blocks_for(f, threads, 0)))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "%d blocks of %d threads do not fit on a multiprocessor", blocks, threads);
    if (!r) {
        int each = attribute(f, DM_ATTRIBUTE_max_shared_memory_per_multiprocessor) / blocks -
                   (int)f->code->static_shared_B;
        *out = (size_t)least(each, em_function_settings(f).most_dynamic_shared_B);
    }
    em_unlock();
    return r;
}

// The clusters that the function requires, by its text or an attribute; 0: any.
static struct em_extent3 cluster_required(const struct em_function *f)
{
    const struct em_function_settings settings = em_function_settings(f);
    const int *e = settings.cluster;
    return (struct em_extent3){(unsigned)e[0], (unsigned)e[1], (unsigned)e[2]};
}

static bool is_named(struct em_extent3 e)
{
    return e.x || e.y || e.z;
}

static struct em_extent3 cluster_of(const CUlaunchConfig *config)
{
    struct em_extent3 e = {0, 0, 0};
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            e = (struct em_extent3){config->attrs[i].value.clusterDim.x,
                                    config->attrs[i].value.clusterDim.y,
                                    config->attrs[i].value.clusterDim.z};
    return e;
}

// "If func has a required cluster size, *clusterSize reflects it. This function respects the
// compile time launch bounds."
CUresult em_occupancy_cluster_size(CUfunction handle, const CUlaunchConfig *config, int *out)
{
    em_assert_unlocked();
    struct em_function *f;
    (void)config;
    em_lock();
    CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_VALUE, &f);
    if (!r)
        *out = (int)(is_named(cluster_required(f)) ? em_extent_volume(cluster_required(f))
                                                   : cluster_most(f));
    em_unlock();
    return r;
}

static CUresult check_block(const struct em_function *f, const CUlaunchConfig *config)
{
    const unsigned x = config->blockDimX, y = config->blockDimY, z = config->blockDimZ,
                   most = (unsigned)attribute(f, DM_ATTRIBUTE_max_threads_per_block);
    if (x && y && z && x <= most && y <= most / x && z <= most / x / y)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "config: a block of %u x %u x %u threads; a block has 1 to %u threads", x, y, z,
                   most);
}

// "If the function has required cluster size already set, the cluster size from config must either
// be unspecified or match the required size."
static CUresult clusters_choose(const struct em_function *f, const CUlaunchConfig *config,
                                struct em_extent3 *out)
{
    const struct em_extent3 given = cluster_of(config), required = cluster_required(f);
    *out = is_named(given) ? given : required;
    if (is_named(given) && is_named(required) &&
        (given.x != required.x || given.y != required.y || given.z != required.z))
        return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "config: a cluster of %u x %u x %u blocks is not the %u x %u x %u that "
                       "kernel %s requires",
                       given.x, given.y, given.z, required.x, required.y, required.z,
                       f->code->name);
    return CUDA_SUCCESS;
}

// Multiprocessors are not grouped here as a card's are, whose clusters stay within a group; so a
// card may hold fewer clusters of a size that does not divide its groups.
CUresult em_occupancy_clusters(CUfunction handle, const CUlaunchConfig *config, int *out)
{
    em_assert_unlocked();
    struct em_function *f;
    struct em_extent3 e = {0, 0, 0};
    const struct em_extent3 blocks = {config->gridDimX, config->gridDimY, config->gridDimZ};
    em_lock();
    CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_VALUE, &f);
    if (!r)
        r = em_readable("config->attrs", config->attrs, config->numAttrs, sizeof *config->attrs);
    if (!r)
        r = clusters_choose(f, config, &e);
    if (!r && is_named(e))
        r = em_occupancy_check_cluster(f, e, blocks);
    if (!r && is_named(e))
        r = check_block(f, config);
    if (!r && !is_named(e)) // (recorded: occupancy/clusters)
        *out = 0;
    else if (!r)
        *out = blocks_for(f, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
                          config->sharedMemBytes) *
               attribute(f, DM_ATTRIBUTE_multiprocessor_count) / (int)em_extent_volume(e);
    em_unlock();
    return r;
}
