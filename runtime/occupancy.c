// SPDX-License-Identifier: MIT
// Occupancy: how many blocks and clusters of a kernel run at the same time.
#include "fat_binary.h"
#include "launch.h"

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, function, blockSize, dynamicSMemSize, flags));
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                             int blockSize, size_t dynamicSMemSize)
{
    return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

cudaError_t rt_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                         int numBlocks, int blockSize)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function,
                                                                  numBlocks, blockSize));
}

typedef CUresult rt_cluster_query(int *result, CUfunction function, const CUlaunchConfig *config);

static cudaError_t query_clusters(rt_cluster_query *query, int *result, const void *func,
                                  const cudaLaunchConfig_t *config)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    if (!config)
        return rt_fail(cudaErrorInvalidValue, "argument launchConfig is NULL");
    const CUlaunchConfig c = rt_launch_config(config, config->stream);
    return rt_error(query(result, function, &c));
}

cudaError_t rt_cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                    const cudaLaunchConfig_t *launchConfig)
{
    return query_clusters(rt_cu.cuOccupancyMaxPotentialClusterSize, clusterSize, func,
                          launchConfig);
}

cudaError_t rt_cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                              const cudaLaunchConfig_t *launchConfig)
{
    return query_clusters(rt_cu.cuOccupancyMaxActiveClusters, numClusters, func, launchConfig);
}
