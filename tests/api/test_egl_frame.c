// SPDX-License-Identifier: MIT
// Frames of EGL streams: the frames that a producer may present, and the consumer's view of them.
#include "egl_stream.h"

// The consumer should see the producer's bytes at another address until its connection ends, and
// only the bytes of this frame.
TEST(view_of_memory)
{
    enum { INSIDE_B = 768 };
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, base;
    size_t size;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r, again;
    EXPECT_OK(cuMemsetD8(memory, 5, FRAME_B));
    present(&p, &f, CUDA_SUCCESS);
    r = acquire(&p, 5, &got);
    CUdeviceptr view = (CUdeviceptr)(uintptr_t)got.plane[0];
    EXPECT(view != memory);
    EXPECT_EQ(got.depth, 0);
    EXPECT_EQ(got.pitch, f.pitch);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, view));
    EXPECT_EQ(base, view);
    EXPECT_EQ(size, FRAME_B);
    EXPECT_OK(cuMemsetD8(memory, 6, 1)); // each side sees the other's writes
    EXPECT_EQ(first_byte(&got, NULL), 6);
    EXPECT_OK(cuMemsetD8(view, 7, 1));
    EXPECT_EQ(first_byte(&f, NULL), 7);
    EXPECT_ERROR(cuMemFree(view), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&base, &size, r), CUDA_ERROR_UNKNOWN);
    CUarray a;
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0), CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(NULL, r, 0, 0), CUDA_ERROR_INVALID_VALUE);
    release(&p, r);
    EXPECT_OK(cuMemcpyDtoD(memory, view, 16)); // it stays until the consumer disconnects

    // The rows of a frame must lie inside its memory. Its size is the size of its rows.
    CUdeviceptr large;
    MUST(cuMemAlloc(&large, FRAME_B + INSIDE_B));
    f.plane[0] = (void *)(uintptr_t)(large + INSIDE_B);
    f.pitch = 0;
    EXPECT_OK(cuMemsetD8(large, 8, FRAME_B + INSIDE_B));
    present(&p, &f, CUDA_SUCCESS);
    again = acquire(&p, 8, &got);
    EXPECT(again != r);
    EXPECT_EQ(got.pitch, WIDTH * 4); // derived from the format
    EXPECT_OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)got.plane[0]));
    EXPECT_EQ(size, FRAME_B);
    release(&p, again);
    f.plane[0] = (void *)(uintptr_t)(large + INSIDE_B + 1);
    present(&p, &f, CUDA_SUCCESS);
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &again, &p.out, SOON_US),
                 CUDA_ERROR_INVALID_VALUE);

    EXPECT_OK(cuMemFree(memory)); // the view keeps the bytes
    EXPECT_EQ(first_byte(&(CUeglFrame){.plane = {(void *)(uintptr_t)view}}, NULL), 7);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_ERROR(cuMemsetD8(view, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST(view_of_arrays)
{
    test_context();
    struct pair p = pair(0);
    CUarray a = array(WIDTH, HEIGHT, 4), view;
    CUeglFrame f = array_frame(a), got;
    CUgraphicsResource r, again;
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned char bytes[WIDTH * 4], back[WIDTH * 4];
    CUdeviceptr pointer;
    size_t size;
    present(&p, &f, CUDA_SUCCESS);
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT_EQ(got.pitch, WIDTH * 4);
    view = got.plane[0];
    EXPECT(view != a);
    EXPECT_OK(cuArray3DGetDescriptor(&d, view));
    EXPECT_EQ(d.Width, WIDTH);
    EXPECT_EQ(d.NumChannels, 4);
    memset(bytes, 44, sizeof bytes);
    EXPECT_OK(cuMemcpyHtoA(a, 0, bytes, sizeof bytes));
    EXPECT_OK(cuMemcpyAtoH(back, view, 0, sizeof back));
    EXPECT_EQ(back[sizeof back - 1], 44);
    EXPECT_OK(cuArrayDestroy(view)); // the stream owns it
    EXPECT_OK(cuMemcpyAtoH(back, view, 0, sizeof back));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&view, r, 0, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&pointer, &size, r), CUDA_ERROR_UNKNOWN);
    release(&p, r);
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &again, &p.out, SOON_US));
    EXPECT(again == r);
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT(got.plane[0] == view);
    f = array_frame(array(WIDTH, HEIGHT / 2, 4)); // smaller than the frame's extents
    present(&p, &f, CUDA_ERROR_INVALID_VALUE);
    f = array_frame(array(WIDTH, HEIGHT, 1));
    present(&p, &f, CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_ERROR(cuArray3DGetDescriptor(&d, view), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuMemcpyAtoH(back, a, 0, sizeof back));
}

// The first plane must contain all of its rows. The number of rows in another plane depends on the
// format, and the plane ends with its memory.
TEST(planes_inside)
{
    enum { NV12 = 1, AT_B = 512, CHROMA_B = WIDTH * HEIGHT / 2 };
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, base;
    CUgraphicsResource r;
    CUeglFrame f = frame(&memory), got;
    size_t size;
    MUST(cuMemAlloc(&memory, AT_B + WIDTH * HEIGHT + CHROMA_B));
    f.color = NV12;
    f.plane_count = 2;
    f.channels = 1;
    f.pitch = WIDTH;
    f.plane[0] = (void *)(uintptr_t)(memory + AT_B);
    f.plane[1] = (void *)(uintptr_t)(memory + AT_B + WIDTH * HEIGHT);
    present(&p, &f, CUDA_SUCCESS);
    r = acquire(&p, 0, &got);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)got.plane[0]));
    EXPECT_EQ(size, WIDTH * HEIGHT);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)got.plane[1]));
    EXPECT_EQ(size, CHROMA_B);
    release(&p, r);
}

// A frame may be the array of a mapped resource. Its bytes live as long as the consumer holds it.
TEST(array_of_graphics)
{
    cardlessTextureDesc desc = {CARDLESS_TEXTURE_2D,        WIDTH, HEIGHT, 0, 0, 1,
                                CU_AD_FORMAT_UNSIGNED_INT8, 4};
    unsigned char bytes[WIDTH * 4], back[WIDTH * 4];
    cardlessTexture t;
    CUgraphicsResource mapped, r;
    CUarray a;
    CUeglFrame got;
    test_context();
    struct pair p = pair(0);
    MUST(cardlessTextureCreate(&t, &desc));
    MUST(cardlessRegisterTexture(&mapped, t, 0));
    MUST(cuGraphicsMapResources(1, &mapped, NULL));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, mapped, 0, 0));
    CUeglFrame f = array_frame(a);
    present(&p, &f, CUDA_SUCCESS);
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
    MUST(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT_OK(cuGraphicsUnmapResources(1, &mapped, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(mapped));
    EXPECT_OK(cardlessTextureDestroy(t));
    memset(bytes, 44, sizeof bytes);
    EXPECT_OK(cuMemcpyHtoA(got.plane[0], 0, bytes, sizeof bytes));
    EXPECT_OK(cuMemcpyAtoH(back, got.plane[0], 0, sizeof back));
    EXPECT(!memcmp(back, bytes, sizeof back));
    release(&p, r);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
}

// The same memory with another size is another frame. Fields that a frame does not use may have any
// value.
TEST(same_frame)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r;
    present(&p, &f, CUDA_SUCCESS);
    f.plane[1] = &f;
    present(&p, &f, CUDA_ERROR_UNKNOWN);
    f.height /= 2;
    present(&p, &f, CUDA_SUCCESS);
    r = acquire(&p, 0, &got);
    EXPECT_EQ(got.height, HEIGHT / 2);
    release(&p, r);
    f.plane[2] = &f;
    present(&p, &f, CUDA_ERROR_UNKNOWN);
    EXPECT(acquire(&p, 0, &got) == r);
}

// A color format, a sample format that is valid for it, and the color format that the consumer
// receives (0xff if it cannot acquire the frame).
static void check_format(unsigned color, unsigned want_color, unsigned want_format)
{
    struct pair p = pair(0);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r;
    f.plane[1] = f.plane[0];
    f.plane_count = color == 9 ? 1 : 2;
    f.channels = 1;
    f.color = color;
    present(&p, &f, CUDA_SUCCESS);
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US),
                 want_color == 0xff ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    if (want_color == 0xff)
        return;
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT_EQ(got.color, want_color);
    EXPECT_EQ(got.format, want_format);
    EXPECT_EQ(got.pitch, WIDTH * 4);
}

// Color formats as the producer presented them and as the consumer received them (recorded:
// egl_streams).
static void check_formats(bool as_the_driver)
{
    static const unsigned rows[][3] = {
        {0x01, 0x15, 1}, {0x15, 0x01, 1}, {0x14, 0x03, 1}, {0x0b, 0x13, 1}, {0x25, 0x2b, 1},
        {0x2c, 0x26, 1}, {0x53, 0x54, 1}, {0x58, 0x57, 1}, {0x5b, 0x5b, 2}, {0x5f, 0x5f, 2}};
    test_setting("CARDLESS_PERSONALITY", as_the_driver ? "driver-580" : "manual");
    test_context();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        check_format(rows[i][0], rows[i][as_the_driver ? 1 : 0],
                     as_the_driver ? rows[i][2] : CU_AD_FORMAT_UNSIGNED_INT8);
    check_format(9, 0xff, 0);
}

TEST(formats_under_the_driver)
{
    check_formats(true);
}

TEST(formats_under_the_manual)
{
    check_formats(false);
}

static CUdeviceptr map_memory(void)
{
    enum { SIZE = 2 << 20 };
    CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr p;
    MUST(cuMemCreate(&handle, SIZE, &property, 0));
    MUST(cuMemAddressReserve(&p, SIZE, 0, 0, 0));
    MUST(cuMemMap(p, SIZE, 0, handle, 0));
    MUST(cuMemSetAccess(p, SIZE, &access, 1));
    return p;
}

TEST(frames_refused)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, pooled, mapped;
    CUeglFrame f = frame(&memory), bad;
    MUST(cuMemAllocAsync(&pooled, FRAME_B, NULL));
    mapped = map_memory();
#define REFUSED(code, ...) bad = f, __VA_ARGS__, present(&p, &bad, code)
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = NULL);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = (void *)0x1230000);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = (void *)(uintptr_t)pooled);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = (void *)(uintptr_t)mapped);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = 0);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = 3);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = ~0u);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.channels = 3);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.type = 9);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.type = TYPE_ARRAY);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.color = 0x75);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.color = 0); // YUV420, three planes
    REFUSED(CUDA_ERROR_UNKNOWN, bad.format = CU_AD_FORMAT_FLOAT);
    REFUSED(CUDA_ERROR_UNKNOWN, bad.format = 99);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.color = 0, bad.plane_count = 3, bad.channels = 1);
#undef REFUSED
    // Extents, pitch and depth may have any value.
    static const unsigned shapes[][4] = {
        {0, 0, 1, 0}, {16, HEIGHT, 2, 256}, {WIDTH, ~0u, 0, ~0u}, {1u << 30, 1u << 30, 1, 16}};
    for (unsigned i = 0; i < 4; i++) {
        f = frame(&memory);
        f.width = shapes[i][0], f.height = shapes[i][1], f.depth = shapes[i][2],
        f.pitch = shapes[i][3];
        present(&p, &f, CUDA_SUCCESS);
        CUgraphicsResource r;
        EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
        release(&p, r);
    }
    f = frame(&memory), f.color = 0, f.plane_count = 3, f.channels = 1;
    f.plane[1] = f.plane[2] = (void *)(uintptr_t)(memory + FRAME_B / 2);
    present(&p, &f, CUDA_SUCCESS);
    acquire(&p, 0, &bad);
    EXPECT(bad.plane[1] != f.plane[1] && bad.plane[2] != NULL);
}

TESTS(CASE(view_of_memory), CASE(view_of_arrays), CASE(planes_inside), CASE(array_of_graphics),
      CASE(same_frame), CASE(formats_under_the_driver), CASE(formats_under_the_manual),
      CASE(frames_refused))
