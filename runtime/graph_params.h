// SPDX-License-Identifier: MIT
// Parameters of graph nodes in the driver's form.
#pragma once
#include "rt.h"

// The context that the driver wants to know for nodes that use memory or run kernels.
cudaError_t rt_current_context(CUcontext *context);

// The kernel that `params` names, in `out->kern` or `out->func`, and its launch.
cudaError_t rt_kernel_node_params(const struct cudaKernelNodeParams *params,
                                  CUDA_KERNEL_NODE_PARAMS *out);

// The driver's form of the parameters of a node of any kind.
cudaError_t rt_graph_node_params(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out);
