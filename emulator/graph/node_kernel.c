// SPDX-License-Identifier: MIT
// Kernel nodes keep a launch with its arguments (kernel_launch.h).
#include "node_kernel.h"

#include <string.h>

#include "error.h"
#include "graph.h"
#include "kernel_launch.h"
#include "lock.h"
#include "node_list.h"
#include "node_type.h"
#include "node_updatable.h"
#include "stream.h"

enum { UPDATABLE = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE };

static CUresult make_kernel(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    em_assert_locked();
    const CUDA_KERNEL_NODE_PARAMS_v3 *p = &given->kernel;
    struct em_launch_kept *kept = NULL;
    (void)graph;
    // "kern: Kernel to launch … if func is NULL".
    const struct em_launch_config config = {
        .function = p->func ? p->func : (CUfunction)p->kern,
        .blocks = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .threads = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .shared_B = p->sharedMemBytes,
        .parameters = p->kernelParams,
        .extra = p->extra,
    };
    CUresult r = em_launch_keep(&config, &kept);
    *out = kept;
    return r;
}

static bool has_priority(const struct em_launch_kept *kept)
{
    return kept->config.attributes.given >> CU_LAUNCH_ATTRIBUTE_PRIORITY & 1;
}

int em_node_kernel_priority(const void *params)
{
    em_assert_locked();
    const struct em_launch_kept *kept = params;
    return has_priority(kept) ? kept->values[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority : 0;
}

// The node gets the priority of the stream if the launch has no attribute (recorded: graph_moved,
// priorities/capture-0).
CUresult em_node_kernel_captured(const struct em_launch_config *config, int priority, void **out)
{
    em_assert_locked();
    struct em_launch_kept *kept = NULL;
    CUresult r = em_launch_keep(config, &kept);
    const CUlaunchAttributeValue value = {.priority = priority};
    if (!r && priority && !has_priority(kept))
        r = em_launch_set_attribute(&kept->config.attributes, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value,
                                    true);
    if (!r && em_launch_is_updatable(kept)) { // the launch returns the handle
        em_launch_name_updatable(kept);
        config->attributes.values[UPDATABLE] = kept->values[UPDATABLE];
    }
    if (r && kept)
        em_launch_keep_free(kept);
    *out = kept;
    return r;
}

static CUresult copy_kernel(const void *params, void **out)
{
    em_assert_locked();
    struct em_launch_kept *kept = NULL;
    CUresult r = em_launch_keep_copy(params, &kept);
    *out = kept;
    return r;
}

static void free_kernel(void *params)
{
    em_assert_locked();
    em_launch_keep_free(params);
}

static void get_kernel(const void *params, CUgraphNodeParams *out)
{
    em_assert_locked();
    const struct em_launch_kept *kept = params;
    const struct em_launch_config *c = &kept->config;
    out->kernel = (CUDA_KERNEL_NODE_PARAMS_v3){
        .func = kept->named_kernel ? NULL : c->function,
        .gridDimX = c->blocks.x,
        .gridDimY = c->blocks.y,
        .gridDimZ = c->blocks.z,
        .blockDimX = c->threads.x,
        .blockDimY = c->threads.y,
        .blockDimZ = c->threads.z,
        .sharedMemBytes = c->shared_B,
        .kernelParams = c->parameters,
        .kern = kept->named_kernel ? (CUkernel)c->function : NULL,
        .ctx = (CUcontext)(uintptr_t)em_launch_context(kept),
    };
}

static CUresult prepare_kernel(const void *params, struct em_command **out)
{
    em_assert_locked();
    return em_launch_prepare(params, out);
}

// "The owning context of the function cannot change."
static const char *object_kernel(const void *from, const void *to)
{
    em_assert_locked();
    const struct em_launch_kept *a = from, *b = to;
    if (a->function->object.context != b->function->object.context)
        return "the context of a kernel must stay the same";
    if (a->config.attributes.cooperative != b->config.attributes.cooperative)
        return "a kernel must stay cooperative, or not cooperative";
    return NULL;
}

const struct em_node_type em_kernel_node = {
    .name = "kernel",
    .make = make_kernel,
    .copy = copy_kernel,
    .free = free_kernel,
    .get = get_kernel,
    .prepare = prepare_kernel,
    .objection = object_kernel,
};

void em_node_kernel_inherit(void *params, const void *from)
{
    em_assert_locked();
    struct em_launch_kept *to = params;
    const struct em_launch_kept *old = from;
    memcpy(to->values, old->values, sizeof to->values);
    to->config.attributes = old->config.attributes;
    to->config.attributes.values = to->values;
}

// ---- attributes (recorded: graph_topology/node-attributes) ----

// Those that kernel nodes have.
static bool has_attribute(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return true;
    default:
        return false;
    }
}

static CUresult no_attribute(CUlaunchAttributeID id)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not an attribute of kernel nodes",
                   (int)id);
}

static CUresult find_kernel_node(CUgraphNode handle, struct em_launch_kept **out)
{
    struct em_graph_node *n;
    CUresult r = em_graph_node_of_type(handle, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    if (!r)
        *out = n->params;
    return r;
}

// All defaults but one are 0, also that of the carveout (recorded: x_runtime,
// graphs/kernel-attribute-14). The two bytes of a domain map are written alone
// (graphs/kernel-attribute-9).
static void get_value(const struct em_launch_kept *kept, CUlaunchAttributeID id,
                      CUlaunchAttributeValue *out)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.memSyncDomainMap.remote = (int)id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
    if (kept->config.attributes.given >> id & 1)
        value = kept->values[id];
    if ((int)id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        out->memSyncDomainMap = value.memSyncDomainMap;
    else
        *out = value;
}

CUresult em_graph_kernel_get_attribute(CUgraphNode node, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue *out)
{
    struct em_launch_kept *kept;
    em_lock();
    CUresult r = find_kernel_node(node, &kept);
    if (!r && !has_attribute(id))
        r = no_attribute(id);
    if (!r)
        get_value(kept, id, out);
    em_unlock();
    return r;
}

CUresult em_graph_kernel_set_attribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue *value)
{
    struct em_launch_kept *kept;
    em_lock();
    CUresult r = find_kernel_node(node, &kept);
    // (recorded: 16 can be set, but not read)
    if (!r && !has_attribute(id) && (int)id != CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
        r = no_attribute(id);
    if (!r && (int)id == UPDATABLE) // which returns a handle in `value`
        r = em_launch_set_updatable(kept, (CUlaunchAttributeValue *)(uintptr_t)value);
    else if (!r)
        r = em_launch_set_attribute(&kept->config.attributes, id, value, true);
    if (!r && (int)id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        kept->values[id].priority = em_stream_clamp_priority(value->priority);
    em_unlock();
    return r;
}

CUresult em_graph_kernel_copy_attributes(CUgraphNode to, CUgraphNode from)
{
    struct em_launch_kept *a, *b;
    em_lock();
    CUresult r = find_kernel_node(to, &a);
    if (!r)
        r = find_kernel_node(from, &b);
    // "Device-updatable kernel nodes also cannot have their attributes copied to/from another
    // kernel node".
    if (!r && (em_launch_is_updatable(a) || em_launch_is_updatable(b)))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "%s is a kernel node that the device may update, whose attributes cannot be "
                    "copied",
                    em_launch_is_updatable(a) ? "dst" : "src");
    if (!r && a != b)
        em_node_kernel_inherit(a, b);
    em_unlock();
    return r;
}
