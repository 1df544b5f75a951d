// SPDX-License-Identifier: MIT
// Nodes that fill and copy memory.
#include "node_type.h"

#include <string.h>

#include "alloc.h"
#include "context.h"
#include "copy.h"
#include "copy_box.h"
#include "error.h"
#include "fill.h"
#include "quirk.h"

// ---- memset ----

// A value that is wider than an element: a card combines shifted copies of it into a pattern of 4
// bytes, which repeats (recorded: graph_rules, memsets). Rows without a gap are one row.
static void mix_value(const CUDA_MEMSET_NODE_PARAMS_v2 *p, struct em_fill *fill)
{
    const unsigned element_B = p->elementSize;
    if (element_B == 4 || !(p->value >> 8 * element_B) || !em_quirk(MEMSET_NODE_MIXES))
        return;
    fill->value |= fill->value << 16;
    if (element_B == 1)
        fill->value |= fill->value << 8;
    fill->value_B = 1;
    fill->width *= element_B;
    fill->mixed = element_B;
    if (p->height > 1 && p->pitch == fill->width) {
        fill->width *= p->height;
        fill->height = 1;
    }
}

static CUresult prepare_memset(const void *params, struct em_command **out)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *p = params;
    struct em_context *context;
    struct em_fill fill = {.address = p->dst,
                           .pitch_B = p->pitch,
                           .width = p->width,
                           .height = p->height,
                           .value = p->value,
                           .value_B = p->elementSize};
    CUresult r = em_node_context(p->ctx, &context);
    if (!r)
        r = em_fill_check(&fill);
    mix_value(p, &fill);
    return r ? r : em_fill_prepare(&fill, context, out);
}

static CUresult make_memset(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    CUDA_MEMSET_NODE_PARAMS_v2 p = given->memset;
    // "elementSize: Size of each element in bytes. Must be 1, 2, or 4."
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "elementSize (%u) must be 1, 2 or 4",
                       p.elementSize);
    if (!p.width || !p.height)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0: a memset node must fill something",
                       p.width ? "height" : "width");
    p.ctx = em_node_context_handle(p.ctx);
    CUresult r = em_node_try_command(prepare_memset, &p);
    return r ? r : em_node_duplicate(&p, sizeof p, out);
}

static CUresult make_captured_memset(const CUgraphNodeParams *given, void **out)
{
    return em_node_duplicate(&given->memset, sizeof given->memset, out);
}

static CUresult copy_memset(const void *params, void **out)
{
    return em_node_duplicate(params, sizeof(CUDA_MEMSET_NODE_PARAMS_v2), out);
}

static void get_memset(const void *params, CUgraphNodeParams *out)
{
    out->memset = *(const CUDA_MEMSET_NODE_PARAMS_v2 *)params;
}

// "For 2d memsets, only address and assigned value may be updated. For 1d memsets, updating
// dimensions is also allowed".
static const char *object_memset(const void *from, const void *to)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *a = from, *b = to;
    if (a->ctx != b->ctx)
        return "the context of a memset must stay the same";
    if (a->height == 1 && b->height == 1)
        return NULL;
    if (a->height == b->height && a->width == b->width && a->pitch == b->pitch &&
        a->elementSize == b->elementSize)
        return NULL;
    return "only the address and the value of a memset of several rows can be changed, and it "
           "cannot "
           "replace one of one row";
}

// ---- memcpy ----

static CUresult prepare_memcpy(const void *params, struct em_command **out)
{
    const CUDA_MEMCPY3D *p = &((const CUDA_MEMCPY_NODE_PARAMS *)params)->copyParams;
    struct em_copy copy;
    const struct em_copy_box box = EM_COPY_BOX_3D(p);
    CUresult r = em_copy_from_box(&box, &copy);
    return r ? r : em_copy_prepare(&copy, out);
}

static CUresult make_memcpy(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    CUDA_MEMCPY_NODE_PARAMS p = given->memcpy;
    const CUDA_MEMCPY3D *c = &p.copyParams;
    if (p.flags || p.reserved)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) and reserved (%#x) must be 0",
                       p.flags, p.reserved);
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0: a memcpy node must copy something",
                       !c->WidthInBytes ? "WidthInBytes"
                       : !c->Height     ? "Height"
                                        : "Depth");
    p.copyCtx = em_node_context_handle(p.copyCtx);
    struct em_context *context;
    CUresult r = em_node_context(p.copyCtx, &context);
    if (!r)
        r = em_node_try_command(prepare_memcpy, &p);
    return r ? r : em_node_duplicate(&p, sizeof p, out);
}

static CUresult copy_memcpy(const void *params, void **out)
{
    return em_node_duplicate(params, sizeof(CUDA_MEMCPY_NODE_PARAMS), out);
}

static void get_memcpy(const void *params, CUgraphNodeParams *out)
{
    out->memcpy = *(const CUDA_MEMCPY_NODE_PARAMS *)params;
}

// "Returns CUDA_ERROR_INVALID_VALUE if the memory operands' mappings changed or either the original
// or new memory operands are multidimensional."
static const char *object_memcpy(const void *from, const void *to)
{
    const CUDA_MEMCPY_NODE_PARAMS *a = from, *b = to;
    const CUDA_MEMCPY3D *p = &a->copyParams, *q = &b->copyParams;
    if (a->copyCtx != b->copyCtx)
        return "the context of a memcpy must stay the same";
    if (!memcmp(p, q, sizeof *p))
        return NULL;
    if (p->srcMemoryType != q->srcMemoryType || p->dstMemoryType != q->dstMemoryType)
        return "the types of memory of a memcpy must stay the same";
    if (p->Height == 1 && p->Depth == 1 && q->Height == 1 && q->Depth == 1)
        return NULL;
    return "a memcpy of several rows cannot be changed, and cannot replace one of one row";
}

const struct em_node_type em_memset_node = {
    .name = "memset",
    .make = make_memset,
    .make_captured = make_captured_memset,
    .copy = copy_memset,
    .free = dm_free,
    .get = get_memset,
    .prepare = prepare_memset,
    .objection = object_memset,
};

const struct em_node_type em_memcpy_node = {
    .name = "memcpy",
    .make = make_memcpy,
    .copy = copy_memcpy,
    .free = dm_free,
    .get = get_memcpy,
    .prepare = prepare_memcpy,
    .objection = object_memcpy,
};
