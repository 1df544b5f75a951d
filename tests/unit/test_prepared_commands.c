// SPDX-License-Identifier: MIT
// Commands of the API that are prepared, cloned and submitted later, when their memory may be gone.
#include <stdatomic.h>

#include "../mistakes/virtual.h"

#include "alloc.h"
#include "array_map.h"
#include "copy.h"
#include "fill.h"
#include "issue.h"
#include "memory_operation.h"

enum { SIZE = 4096 };

static struct em_end address(CUdeviceptr p)
{
    return (struct em_end){.kind = EM_END_ANY, .address = p};
}

static struct em_command *prepare_copy(struct em_end dst, struct em_end src)
{
    struct em_command *c;
    const struct em_copy copy = {.dst = dst, .src = src, .width_B = SIZE, .height = 1, .depth = 1};
    em_lock();
    EXPECT_OK(em_copy_prepare(&copy, &c));
    em_unlock();
    return c;
}

static struct em_command *clone_of(const struct em_command *c)
{
    struct em_command *copy;
    em_lock();
    EXPECT_OK(em_command_clone(c, &copy));
    em_unlock();
    return copy;
}

static void free_command(struct em_command *c)
{
    em_lock();
    em_command_free(c);
    em_unlock();
}

// As a graph does it: prepared once, issued as a clone as often as wanted.
TEST(prepared_commands_run_again)
{
    CUdeviceptr from, to, word;
    unsigned bytes[SIZE / 4];
    struct em_command *kept[3];
    struct em_stream *s;
    test_context();
    MUST(cuMemAlloc(&from, SIZE));
    MUST(cuMemAlloc(&to, SIZE));
    MUST(cuMemAlloc(&word, 8));
    MUST(em_stream_get(NULL, &s));
    CUstreamBatchMemOpParams p[2] = {
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = word, .value = 5}},
        {.writeValue = {
             .operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = word + 4, .value = 6}}};
    em_lock();
    EXPECT_OK(em_fill_prepare(
        &(struct em_fill){
            .address = from, .width = SIZE / 4, .height = 1, .value = 0x01020304, .value_B = 4},
        s->object.context, &kept[0]));
    EXPECT_OK(em_memory_operations_prepare(s->object.context, 2, p, &kept[2]));
    em_unlock();
    memset(p, 0xff, sizeof p);
    kept[1] = prepare_copy(address(to), address(from));
    for (unsigned round = 0; round < 3; round++) {
        EXPECT_OK(cuMemsetD8(from, 9, SIZE));
        EXPECT_OK(cuMemsetD8(to, 9, SIZE));
        EXPECT_OK(cuMemsetD8(word, 9, 8));
        for (unsigned i = 0; i < 3; i++) {
            struct em_command *c = clone_of(kept[i]);
            EXPECT_OK(issue(NULL, c, EM_SUBMIT_SYNC));
            dm_free(c);
        }
        EXPECT_OK(cuMemcpyDtoH(bytes, to, SIZE));
        for (unsigned i = 0; i < SIZE / 4; i++)
            EXPECT_EQ(bytes[i], 0x01020304);
        EXPECT_OK(cuMemcpyDtoH(bytes, word, 8));
        EXPECT_EQ(bytes[0], 5);
        EXPECT_EQ(bytes[1], 6);
    }
    for (unsigned i = 0; i < 3; i++)
        free_command(kept[i]);
    em_stream_put(s);
}

TEST(nothing_to_do_is_no_command)
{
    struct em_command *c = (void *)1;
    test_context();
    em_lock();
    EXPECT_OK(em_copy_prepare(&(struct em_copy){.height = 1, .depth = 1}, &c));
    EXPECT(!c);
    c = (void *)1;
    EXPECT_OK(em_fill_prepare(&(struct em_fill){.height = 1, .value_B = 1}, em_self.current, &c));
    EXPECT(!c);
    em_unlock();
}

// The source is freed between prepare and issue. The copy should fault, and should not ask any
// owner about memory that no longer exists.
TEST(memory_is_freed_before_issue)
{
    CUdeviceptr from, to;
    test_context();
    MUST(cuMemAlloc(&from, 8 << 20));
    MUST(cuMemAlloc(&to, 8 << 20));
    struct em_command *c = prepare_copy(address(to), address(from));
    EXPECT_OK(cuMemFree(from));
    EXPECT_ERROR(issue(NULL, c, EM_SUBMIT_SYNC), CUDA_ERROR_ILLEGAL_ADDRESS);
    dm_free(c);
}

static size_t free_B(void)
{
    size_t free, total;
    EXPECT_OK(cuMemGetInfo(&free, &total));
    return free;
}

// An array's bytes should live as long as a command that was prepared for them.
TEST(array_is_destroyed_before_issue)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 2048, .Height = 2048, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    CUarray array;
    CUdeviceptr to;
    unsigned word = 0;
    test_context();
    MUST(cuMemAlloc(&to, SIZE));
    size_t before = free_B();
    MUST(cuArray3DCreate(&array, &desc));
    unsigned row[SIZE / 4] = {[7] = 1234};
    MUST(cuMemcpyHtoA(array, 0, row, SIZE));
    struct em_command *c =
        prepare_copy(address(to), (struct em_end){.kind = EM_END_ARRAY, .array = array});
    EXPECT_OK(cuArrayDestroy(array));
    EXPECT(free_B() < before);
    EXPECT_OK(issue(NULL, c, EM_SUBMIT_SYNC));
    dm_free(c);
    EXPECT_EQ(free_B(), before);
    EXPECT_OK(cuMemcpyDtoH(&word, to + 28, 4));
    EXPECT_EQ(word, 1234);
}

// A kept command owns the array and the memory that it maps.
TEST(mapping_of_an_array_is_cloned)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 64,
                                          .Height = 64,
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                          .NumChannels = 4,
                                          .Flags = CUDA_ARRAY3D_DEFERRED_MAPPING};
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
        .allocFlags = {.usage = CU_MEM_CREATE_USAGE_TILE_POOL},
    };
    CUarray array;
    CUmemGenericAllocationHandle pool;
    struct em_command *kept, *copy;
    unsigned bytes[16] = {4, 3, 2, 1};
    test_context();
    MUST(cuArray3DCreate(&array, &desc));
    MUST(cuMemCreate(&pool, 2 << 20, &prop, 0));
    const CUarrayMapInfo map = {.resourceType = CU_RESOURCE_TYPE_ARRAY,
                                .resource.array = array,
                                .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
                                .memHandleType = CU_MEM_HANDLE_TYPE_GENERIC,
                                .memHandle.memHandle = pool,
                                .deviceBitMask = 1};
    em_lock();
    EXPECT_OK(em_array_map_prepare(&map, 1, &kept));
    em_unlock();
    copy = clone_of(kept);
    free_command(kept);
    EXPECT_OK(cuMemRelease(pool));
    EXPECT_OK(issue(NULL, copy, EM_SUBMIT_SYNC));
    dm_free(copy);
    EXPECT_OK(cuMemcpyHtoA(array, 0, bytes, sizeof bytes));
    memset(bytes, 0, sizeof bytes);
    EXPECT_OK(cuMemcpyAtoH(bytes, array, 0, sizeof bytes));
    EXPECT_EQ(bytes[3], 1);
    EXPECT_OK(cuArrayDestroy(array));
}

static CUgraphicsResource map_buffer(cardlessBuffer *buffer, CUdeviceptr *p)
{
    CUgraphicsResource resource;
    size_t size;
    MUST(cardlessBufferCreate(buffer, SIZE));
    MUST(cardlessRegisterBuffer(&resource, *buffer, 0));
    MUST(cuGraphicsMapResources(1, &resource, NULL));
    MUST(cuGraphicsResourceGetMappedPointer(p, &size, resource));
    return resource;
}

TEST(resource_is_unregistered_before_issue)
{
    cardlessBuffer buffer;
    CUdeviceptr p, from;
    test_setting("CARDLESS_PERSONALITY", "manual");
    test_context();
    MUST(cuMemAlloc(&from, SIZE));
    CUgraphicsResource resource = map_buffer(&buffer, &p);
    struct em_command *c = prepare_copy(address(p), address(from));
    EXPECT_OK(cuGraphicsUnmapResources(1, &resource, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(resource));
    EXPECT_OK(cuCtxSynchronize());
    CUresult r = issue(NULL, c, EM_SUBMIT_SYNC);
    // Without protection keys the address may still be that of the shared window.
    EXPECT(r == CUDA_SUCCESS || r == CUDA_ERROR_ILLEGAL_ADDRESS);
    dm_free(c);
}

// The command should keep the resource and the window that it writes through until it has ended.
TEST(resource_is_unregistered_while_command_waits)
{
    cardlessBuffer buffer;
    CUdeviceptr p;
    CUstream s;
    unsigned char bytes[SIZE];
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUgraphicsResource resource = map_buffer(&buffer, &p);
    MUST(cuCtxSynchronize());
    atomic_uint *word = test_hold(s);
    EXPECT_OK(cuMemsetD8Async(p, 0x33, SIZE, s));
    EXPECT_OK(cuGraphicsUnmapResources(1, &resource, s));
    EXPECT_OK(cuGraphicsUnregisterResource(resource));
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(cardlessReadBuffer(buffer, 0, SIZE, bytes));
    for (unsigned i = 0; i < SIZE; i++)
        EXPECT_EQ(bytes[i], 0x33);
}

TESTS(CASE(prepared_commands_run_again), CASE(nothing_to_do_is_no_command),
      CASE(memory_is_freed_before_issue), CASE(array_is_destroyed_before_issue),
      CASE(mapping_of_an_array_is_cloned), CASE(resource_is_unregistered_before_issue),
      CASE(resource_is_unregistered_while_command_waits))
