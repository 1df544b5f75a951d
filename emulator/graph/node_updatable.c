// SPDX-License-Identifier: MIT
// Kernel nodes that kernels may update: the rules for the host (recorded: updatable_nodes).
#include "node_updatable.h"

#include "error.h"
#include "lock.h"

enum { ATTRIBUTE = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE };

bool em_launch_is_updatable(const struct em_launch_kept *kept)
{
    em_assert_locked();
    return kept->config.attributes.given >> ATTRIBUTE & 1 &&
           kept->values[ATTRIBUTE].deviceUpdatableKernelNode.deviceUpdatable;
}

static bool is_updatable(const struct em_graph_node *node)
{
    return node->type == CU_GRAPH_NODE_TYPE_KERNEL && em_launch_is_updatable(node->params);
}

bool em_graph_has_updatable(const struct em_graph *graph)
{
    em_assert_locked();
    for (const struct em_graph_node *n = graph->first; n; n = n->next)
        if (is_updatable(n))
            return true;
    return false;
}

// The handles are numbers, which only kernels could use.
void em_launch_name_updatable(struct em_launch_kept *kept)
{
    em_assert_locked();
    static uintptr_t last;
    kept->values[ATTRIBUTE].deviceUpdatableKernelNode.devNode = (CUgraphDeviceNode)++last;
}

// "Once opted-in to this functionality, a node cannot opt out, and any attempt to set the
// deviceUpdatable attribute to 0 will result in an error."
CUresult em_launch_set_updatable(struct em_launch_kept *kept, CUlaunchAttributeValue *value)
{
    em_assert_locked();
    const bool was = em_launch_is_updatable(kept);
    const CUgraphDeviceNode node = kept->values[ATTRIBUTE].deviceUpdatableKernelNode.devNode;
    const CUgraphDeviceNode given = value->deviceUpdatableKernelNode.devNode;
    if (was && !value->deviceUpdatableKernelNode.deviceUpdatable)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "deviceUpdatable is 0, but a node that is updatable stays so");
    if (given && (!was || given != node))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "devNode must be NULL; the driver writes the handle there");
    const CUresult r = em_launch_set_attribute(&kept->config.attributes,
                                               (CUlaunchAttributeID)ATTRIBUTE, value, true);
    if (r || !em_launch_is_updatable(kept))
        return r;
    kept->values[ATTRIBUTE].deviceUpdatableKernelNode.devNode = node;
    if (!was)
        em_launch_name_updatable(kept);
    *value = kept->values[ATTRIBUTE];
    return CUDA_SUCCESS;
}

// "Device-updatable nodes cannot be removed from their graph via cuGraphDestroyNode."
CUresult em_updatable_check_destroy(const struct em_graph_node *node)
{
    em_assert_locked();
    return is_updatable(node) ? em_fail(CUDA_ERROR_NOT_SUPPORTED,
                                        "hNode is a kernel node that the device may update, which "
                                        "can only be destroyed with its graph")
                              : CUDA_SUCCESS;
}

CUresult em_updatable_check_clone(const struct em_graph *graph)
{
    em_assert_locked();
    return em_graph_has_updatable(graph)
               ? em_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "a graph with kernel nodes that the device may update cannot be cloned")
               : CUDA_SUCCESS;
}

// "Graphs containing one or more device-updatable nodes also do not allow multiple instantiation".
// Instances that were made before the node became updatable do not count.
CUresult em_updatable_check_instance(const struct em_graph *graph)
{
    em_assert_locked();
    return graph->updatable_instances
               ? em_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "a graph with kernel nodes that the device may update has one instance at "
                         "a time; destroy that one first")
               : CUDA_SUCCESS;
}
