// SPDX-License-Identifier: MIT
// Fails each allocation, and each system call that allocates, once in every call on graphics
// resources and EGL streams. Each failure should be CUDA_ERROR_OUT_OF_MEMORY and should change
// nothing, and the call should succeed afterwards.
#include "../api/egl_stream.h"
#include "../mistakes/virtual.h"

#include "fail_each.h"

enum { SIZE = 4096, RESOURCES = 6 }; // more than a call can hold without an allocation

// ---- objects

static cardlessBuffer buffer;
static cardlessTexture texture;
static CUgraphicsResource resource, all[RESOURCES];
static const cardlessTextureDesc layered = {CARDLESS_TEXTURE_2D_ARRAY,  64, 32, 0, 3, 2,
                                            CU_AD_FORMAT_UNSIGNED_INT8, 4};

static CUresult create_buffer(void)
{
    return cardlessBufferCreate(&buffer, SIZE);
}

static void destroy_buffer(void)
{
    EXPECT_OK(cardlessBufferDestroy(buffer));
}

static CUresult resize_buffer(void)
{
    return cardlessBufferResize(buffer, SIZE);
}

static CUresult create_texture(void)
{
    return cardlessTextureCreate(&texture, &layered);
}

static void destroy_texture(void)
{
    EXPECT_OK(cardlessTextureDestroy(texture));
}

static void nothing(void)
{
}

static CUresult fill(void)
{
    return cardlessFillBuffer(buffer, 0, SIZE, 7);
}

static CUresult copy(void)
{
    return cardlessCopyBuffer(buffer, 0, buffer, SIZE / 2, SIZE / 2);
}

static CUresult clear_texture(void)
{
    static const unsigned char texel[4] = {1, 2, 3, 4};
    return cardlessFillTexture(texture, 1, NULL, texel);
}

static void finish(void)
{
    EXPECT_OK(cardlessFinish());
}

TEST(objects)
{
    test_context();
    fail_each("cardlessBufferCreate", create_buffer, destroy_buffer);
    fail_each("cardlessTextureCreate", create_texture, destroy_texture);
    MUST(create_buffer());
    MUST(create_texture());
    fail_each("cardlessBufferResize", resize_buffer, nothing);
    fail_each("cardlessFillBuffer", fill, finish);
    fail_each("cardlessCopyBuffer", copy, finish);
    fail_each("cardlessFillTexture", clear_texture, finish);
    EXPECT_EQ(byte_of(buffer, SIZE - 1), 7);
}

// ---- resources

static CUresult register_buffer(void)
{
    return cardlessRegisterBuffer(&resource, buffer, 0);
}

static CUresult register_texture(void)
{
    return cardlessRegisterTexture(&resource, texture, 0);
}

static void unregister(void)
{
    EXPECT_OK(cuGraphicsUnregisterResource(resource));
}

static CUresult map(void)
{
    CUdeviceptr p;
    CUresult r = cuGraphicsMapResources(RESOURCES, all, NULL);
    for (int i = 0; r && i < RESOURCES; i += 2)
        EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&p, NULL, all[i]), CUDA_ERROR_NOT_MAPPED);
    return r;
}

static void unmap(void)
{
    EXPECT_OK(cuGraphicsUnmapResources(RESOURCES, all, NULL));
}

// Only optional allocations fail here.
static CUresult unmap_mapped(void)
{
    return cuGraphicsUnmapResources(RESOURCES, all, NULL);
}

static void map_again(void)
{
    EXPECT_OK(cuGraphicsMapResources(RESOURCES, all, NULL));
}

static CUresult get_array(void)
{
    CUarray a;
    return cuGraphicsSubResourceGetMappedArray(&a, all[1], 2, 1);
}

static CUresult get_mipmap(void)
{
    CUmipmappedArray m;
    return cuGraphicsResourceGetMappedMipmappedArray(&m, all[1]);
}

static void end_arrays(void)
{
    unmap();
    map_again();
}

static void check_resources(void)
{
    test_context();
    for (int i = 0; i < RESOURCES; i++) {
        MUST(create_buffer());
        MUST(create_texture());
        fail_each("cardlessRegisterBuffer", register_buffer, unregister);
        fail_each("cardlessRegisterTexture", register_texture, unregister);
        MUST(i % 2 ? register_texture() : register_buffer());
        all[i] = resource;
    }
    fail_each("cuGraphicsMapResources", map, unmap);
    MUST(cuGraphicsMapResources(RESOURCES, all, NULL));
    fail_each("cuGraphicsUnmapResources", unmap_mapped, map_again);
    fail_each("cuGraphicsSubResourceGetMappedArray", get_array, end_arrays);
    fail_each("cuGraphicsResourceGetMappedMipmappedArray", get_mipmap, end_arrays);
    unmap();
    for (int i = 0; i < RESOURCES; i++)
        EXPECT_OK(cuGraphicsUnregisterResource(all[i]));
}

TEST(resources)
{
    check_resources();
}

TEST(resources_with_a_seed)
{
    test_setting("CARDLESS_SEED", "5");
    check_resources();
}

// ---- EGL streams

static struct pair ends;
static CUeglFrame shown;

static CUresult create_stream(void)
{
    return cardlessStreamCreate(&ends.stream, 0);
}

static void destroy_stream(void)
{
    EXPECT_OK(cardlessStreamDestroy(ends.stream));
}

static CUresult connect_consumer(void)
{
    return cuEGLStreamConsumerConnect(&ends.consumer, ends.stream);
}

// A stream accepts no second consumer, so the next round needs a new stream.
static void without_consumer(void)
{
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&ends.consumer));
    destroy_stream();
    MUST(create_stream());
}

static CUresult connect_producer(void)
{
    return cuEGLStreamProducerConnect(&ends.producer, ends.stream, WIDTH, HEIGHT);
}

static void without_producer(void)
{
    EXPECT_OK(cuEGLStreamProducerDisconnect(&ends.producer));
    without_consumer();
    MUST(connect_consumer());
}

static CUresult present_frame(void)
{
    return cuEGLStreamProducerPresentFrame(&ends.producer, shown, &ends.in);
}

static void without_frame(void)
{
    without_producer();
    MUST(connect_producer());
}

static CUresult acquire_frame(void)
{
    CUgraphicsResource r;
    return cuEGLStreamConsumerAcquireFrame(&ends.consumer, &r, &ends.out, SOON_US);
}

static void with_frame(void)
{
    without_frame();
    MUST(present_frame());
}

TEST(streams)
{
    CUdeviceptr memory;
    test_context();
    fail_each("cardlessStreamCreate", create_stream, destroy_stream);
    MUST(create_stream());
    fail_each("cuEGLStreamConsumerConnect", connect_consumer, without_consumer);
    MUST(connect_consumer());
    fail_each("cuEGLStreamProducerConnect", connect_producer, without_producer);
    MUST(connect_producer());
    for (int arrays = 0; arrays < 2; arrays++) {
        shown = arrays ? array_frame(array(WIDTH, HEIGHT, 4)) : frame(&memory);
        fail_each("cuEGLStreamProducerPresentFrame", present_frame, without_frame);
        MUST(present_frame());
        fail_each("cuEGLStreamConsumerAcquireFrame", acquire_frame, with_frame);
        without_frame();
    }
}

TESTS(CASE(objects), CASE(resources), CASE(resources_with_a_seed), CASE(streams))
