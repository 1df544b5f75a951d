// SPDX-License-Identifier: MIT
// Nodes that record an event or wait for one. Their parameters are the event itself, with a
// reference.
#include "node_type.h"

#include "event.h"
#include "object.h"

static CUresult make_event(CUevent handle, void **out)
{
    struct em_event *e;
    CUresult r = em_object_get(EM_EVENT, handle, CUDA_ERROR_INVALID_VALUE, &e);
    if (r)
        return r;
    em_object_ref(&e->object);
    *out = e;
    return CUDA_SUCCESS;
}

static CUresult make_record(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    return make_event(given->eventRecord.event, out);
}

static CUresult make_wait(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    (void)graph;
    return make_event(given->eventWait.event, out);
}

static CUresult copy_event(const void *params, void **out)
{
    struct em_event *e = (struct em_event *)params;
    em_object_ref(&e->object);
    *out = e;
    return CUDA_SUCCESS;
}

static void free_event(void *params)
{
    em_object_unref(&((struct em_event *)params)->object);
}

static void get_record(const void *params, CUgraphNodeParams *out)
{
    out->eventRecord.event = (CUevent)(uintptr_t)((const struct em_event *)params)->object.handle;
}

static void get_wait(const void *params, CUgraphNodeParams *out)
{
    out->eventWait.event = (CUevent)(uintptr_t)((const struct em_event *)params)->object.handle;
}

const struct em_node_type em_record_node = {
    .name = "event record",
    .make = make_record,
    .copy = copy_event,
    .free = free_event,
    .get = get_record,
};

const struct em_node_type em_wait_node = {
    .name = "event wait",
    .make = make_wait,
    .copy = copy_event,
    .free = free_event,
    .get = get_wait,
};
