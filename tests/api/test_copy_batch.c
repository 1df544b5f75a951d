// SPDX-License-Identifier: MIT
// Batches of copies.
#include "../harness.h"

enum { SIZE = 4096, COPIES = 3 };
static unsigned char a[SIZE], b[SIZE];
static CUstream stream;
static CUdeviceptr memory;

static void fresh(void)
{
    test_context();
    MUST(cuStreamCreate(&stream, 0));
    MUST(cuMemAlloc(&memory, 2 * SIZE));
    for (unsigned i = 0; i < SIZE; i++)
        a[i] = (unsigned char)(i * 3 + (i >> 8));
    MUST(cuMemcpyHtoD(memory, a, SIZE));
    MUST(cuMemsetD8(memory + SIZE, 0, SIZE));
}

TEST(runs)
{
    fresh();
    CUdeviceptr srcs[COPIES] = {memory, memory + 100, memory + 3000},
                dsts[COPIES] = {memory + SIZE, memory + SIZE + 100, memory + SIZE + 3000};
    size_t sizes[COPIES] = {100, 2900, SIZE - 3000}, start = 0, bad_start = 1;
    CUmemcpyAttributes attrs = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    EXPECT_OK(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &start, 1, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(b, memory + SIZE, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &start, 1, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &bad_start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, 0, &attrs, &start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, NULL, sizes, COPIES, &attrs, &start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    attrs.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    attrs.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    sizes[1] = 0;
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    sizes[1] = 3 * SIZE; // past the end
    EXPECT_ERROR(cuMemcpyBatchAsync(dsts, srcs, sizes, COPIES, &attrs, &start, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
}

// Extents and offsets count the array's elements.
TEST(boxes)
{
    fresh();
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    CUarray array;
    MUST(cuArray3DCreate(&array, &desc));
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {
        {.extent = {16, 8, 1}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
        {.extent = {4, 8, 1}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    ops[0].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER, ops[0].src.op.ptr.ptr = memory;
    ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, ops[0].dst.op.array.array = array;
    ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, ops[1].src.op.array.array = array,
    ops[1].src.op.array.offset.x = 12;
    ops[1].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER, ops[1].dst.op.ptr.ptr = memory + SIZE;
    EXPECT_OK(cuMemcpy3DBatchAsync(2, ops, 0, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(b, memory + SIZE, 256));
    for (unsigned y = 0; y < 8; y++)
        EXPECT(!memcmp(b + y * 32, a + y * 128 + 96, 32));
    EXPECT_ERROR(cuMemcpy3DBatchAsync(2, ops, 1, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpy3DBatchAsync(0, ops, 0, stream), CUDA_ERROR_INVALID_VALUE);
    ops[1].src.op.array.offset.x = 13;
    EXPECT_ERROR(cuMemcpy3DBatchAsync(2, ops, 0, stream), CUDA_ERROR_INVALID_VALUE);
    ops[0].extent.width = 0;
    EXPECT_ERROR(cuMemcpy3DBatchAsync(2, ops, 0, stream), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(runs), CASE(boxes))
