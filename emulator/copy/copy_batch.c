// SPDX-License-Identifier: MIT
// Batches of copies: checks the lists of a call, then copies one operation after the other.
#include "copy_batch.h"

#include <stdint.h>

#include "array.h"
#include "call.h"
#include "captured.h"
#include "copy.h"
#include "device.h"
#include "lock.h"
#include "stream.h"

// "This API does not support the NULL stream", nor the legacy stream, which is the same.
static CUresult check_stream(const struct em_stream *stream)
{
    return stream->kind == EM_STREAM_LEGACY
               ? em_fail(CUDA_ERROR_INVALID_VALUE,
                         "hStream is the default stream, which a batch cannot use; create a stream")
               : CUDA_SUCCESS;
}

// (recorded: graph_rules, failing). The capture stays valid.
static CUresult check_capture(const struct em_stream *stream)
{
    return em_stream_is_captured(stream)
               ? em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                         "a batch of copies cannot be captured; make a call for each copy")
               : CUDA_SUCCESS;
}

static CUresult check_order(CUmemcpySrcAccessOrder order, unsigned flags)
{
    if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "srcAccessOrder %d is not a CUmemcpySrcAccessOrder", (int)order);
    if (flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "unknown flags %#x; the only valid flag is "
                       "CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE (0x1)",
                       flags);
    return CUDA_SUCCESS;
}

static CUresult check_hint(const CUmemLocation *hint)
{
    if ((unsigned)hint->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the type of a location hint (%d) is not a CUmemLocationType",
                       (int)hint->type);
    if (hint->type == CU_MEM_LOCATION_TYPE_DEVICE &&
        (unsigned)hint->id >= (unsigned)em_device_count)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the device of a location hint (%d) does not exist", hint->id);
    return CUDA_SUCCESS;
}

// "attrsIdxs[k] is the first copy that attrs[k] applies to": they begin with 0 and rise.
static CUresult check_attributes(const struct em_copy_list *list)
{
    if (!list->attr_count || list->attr_count > list->count)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "numAttrs (%zu) must be between 1 and the number of copies (%zu)",
                       list->attr_count, list->count);
    for (size_t i = 0; i < list->attr_count; i++) {
        const CUmemcpyAttributes *a = &list->attrs[i];
        const size_t *start = &list->attr_starts[i];
        if (i ? *start <= start[-1] || *start >= list->count : *start != 0)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "attrsIdxs[%zu] is %zu; the first must be 0, and each later one greater "
                           "than the one before it and less than the number of copies (%zu)",
                           i, *start, list->count);
        CUresult r = check_order(a->srcAccessOrder, a->flags);
        if (!r)
            r = check_hint(&a->srcLocHint);
        if (!r)
            r = check_hint(&a->dstLocHint);
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

CUresult em_copy_batch(const struct em_copy_list *list, struct em_stream *stream, size_t *fail)
{
    *fail = SIZE_MAX;
    if (!list->dsts || !list->srcs || !list->sizes || !list->attrs || !list->attr_starts ||
        !list->count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s",
                       list->count ? "one of the arrays is NULL" : "count is 0");
    CUresult r = check_stream(stream);
    if (!r)
        r = check_attributes(list);
    if (!r)
        r = check_capture(stream);
    for (size_t i = 0; !r && i < list->count; i++) {
        struct em_copy copy = {.dst = {.kind = EM_END_ANY, .address = list->dsts[i]},
                               .src = {.kind = EM_END_ANY, .address = list->srcs[i]},
                               .width_B = list->sizes[i],
                               .height = 1,
                               .depth = 1};
        r = copy.width_B ? em_copy(&copy, stream, true)
                         : em_fail(CUDA_ERROR_INVALID_VALUE, "sizes[%zu] is 0", i);
        if (r)
            *fail = i;
    }
    return r;
}

// ---- boxes. Their extents, offsets and row lengths count elements of the array, or bytes if there
// is no array.

// The size of an element of an array; 0 for a pointer. Precondition: em_lock held.
static uint64_t element_B(const CUmemcpy3DOperand *operand)
{
    em_assert_locked();
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return 0;
    struct em_array *a =
        (struct em_array *)em_object_peek(EM_ARRAY, (uint64_t)(uintptr_t)operand->op.array.array);
    return a ? a->storage->layout.element_B : 0;
}

static CUresult check_operand(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                              const char *what)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return CUDA_SUCCESS;
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s.type (%d) is neither CU_MEMCPY_OPERAND_TYPE_POINTER nor "
                       "CU_MEMCPY_OPERAND_TYPE_ARRAY",
                       what, (int)operand->type);
    size_t row = operand->op.ptr.rowLength, rows = operand->op.ptr.layerHeight;
    if ((row && row < extent->width) || (rows && rows < extent->height))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "%s: rowLength (%zu) x layerHeight (%zu) is less than the extent (%zu x %zu)", what,
            row, rows, extent->width, extent->height);
    return CUDA_SUCCESS;
}

// Sets *unit to the size of the elements that a width counts. Takes the lock.
static CUresult check_op(const CUDA_MEMCPY3D_BATCH_OP *op, uint64_t *unit)
{
    if (!op->extent.width || !op->extent.height || !op->extent.depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the extent (%zu x %zu x %zu) is empty",
                       op->extent.width, op->extent.height, op->extent.depth);
    CUresult r = check_operand(&op->src, &op->extent, "src");
    if (!r)
        r = check_operand(&op->dst, &op->extent, "dst");
    if (!r)
        r = check_order(op->srcAccessOrder, op->flags);
    if (r)
        return r;
    em_lock();
    uint64_t src_B = element_B(&op->src), dst_B = element_B(&op->dst);
    em_unlock();
    // "If both operands are arrays, their element sizes must match."
    if (src_B && dst_B && src_B != dst_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the elements of src (%llu bytes) and dst (%llu bytes) differ in size",
                       (unsigned long long)src_B, (unsigned long long)dst_B);
    *unit = src_B ? src_B : dst_B ? dst_B : 1;
    return CUDA_SUCCESS;
}

static CUresult end_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent, uint64_t unit,
                       struct em_end *out)
{
    bool fits;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        *out = (struct em_end){.kind = EM_END_ARRAY,
                               .array = operand->op.array.array,
                               .y = operand->op.array.offset.y,
                               .z = operand->op.array.offset.z};
        fits = !__builtin_mul_overflow(operand->op.array.offset.x, unit, &out->x_B);
    } else {
        size_t row = operand->op.ptr.rowLength, rows = operand->op.ptr.layerHeight;
        *out = (struct em_end){.kind = EM_END_ANY,
                               .address = operand->op.ptr.ptr,
                               .rows = rows ? rows : extent->height};
        fits = !__builtin_mul_overflow(row ? row : extent->width, unit, &out->pitch_B);
    }
    return fits ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_INVALID_VALUE, "an offset or a row length exceeds 64 bits");
}

static CUresult run_op(const CUDA_MEMCPY3D_BATCH_OP *op, uint64_t unit, struct em_stream *stream)
{
    struct em_copy copy = {.height = op->extent.height, .depth = op->extent.depth};
    CUresult r = end_of(&op->src, &op->extent, unit, &copy.src);
    if (!r)
        r = end_of(&op->dst, &op->extent, unit, &copy.dst);
    if (!r && __builtin_mul_overflow(op->extent.width, unit, &copy.width_B))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the width of the extent (%zu elements) exceeds 64 bits", op->extent.width);
    return r ? r : em_copy(&copy, stream, true);
}

CUresult em_copy_batch_3d(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                          struct em_stream *stream, size_t *fail)
{
    uint64_t unit;
    *fail = SIZE_MAX;
    // "flags: reserved, must be zero"
    if (!ops || !count || flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "numOps (%zu) and opList (%p) must not be 0, flags (%#llx) must be", count,
                       (const void *)ops, flags);
    CUresult r = check_stream(stream);
    for (size_t i = 0; !r && i < count; i++) {
        r = check_op(&ops[i], &unit);
        if (r)
            *fail = i;
    }
    if (!r)
        r = check_capture(stream);
    for (size_t i = 0; !r && i < count; i++) {
        r = check_op(&ops[i], &unit);
        if (!r)
            r = run_op(&ops[i], unit, stream);
    }
    return r;
}
