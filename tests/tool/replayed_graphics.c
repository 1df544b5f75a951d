// SPDX-License-Identifier: MIT
// A program whose recorded run is replayed: it uses everything of cardless.h that the tables list.
// With the argument "lost", it uses results of calls that a replay cannot make.
#include <cardless.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "../check_call.h"
#include "../egl_functions.h"

enum {
    BUFFER_B = 16 << 10, // more than a record holds
    WIDTH = 64,
    HEIGHT = 32,
    NV12 = 1, // CU_EGL_COLOR_FORMAT_YUV420_SEMIPLANAR
};

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
}
#define EXPECT(condition) expect((condition), #condition)

static void draw_buffers(void)
{
    static unsigned char bytes[BUFFER_B], back[BUFFER_B];
    cardlessBuffer buffer, copy;
    CUgraphicsResource resource;
    CUdeviceptr memory;
    size_t size;
    uint64_t issued, done;
    for (unsigned i = 0; i < BUFFER_B; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    CHECK(cardlessBufferCreate(&buffer, 100));
    CHECK(cardlessBufferResize(buffer, BUFFER_B));
    CHECK(cardlessBufferCreate(&copy, BUFFER_B));
    CHECK(cardlessWriteBuffer(buffer, 0, BUFFER_B, bytes));
    memset(bytes, 0, BUFFER_B); // the call has copied them
    CHECK(cardlessFillBuffer(buffer, 100, 50, 9));
    CHECK(cardlessCopyBuffer(copy, 16, buffer, 0, BUFFER_B - 16));
    CHECK(cardlessRegisterBuffer(&resource, copy, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CHECK(cuGraphicsMapResources(1, &resource, NULL));
    CHECK(cuGraphicsResourceGetMappedPointer(&memory, &size, resource));
    CHECK(cuMemsetD8(memory + 32, 5, 16));
    CHECK(cuMemcpyDtoH(back, memory, size));
    EXPECT(back[17] == 7 && back[32] == 5 && back[116] == 9);
    CHECK(cuGraphicsUnmapResources(1, &resource, NULL));
    CHECK(cardlessReadBuffer(copy, 0, BUFFER_B, back));
    EXPECT(back[32] == 5 && back[BUFFER_B - 1] != 0);
    CHECK(cardlessGetClock(&issued, &done));
    CHECK(cardlessGetClock(NULL, &done));
    EXPECT(issued == done);
    EXPECT(cardlessFillBuffer(buffer, BUFFER_B, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuGraphicsUnregisterResource(resource));
    CHECK(cardlessBufferDestroy(buffer));
    CHECK(cardlessBufferDestroy(copy));
    EXPECT(cardlessBufferDestroy(copy) == CUDA_ERROR_INVALID_HANDLE);
}

static void draw_textures(void)
{
    static unsigned char texels[HEIGHT][WIDTH * 4], back[HEIGHT][WIDTH][4];
    const unsigned char texel[4] = {1, 2, 3, 4};
    const cardlessTextureDesc small = {CARDLESS_TEXTURE_1D, 8, 0, 0, 0, 1, CU_AD_FORMAT_FLOAT, 1};
    cardlessTextureDesc desc = small;
    const cardlessBox box = {8, 4, 0, 16, 8, 1};
    cardlessTexture texture, copy;
    CUgraphicsResource resource;
    CUarray array;
    for (unsigned i = 0; i < sizeof texels; i++)
        texels[i / sizeof *texels][i % sizeof *texels] = (unsigned char)(i * 5);
    CHECK(cardlessTextureCreate(&texture, &small));
    desc = (cardlessTextureDesc){CARDLESS_TEXTURE_2D,        WIDTH, HEIGHT, 0, 0, 2,
                                 CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CHECK(cardlessTextureResize(texture, &desc));
    CHECK(cardlessTextureCreate(&copy, &desc));
    CHECK(cardlessWriteTexture(texture, 0, NULL, texels));
    CHECK(cardlessWriteTexture(texture, 1, &box, texels));
    CHECK(cardlessFillTexture(texture, 0, &box, texel));
    CHECK(cardlessCopyTexture(copy, 0, 0, 0, 0, texture, 0, NULL));
    CHECK(cardlessRegisterTexture(&resource, copy, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST));
    CHECK(cuGraphicsMapResources(1, &resource, NULL));
    CHECK(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .WidthInBytes = sizeof *back,
                         .Height = HEIGHT};
    CHECK(cuMemcpy2D(&out));
    EXPECT(!memcmp(back[4][8], texel, 4) && !memcmp(back[3][8], &texels[3][8 * 4], 4));
    CHECK(cuGraphicsUnmapResources(1, &resource, NULL));
    memset(back, 0, sizeof back);
    CHECK(cardlessReadTexture(copy, 0, NULL, back));
    EXPECT(!memcmp(back[4][8], texel, 4));
    CHECK(cuGraphicsUnregisterResource(resource));
    CHECK(cardlessTextureDestroy(texture));
    CHECK(cardlessTextureDestroy(copy));
}

// The host has to wait for graphics, which waits for CUDA.
static void wait_for_graphics(void)
{
    static unsigned char back[BUFFER_B];
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    CUstream stream;
    CUdeviceptr memory;
    size_t size;
    unsigned again = 0;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cardlessBufferCreate(&buffer, BUFFER_B));
    CHECK(cardlessRegisterBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CHECK(cuGraphicsMapResources(1, &resource, stream));
    CHECK(cuGraphicsResourceGetMappedPointer(&memory, &size, resource));
    CHECK(cuMemsetD8Async(memory, 3, size, stream));
    CHECK(cuGraphicsUnmapResources(1, &resource, stream));
    CHECK(cardlessFillBuffer(buffer, 0, 10, 4));
    CUresult r;
    while ((r = cardlessQuery()) == CUDA_ERROR_NOT_READY && again++ < 3)
        usleep(1000);
    EXPECT(!r || r == CUDA_ERROR_NOT_READY);
    CHECK(cardlessFinish());
    CHECK(cardlessReadBuffer(buffer, 0, BUFFER_B, back));
    EXPECT(back[9] == 4 && back[10] == 3);
    CHECK(cuGraphicsUnregisterResource(resource));
    CHECK(cardlessBufferDestroy(buffer));
    CHECK(cuStreamDestroy(stream));
}

static void *signal_semaphore(void *semaphore)
{
    usleep(2000);
    CHECK(cardlessSemaphoreSignal(semaphore, 5));
    return NULL;
}

static void share_semaphores(void)
{
    cardlessSemaphore semaphore, same, binary;
    CUexternalSemaphore imported;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 7};
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 6};
    pthread_t thread;
    uint64_t value;
    int fd;
    CHECK(cardlessSemaphoreCreate(&semaphore, CARDLESS_SEMAPHORE_TIMELINE, 1));
    CHECK(cardlessSemaphoreCreate(&binary, CARDLESS_SEMAPHORE_BINARY, 1));
    CHECK(cardlessSemaphoreWait(binary, 0, UINT64_MAX));
    EXPECT(cardlessSemaphoreWait(binary, 0, 1000) == CUDA_ERROR_TIMEOUT);
    CHECK(cardlessSemaphoreExport(semaphore, &fd));
    CHECK(cardlessSemaphoreOpen(&same, fd));
    close(fd);
    pthread_create(&thread, NULL, signal_semaphore, same);
    CHECK(cardlessSemaphoreWait(semaphore, 4, UINT64_MAX));
    pthread_join(thread, NULL);
    CHECK(cardlessSemaphoreExport(same, &desc.handle.fd));
    CHECK(cuImportExternalSemaphore(&imported, &desc));
    CHECK(cuSignalExternalSemaphoresAsync(&imported, &signal, 1, NULL));
    CHECK(cuWaitExternalSemaphoresAsync(&imported, &wait, 1, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cardlessSemaphoreGetValue(semaphore, &value));
    EXPECT(value == 7);
    CHECK(cuDestroyExternalSemaphore(imported));
    CHECK(cardlessSemaphoreDestroy(semaphore));
    CHECK(cardlessSemaphoreDestroy(same));
    CHECK(cardlessSemaphoreDestroy(binary));
    EXPECT(cardlessSemaphoreOpen(&same, 1 << 20) == CUDA_ERROR_INVALID_VALUE);
}

static CUarray make_plane(size_t width, size_t height, unsigned channels, unsigned char value)
{
    static unsigned char bytes[WIDTH * HEIGHT];
    const CUDA_ARRAY_DESCRIPTOR desc = {width, height, CU_AD_FORMAT_UNSIGNED_INT8, channels};
    CUarray array;
    memset(bytes, value, sizeof bytes);
    CHECK(cuArrayCreate(&array, &desc));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = bytes,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = width * channels,
                          .Height = height};
    CHECK(cuMemcpy2D(&copy));
    return array;
}

// Frames of two arrays go to the consumer and back.
static void pass_frames(void)
{
    void *stream;
    CUeglStreamConnection consumer, producer;
    CUgraphicsResource resource;
    CUstream in, out;
    CUeglFrame got = {.width = 0}, frames[2];
    unsigned char byte;
    CHECK(cuStreamCreate(&in, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&out, CU_STREAM_NON_BLOCKING));
    CHECK(cardlessStreamCreate(&stream, 0));
    CHECK(cuEGLStreamConsumerConnect(&consumer, stream));
    CHECK(cuEGLStreamProducerConnect(&producer, stream, WIDTH, HEIGHT));
    for (unsigned char i = 0; i < 2; i++) {
        frames[i] = (CUeglFrame){.plane = {make_plane(WIDTH, HEIGHT, 1, (unsigned char)(10 + i)),
                                           make_plane(WIDTH / 2, HEIGHT / 2, 2, 20 + i)},
                                 .width = WIDTH,
                                 .height = HEIGHT,
                                 .depth = 1,
                                 .plane_count = 2,
                                 .channels = 1,
                                 .color = NV12,
                                 .format = CU_AD_FORMAT_UNSIGNED_INT8};
        CHECK(cuEGLStreamProducerPresentFrame(&producer, frames[i], &in));
        CHECK(cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &out, 100000));
        CHECK(cuGraphicsResourceGetMappedEglFrame(&got, resource, 0, 0));
        CHECK(cuMemcpyAtoH(&byte, got.plane[1], 0, 1));
        EXPECT(byte == 20 + i);
        CHECK(cuEGLStreamConsumerReleaseFrame(&consumer, resource, &out));
    }
    CHECK(cuEGLStreamProducerReturnFrame(&producer, &got, &in));
    EXPECT(got.plane[1] == frames[0].plane[1]);
    CHECK(cuEGLStreamProducerDisconnect(&producer));
    CHECK(cuEGLStreamConsumerDisconnect(&consumer));
    CHECK(cardlessStreamDestroy(stream));
}

static void ask(void)
{
    CUuuid uuid, same;
    cardlessCard card;
    cardlessProcess processes[4];
    unsigned version, count = 4;
    int cards, warp;
    CHECK(cardlessGetVersion(&version));
    CHECK(cardlessCardGetCount(&cards));
    CHECK(cardlessCardGet(&card, 0));
    CHECK(cardlessCardGetUuid(&uuid, 0));
    CHECK(cuDeviceGetUuid_v2(&same, 0));
    CHECK(cardlessCardGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CHECK(cardlessCardGetProcesses(0, &count, processes));
    EXPECT(version == CARDLESS_VERSION && cards > 0 && warp == 32 && card.total > card.reserved);
    EXPECT(!memcmp(&uuid, &same, sizeof uuid));
    EXPECT(cardlessCardGet(&card, cards) == CUDA_ERROR_INVALID_DEVICE);
}

// ---- calls that a replay cannot make

static cardlessBuffer lost_buffer;
static cardlessTexture lost_texture;
static cardlessSemaphore lost_semaphore;
static void *lost_stream;
static CUgraph graph;
static CUdeviceptr lost_memory;

// The driver calls it to ask for a size, so a replay does not call it.
static size_t CUDA_CB make_objects(int threads)
{
    const cardlessTextureDesc desc = {CARDLESS_TEXTURE_2D,        WIDTH, HEIGHT, 0, 0, 1,
                                      CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                         .bytesize = 4096};
    CUgraphNode node;
    (void)threads;
    if (lost_buffer)
        return 0;
    CHECK(cardlessBufferCreate(&lost_buffer, BUFFER_B));
    CHECK(cardlessTextureCreate(&lost_texture, &desc));
    CHECK(cardlessSemaphoreCreate(&lost_semaphore, CARDLESS_SEMAPHORE_TIMELINE, 0));
    CHECK(cardlessStreamCreate(&lost_stream, 0));
    CHECK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    lost_memory = params.dptr; // in a structure
    return 0;
}

static void use_lost_objects(void)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry nothing()\n{\n    ret;\n}\n";
    CUmodule module;
    CUfunction function;
    CUcontext context;
    CUgraphicsResource resource;
    CUeglStreamConnection consumer;
    CUgraphNode node;
    CUdeviceptr memory;
    size_t size;
    int blocks, threads;
    unsigned char byte;
    uint64_t value;
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, "nothing"));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, make_objects, 0, 0));
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cardlessFillBuffer(lost_buffer, 0, BUFFER_B, 6));
    CHECK(cardlessRegisterBuffer(&resource, lost_buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CHECK(cuGraphicsResourceSetMapFlags(resource, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    CHECK(cuGraphicsMapResources(1, &resource, NULL));
    CHECK(cuGraphicsResourceGetMappedPointer(&memory, &size, resource));
    CHECK(cuMemcpyDtoH(&byte, memory + 5, 1));
    EXPECT(byte == 6);
    CHECK(cuGraphicsUnmapResources(1, &resource, NULL));
    CHECK(cuGraphicsUnregisterResource(resource));
    CHECK(cardlessReadBuffer(lost_buffer, 0, 1, &byte));
    CHECK(cardlessBufferDestroy(lost_buffer));
    CHECK(cardlessTextureDestroy(lost_texture));
    CHECK(cardlessSemaphoreGetValue(lost_semaphore, &value));
    CHECK(cardlessSemaphoreDestroy(lost_semaphore));
    CHECK(cuEGLStreamConsumerConnect(&consumer, lost_stream));
    CHECK(cuEGLStreamConsumerDisconnect(&consumer));
    CHECK(cardlessStreamDestroy(lost_stream));
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = lost_memory + 16, .elementSize = 1, .width = 16, .height = 1};
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    CUcontext context;
    if (cuInit(0) == CUDA_ERROR_NO_DEVICE)
        return 0;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    if (argc > 1 && !strcmp(argv[1], "lost")) {
        use_lost_objects();
        return 0;
    }
    draw_buffers();
    draw_textures();
    wait_for_graphics();
    share_semaphores();
    pass_frames();
    ask();
    return 0;
}
