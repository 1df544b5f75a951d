// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Memory Operations". The v1 operations need a device with
// CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, which today's drivers switch off. On a device that
// has it they are the same operations.
#include "api_bodies.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "memory_operation.h"

static CUresult need_v1(enum dm_attribute attribute)
{
    if (em_device_attribute(em_self.current->device, attribute))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                   "the v1 stream memory operations are switched off on this device; use %s_v2",
                   em_entry_name());
}

CUresult api_cuStreamWaitValue32_v2(struct em_stream *stream, CUdeviceptr addr, cuuint32_t value,
                                    unsigned int flags)
{
    return em_memory_operation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult api_cuStreamWaitValue64_v2(struct em_stream *stream, CUdeviceptr addr, cuuint64_t value,
                                    unsigned int flags)
{
    return em_memory_operation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult api_cuStreamWriteValue32_v2(struct em_stream *stream, CUdeviceptr addr, cuuint32_t value,
                                     unsigned int flags)
{
    return em_memory_operation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult api_cuStreamWriteValue64_v2(struct em_stream *stream, CUdeviceptr addr, cuuint64_t value,
                                     unsigned int flags)
{
    return em_memory_operation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult api_cuStreamBatchMemOp_v2(struct em_stream *stream, unsigned int count,
                                   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    // "flags: Reserved for future expansion; must be 0."
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) of a batch must be 0", flags);
    if (count > EM_MEMORY_OPERATIONS_MOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "count (%u) must be less than 256", count);
    if (count && !paramArray)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "paramArray is NULL");
    return em_memory_operations(stream, count, paramArray);
}

CUresult api_cuStreamWaitValue32(struct em_stream *stream, CUdeviceptr addr, cuuint32_t value,
                                 unsigned int flags)
{
    CUresult r = need_v1(DM_ATTRIBUTE_can_use_stream_mem_ops_v1);
    return r ? r : api_cuStreamWaitValue32_v2(stream, addr, value, flags);
}

CUresult api_cuStreamWaitValue64(struct em_stream *stream, CUdeviceptr addr, cuuint64_t value,
                                 unsigned int flags)
{
    CUresult r = need_v1(DM_ATTRIBUTE_can_use_64_bit_stream_mem_ops_v1);
    return r ? r : api_cuStreamWaitValue64_v2(stream, addr, value, flags);
}

CUresult api_cuStreamWriteValue32(struct em_stream *stream, CUdeviceptr addr, cuuint32_t value,
                                  unsigned int flags)
{
    CUresult r = need_v1(DM_ATTRIBUTE_can_use_stream_mem_ops_v1);
    return r ? r : api_cuStreamWriteValue32_v2(stream, addr, value, flags);
}

CUresult api_cuStreamWriteValue64(struct em_stream *stream, CUdeviceptr addr, cuuint64_t value,
                                  unsigned int flags)
{
    CUresult r = need_v1(DM_ATTRIBUTE_can_use_64_bit_stream_mem_ops_v1);
    return r ? r : api_cuStreamWriteValue64_v2(stream, addr, value, flags);
}

CUresult api_cuStreamBatchMemOp(struct em_stream *stream, unsigned int count,
                                CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    CUresult r = need_v1(DM_ATTRIBUTE_can_use_stream_mem_ops_v1);
    return r ? r : api_cuStreamBatchMemOp_v2(stream, count, paramArray, flags);
}
