// SPDX-License-Identifier: MIT
// Graphics and CUDA work on one object runs in order. The tests use the virtual graphics API, whose
// commands wait for CUDA work without blocking the caller.
#include "../mistakes/virtual.h"

enum { BUFFER_B = 1 << 16 };

static CUdeviceptr mapped_in(CUgraphicsResource r, CUstream s)
{
    CUdeviceptr p;
    MUST(cuGraphicsMapResources(1, &r, s));
    MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
    return p;
}

// Maps a buffer whose first bytes are filled after the program sets the returned word.
static atomic_uint *filled_later(CUgraphicsResource r, CUstream s, unsigned char byte, size_t size)
{
    CUdeviceptr p = mapped_in(r, s);
    atomic_uint *word = test_hold(s);
    EXPECT_OK(cuMemsetD8Async(p, byte, size, s));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, s)); // returns while the stream is blocked
    return word;
}

// Graphics work that was issued before the map should be complete before CUDA work in the stream
// begins.
TEST(graphics_before_map)
{
    unsigned char back[16] = {0};
    test_context();
    CUstream s = stream();
    cardlessBuffer b = virtual_buffer(BUFFER_B);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cardlessFillBuffer(b, 0, BUFFER_B, 42)); // stays in the command list
    CUdeviceptr p = mapped_in(r, s);
    EXPECT_OK(cuMemcpyDtoHAsync(back, p, sizeof back, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(back[15], 42);
}

// CUDA work in the stream before the unmap should be complete before later graphics work begins.
TEST(unmap_before_graphics)
{
    uint64_t issued, done;
    test_context();
    CUstream s = stream();
    cardlessBuffer b = virtual_buffer(BUFFER_B), copy = virtual_buffer(BUFFER_B);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word = filled_later(r, s, 17, BUFFER_B);
    EXPECT_OK(cardlessCopyBuffer(copy, 0, b, 0, BUFFER_B));
    EXPECT_ERROR(cardlessQuery(), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessGetClock(&issued, &done));
    EXPECT_EQ(issued, done + 1);
    *word = 1;
    EXPECT_EQ(byte_of(copy, BUFFER_B - 1), 17);
}

// If a buffer is mapped again on another stream, the CUDA and graphics work of the two mappings
// should stay in order, whichever stream is blocked.
TEST(two_streams_take_turns)
{
    test_context();
    CUstream first = stream(), second = stream();
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word = filled_later(r, first, 1, 64);
    EXPECT_OK(cardlessCopyBuffer(b, 32, b, 0, 16)); // needs the 1s
    CUdeviceptr p = mapped_in(r, second);
    EXPECT_OK(cuMemsetD8Async(p, 2, 16, second));
    EXPECT_OK(cuMemsetD8Async(p + 47, 3, 1, second));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, second));
    EXPECT_ERROR(cuStreamQuery(second), CUDA_ERROR_NOT_READY); // it depends on the first stream
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(second));
    EXPECT_EQ(byte_of(b, 0), 2);
    EXPECT_EQ(byte_of(b, 20), 1);
    EXPECT_EQ(byte_of(b, 46), 1);
    EXPECT_EQ(byte_of(b, 47), 3);
}

// If graphics work waits for one stream, another stream that maps its result should wait too.
TEST(graphics_between_streams)
{
    unsigned char back[16] = {0};
    test_context();
    CUstream first = stream(), second = stream();
    cardlessBuffer x = virtual_buffer(BUFFER_B), y = virtual_buffer(BUFFER_B);
    CUgraphicsResource rx = registered(x, 0), ry = registered(y, 0);
    atomic_uint *word = filled_later(rx, first, 17, BUFFER_B);
    EXPECT_OK(cardlessCopyBuffer(y, 0, x, 0, BUFFER_B)); // waits for the first stream
    CUdeviceptr p = mapped_in(ry, second);
    CUdeviceptr copy;
    MUST(cuMemAlloc(&copy, sizeof back));
    EXPECT_OK(cuMemcpyDtoDAsync(copy, p + BUFFER_B - sizeof back, sizeof back, second));
    EXPECT_ERROR(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(second));
    EXPECT_OK(cuMemcpyDtoH(back, copy, sizeof back));
    EXPECT_EQ(back[15], 17);
}

TEST(destroyed_while_it_waits)
{
    test_context();
    CUstream s = stream();
    cardlessBuffer b = virtual_buffer(64), to = virtual_buffer(64);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word = filled_later(r, s, 6, 64);
    EXPECT_OK(cuGraphicsUnregisterResource(r)); // submitted work continues
    EXPECT_OK(cardlessCopyBuffer(to, 0, b, 0, 64));
    EXPECT_OK(cardlessBufferDestroy(b));
    *word = 1;
    EXPECT_EQ(byte_of(to, 63), 6);
    EXPECT_NO_DIAGNOSTIC();
}

// A mapping should begin after the previous one has ended, whichever stream that one waits in.
TEST(map_waits_for_the_mapping_before)
{
    test_context();
    CUstream first = stream(), second = stream();
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word = filled_later(r, first, 1, 64);
    CUdeviceptr p = mapped_in(r, second);
    EXPECT_OK(cuMemsetD8Async(p, 2, 32, second));
    EXPECT_ERROR(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    *word = 1;
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, second));
    EXPECT_EQ(byte_of(b, 31), 2);
    EXPECT_EQ(byte_of(b, 32), 1);
}

// Mappings should end in order, even if each call names another stream.
TEST(unmap_waits_for_the_mapping_before)
{
    test_context();
    CUstream first = stream(), second = stream(), third = stream();
    cardlessBuffer b = virtual_buffer(64), copy = virtual_buffer(64);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word = filled_later(r, first, 1, 64);
    EXPECT_OK(cuGraphicsMapResources(1, &r, second));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, third));
    EXPECT_OK(cardlessCopyBuffer(copy, 0, b, 0, 64));
    EXPECT_ERROR(cuStreamQuery(third), CUDA_ERROR_NOT_READY);
    EXPECT_ERROR(cardlessQuery(), CUDA_ERROR_NOT_READY);
    *word = 1;
    EXPECT_EQ(byte_of(copy, 63), 1);
}

// Work that waits in the stream uses the addresses of its mapping. They become invalid only after
// that work has completed.
TEST(addresses_stay_while_work_waits)
{
    test_setting("CARDLESS_SEED", "7");
    test_context();
    CUstream s = stream();
    cardlessBuffer b = virtual_buffer(BUFFER_B);
    CUgraphicsResource r = registered(b, 0);
    atomic_uint *word[3];
    for (unsigned i = 0; i < 3; i++) {
        word[i] = filled_later(r, s, (unsigned char)(i + 1), BUFFER_B >> i);
    }
    for (unsigned i = 0; i < 3; i++)
        *word[i] = 1;
    for (unsigned i = 0; i < 3; i++)
        EXPECT_EQ(byte_of(b, (BUFFER_B >> i) - 1), i + 1);
    EXPECT_NO_DIAGNOSTIC();
}

// CUDA's writes to a READ_ONLY resource should be undone, even if they were submitted before the
// mapping had begun.
TEST(read_only_when_graphics_is_done)
{
    test_context();
    CUstream first = stream(), second = stream();
    cardlessBuffer x = virtual_buffer(BUFFER_B), b = virtual_buffer(BUFFER_B);
    CUgraphicsResource rx = registered(x, 0),
                       r = registered(b, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    atomic_uint *word = filled_later(rx, first, 17, BUFFER_B);
    EXPECT_OK(cardlessCopyBuffer(b, 0, x, 0, BUFFER_B)); // the second stream waits for it
    CUdeviceptr p = mapped_in(r, second);
    EXPECT_OK(cuMemsetD8Async(p, 1, BUFFER_B, second));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, second));
    *word = 1;
    EXPECT_EQ(byte_of(b, 5), 17);
    EXPECT_DIAGNOSTIC(G09);
}

// Discarded bytes should be poisoned when the mapping begins, not while graphics still uses them.
TEST(discarded_when_graphics_is_done)
{
    unsigned char back[16] = {0};
    test_context();
    CUstream first = stream(), second = stream();
    cardlessBuffer x = virtual_buffer(BUFFER_B), b = virtual_buffer(BUFFER_B);
    CUgraphicsResource rx = registered(x, 0),
                       r = registered(b, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    atomic_uint *word = filled_later(rx, first, 17, BUFFER_B);
    EXPECT_OK(cardlessCopyBuffer(
        b, 0, x, 0, BUFFER_B)); // waits for the first stream, and the second waits for it
    CUdeviceptr p = mapped_in(r, second);
    EXPECT_OK(cuMemsetD8Async(p, 1, 8, second));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, second));
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(second));
    EXPECT_OK(cardlessReadBuffer(b, 0, sizeof back, back));
    EXPECT_EQ(back[7], 1);
    EXPECT_EQ(back[8], 0xa5);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(graphics_before_map), CASE(unmap_before_graphics), CASE(two_streams_take_turns),
      CASE(graphics_between_streams), CASE(destroyed_while_it_waits),
      CASE(map_waits_for_the_mapping_before), CASE(unmap_waits_for_the_mapping_before),
      CASE(addresses_stay_while_work_waits), CASE(read_only_when_graphics_is_done),
      CASE(discarded_when_graphics_is_done))
