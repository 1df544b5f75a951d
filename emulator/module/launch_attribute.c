// SPDX-License-Identifier: MIT
// Launch attributes (recorded: launch_ex/*). Those that control caches, domains and priorities
// change no result here, so they are only checked.
#include <string.h>

#include "call.h"
#include "error.h"
#include "event.h"
#include "kernel_launch.h"
#include "lock.h"

static CUresult out_of_range(const char *name, int value, int low, int high)
{
    return value >= low && value <= high
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "%s (%d) must be from %d to %d", name, value,
                         low, high);
}

static CUresult check_window(const CUaccessPolicyWindow *w)
{
    if (!(w->hitRatio >= 0 && w->hitRatio <= 1))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "hitRatio (%g) is not between 0 and 1",
                       (double)w->hitRatio);
    if (w->missProp == CU_ACCESS_PROPERTY_PERSISTING)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "missProp is CU_ACCESS_PROPERTY_PERSISTING; it must be NORMAL or STREAMING");
    return CUDA_SUCCESS;
}

// "The event must … be created with CU_EVENT_DISABLE_TIMING".
static CUresult check_event(CUevent handle, int flags)
{
    struct em_event *e;
    CUresult r = em_event_get(handle, &e);
    if (r)
        return r;
    if (!(e->flags & CU_EVENT_DISABLE_TIMING))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the event of a launch attribute must be created with CU_EVENT_DISABLE_TIMING");
    else if (flags & ~CU_EVENT_RECORD_EXTERNAL)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) of the event is not CU_EVENT_RECORD_*",
                    (unsigned)flags);
    em_event_put(e);
    return r;
}

static CUresult check_value(struct em_launch_attributes *to, CUlaunchAttributeID id,
                            const CUlaunchAttributeValue *v, bool in_graph)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return check_window(&v->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        to->cooperative = v->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        // (recorded: x_runtime, graphs/kernel-attribute-4)
        if (in_graph && (v->clusterDim.x || v->clusterDim.y || v->clusterDim.z) &&
            (!v->clusterDim.x || !v->clusterDim.y || !v->clusterDim.z))
            return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                           "clusterDim (%u x %u x %u) must not be 0 in some dimensions only",
                           v->clusterDim.x, v->clusterDim.y, v->clusterDim.z);
        to->cluster = (struct em_extent3){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return out_of_range("clusterSchedulingPolicyPreference",
                            (int)v->clusterSchedulingPolicyPreference, 0,
                            CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        to->completion[0] = v->programmaticEvent.event;
        return check_event(v->programmaticEvent.event, v->programmaticEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        to->completion[1] = v->launchCompletionEvent.event;
        return check_event(v->launchCompletionEvent.event, v->launchCompletionEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return out_of_range("memSyncDomain", (int)v->memSyncDomain, 0, 1);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        // It must be a multiple of the cluster's dimension, which the kernel must have.
        if ((v->preferredClusterDim.x || v->preferredClusterDim.y || v->preferredClusterDim.z) &&
            (!to->cluster.x || !to->cluster.y || !to->cluster.z ||
             v->preferredClusterDim.x % to->cluster.x || v->preferredClusterDim.y % to->cluster.y ||
             v->preferredClusterDim.z % to->cluster.z))
            return em_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                           "preferredClusterDim must be a multiple of clusterDim, which must be "
                           "given before it");
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: // em_launch checks that of a launch
        return in_graph ? out_of_range("deviceUpdatable",
                                       v->deviceUpdatableKernelNode.deviceUpdatable, 0, 1)
                        : CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return out_of_range("sharedMemCarveout", (int)v->sharedMemCarveout, in_graph ? -1 : 0, 100);
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return out_of_range("nvlinkUtilCentricScheduling", (int)v->nvlinkUtilCentricScheduling, 0,
                            1);
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not a launch attribute", (int)id);
    }
}

CUresult em_launch_set_attribute(struct em_launch_attributes *to, CUlaunchAttributeID id,
                                 const CUlaunchAttributeValue *value, bool in_graph)
{
    CUresult r = check_value(to, id, value, in_graph);
    if (r)
        return r;
    if (to->values)
        to->values[id] = *value;
    to->given |= 1u << id;
    return CUDA_SUCCESS;
}
