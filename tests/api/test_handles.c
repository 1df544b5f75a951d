// SPDX-License-Identifier: MIT
// The numbers that handles are. Bindings of other languages keep them as signed 64-bit numbers and
// as pointers, so they have to look like the pointers that a card's driver gives. (No call creates
// a CUsurfref without a module.)
#include <cardless.h>
#if __has_include(<EGL/egl.h>)
#include <cudaEGL.h>
#define HAVE_EGL 1
#else
#define HAVE_EGL 0
#endif
#include <sys/mman.h>
#include <sys/uio.h>

#include "../harness.h"

static void start(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
}

// Whether a byte of [handle, handle + 4096) can be read.
static bool can_be_read(uint64_t handle)
{
    char bytes[64];
    bool any = false;
    for (uint64_t at = handle; at < handle + 4096; at += sizeof bytes) {
        struct iovec to = {bytes, sizeof bytes}, from = {(void *)(uintptr_t)at, sizeof bytes};
        any |= process_vm_readv(getpid(), &to, 1, &from, 1, 0) > 0;
    }
    return any;
}

// All handles lie in one range in which nothing is ever mapped. It begins at the mark, unless
// something else is there, or the first reservation fails: then it is wherever the kernel reserves
// so many addresses.
enum { RANGE_TIB = 16 };
#define MARK UINT64_C(0x641000000000)
#define RANGE_B ((uint64_t)RANGE_TIB << 40)

static bool is_in_empty_range(uint64_t handle)
{
    char line[512];
    bool at_mark = handle >= MARK && handle - MARK < RANGE_B, empty = true, reserved = false;
    FILE *f = fopen("/proc/self/maps", "r");
    EXPECT(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        unsigned long long first, end;
        char access[5];
        EXPECT_EQ(sscanf(line, "%llx-%llx %4s", &first, &end, access), 3);
        bool inaccessible = !strncmp(access, "---", 3);
        empty &= inaccessible || end <= MARK || first >= MARK + RANGE_B;
        reserved |= inaccessible && first <= handle && handle < end && end - first >= RANGE_B;
    }
    if (f)
        fclose(f);
    return (at_mark && empty) || reserved;
}

static void expect_pointer(const char *type, uint64_t handle)
{
    printf("# %s: %#llx\n", type, (unsigned long long)handle);
    EXPECT(handle != 0);
    EXPECT((int64_t)handle > 0);
    EXPECT(handle < UINT64_C(1) << 47);
    EXPECT_EQ(handle % 16, 0);
    EXPECT(!can_be_read(handle));
    EXPECT(is_in_empty_range(handle));
}
#define EXPECT_POINTER(type, handle) expect_pointer(type, (uint64_t)(uintptr_t)(handle))

static const CUDA_ARRAY3D_DESCRIPTOR image = {.Width = 64,
                                              .Height = 64,
                                              .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                              .NumChannels = 4,
                                              .Flags = CUDA_ARRAY3D_SURFACE_LDST};

TEST(contexts_streams_events)
{
    CUcontext context, primary;
    CUstream stream;
    CUevent event;
    start();
    MUST(cuCtxGetCurrent(&context));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuStreamCreate(&stream, 0));
    MUST(cuEventCreate(&event, 0));
    EXPECT_POINTER("CUcontext", context);
    EXPECT_POINTER("CUcontext, primary", primary);
    EXPECT_POINTER("CUstream", stream);
    EXPECT_POINTER("CUevent", event);
}

TEST(arrays)
{
    CUarray array, level;
    CUmipmappedArray mipmap;
    CUtexref reference;
    start();
    MUST(cuArray3DCreate(&array, &image));
    MUST(cuMipmappedArrayCreate(&mipmap, &image, 3));
    MUST(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    MUST(cuTexRefCreate(&reference));
    EXPECT_POINTER("CUarray", array);
    EXPECT_POINTER("CUmipmappedArray", mipmap);
    EXPECT_POINTER("CUarray, a level", level);
    EXPECT_POINTER("CUtexref", reference);
}

TEST(memory)
{
    CUmemGenericAllocationHandle physical;
    CUmemoryPool pool, standard;
    CUexternalMemory external;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    start();
    int fd = memfd_create("memory of another API", MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd, 1 << 20), 0);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle = {.fd = fd}, .size = 1 << 20};
    MUST(cuMemCreate(&physical, 2 << 20, &prop, 0));
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuDeviceGetDefaultMemPool(&standard, 0));
    MUST(cuImportExternalMemory(&external, &desc));
    EXPECT_POINTER("CUmemGenericAllocationHandle", physical);
    EXPECT_POINTER("CUmemoryPool", pool);
    EXPECT_POINTER("CUmemoryPool, of the device", standard);
    EXPECT_POINTER("CUexternalMemory", external);
}

TEST(semaphores)
{
    cardlessSemaphore semaphore;
    CUexternalSemaphore external;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    start();
    MUST(cardlessSemaphoreCreate(&semaphore, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cardlessSemaphoreExport(semaphore, &desc.handle.fd));
    MUST(cuImportExternalSemaphore(&external, &desc));
    EXPECT_POINTER("cardlessSemaphore", semaphore);
    EXPECT_POINTER("CUexternalSemaphore", external);
}

TEST(graphics)
{
    cardlessBuffer buffer;
    cardlessTexture texture;
    CUgraphicsResource resource, image_resource;
    const cardlessTextureDesc desc = {.kind = CARDLESS_TEXTURE_2D,
                                      .width = 64,
                                      .height = 64,
                                      .levels = 1,
                                      .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                      .channels = 4};
    start();
    MUST(cardlessBufferCreate(&buffer, 4096));
    MUST(cardlessRegisterBuffer(&resource, buffer, 0));
    MUST(cardlessTextureCreate(&texture, &desc));
    MUST(cardlessRegisterTexture(&image_resource, texture, 0));
    EXPECT_POINTER("cardlessBuffer", buffer);
    EXPECT_POINTER("CUgraphicsResource", resource);
    EXPECT_POINTER("cardlessTexture", texture);
    EXPECT_POINTER("CUgraphicsResource, an image", image_resource);
}

#if HAVE_EGL
TEST(egl_streams)
{
    void *stream;
    CUeglStreamConnection consumer, producer;
    CUstream order;
    CUarray array;
    CUgraphicsResource resource;
    CUeglFrame shown;
    start();
    MUST(cardlessStreamCreate(&stream, 0));
    MUST(cuEGLStreamConsumerConnect(&consumer, stream));
    MUST(cuEGLStreamProducerConnect(&producer, stream, 64, 64));
    MUST(cuStreamCreate(&order, CU_STREAM_NON_BLOCKING));
    MUST(cuArray3DCreate(&array, &image));
    CUeglFrame frame = {.frame.pArray = {array},
                        .width = 64,
                        .height = 64,
                        .planeCount = 1,
                        .numChannels = 4,
                        .frameType = CU_EGL_FRAME_TYPE_ARRAY,
                        .eglColorFormat = CU_EGL_COLOR_FORMAT_ARGB,
                        .cuFormat = CU_AD_FORMAT_UNSIGNED_INT8};
    MUST(cuEGLStreamProducerPresentFrame(&producer, frame, &order));
    MUST(cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &order, 1000));
    MUST(cuGraphicsResourceGetMappedEglFrame(&shown, resource, 0, 0));
    EXPECT_POINTER("EGLStreamKHR", stream);
    EXPECT_POINTER("CUeglStreamConnection, the consumer's", consumer);
    EXPECT_POINTER("CUeglStreamConnection, the producer's", producer);
    EXPECT_POINTER("CUgraphicsResource, a frame", resource);
    EXPECT_POINTER("CUarray, of a frame", shown.frame.pArray[0]);
    EXPECT(shown.frame.pArray[0] != array);
}
#else
TEST(egl_streams)
{
    SKIP("EGL/egl.h is missing");
}
#endif

// Recorded: x_arrays texdesc/handles.
TEST(texture_and_surface_objects_count_from_one)
{
    CUarray array;
    CUtexObject texture[5], again;
    CUsurfObject surface[5], surface_again;
    CUDA_TEXTURE_DESC how = {0};
    start();
    MUST(cuArray3DCreate(&array, &image));
    CUDA_RESOURCE_DESC desc = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    for (int i = 0; i < 5; i++) {
        MUST(cuTexObjectCreate(&texture[i], &desc, &how, NULL));
        EXPECT_EQ(texture[i], texture[0] + (unsigned)i);
        EXPECT(texture[i] > 0 && texture[i] < 1 << 20);
    }
    EXPECT_OK(cuTexObjectDestroy(texture[2]));
    EXPECT_ERROR(cuTexObjectGetResourceDesc(&desc, texture[2]), CUDA_ERROR_INVALID_VALUE);
    MUST(cuTexObjectCreate(&again, &desc, &how, NULL));
    EXPECT(again != texture[2]);
    for (int i = 0; i < 5; i++) {
        MUST(cuSurfObjectCreate(&surface[i], &desc));
        EXPECT_EQ(surface[i], surface[0] + (unsigned)i);
        EXPECT(surface[i] > again && surface[i] < 1 << 20); // both kinds count together
    }
    EXPECT_OK(cuSurfObjectDestroy(surface[2]));
    EXPECT_ERROR(cuSurfObjectGetResourceDesc(&desc, surface[2]), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuSurfObjectGetResourceDesc(&desc, texture[1]), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexObjectGetResourceDesc(&desc, surface[1]), CUDA_ERROR_INVALID_VALUE);
    desc = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    MUST(cuSurfObjectCreate(&surface_again, &desc));
    EXPECT(surface_again != surface[2]);
}

// A handle that was used once should never name a later object, however many there are: 20
// generations of every slot.
TEST(stale_handles_stay_stale)
{
    enum { OBJECTS = 20 * 4096 };
    CUevent first, event;
    CUtexObject texture, first_texture;
    CUarray array;
    CUDA_TEXTURE_DESC how = {0};
    start();
    MUST(cuArray3DCreate(&array, &image));
    CUDA_RESOURCE_DESC desc = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    MUST(cuEventCreate(&first, 0));
    MUST(cuEventDestroy(first));
    MUST(cuTexObjectCreate(&first_texture, &desc, &how, NULL));
    MUST(cuTexObjectDestroy(first_texture));
    bool named_again = false;
    for (int i = 0; i < OBJECTS; i++) {
        MUST(cuEventCreate(&event, 0));
        MUST(cuEventDestroy(event));
        MUST(cuTexObjectCreate(&texture, &desc, &how, NULL));
        MUST(cuTexObjectDestroy(texture));
        named_again |= event == first || texture == first_texture;
    }
    EXPECT(!named_again);
    EXPECT_ERROR(cuEventQuery(first), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_POINTER("CUevent, of a used slot", event);
}

TESTS(CASE(contexts_streams_events), CASE(arrays), CASE(memory), CASE(semaphores), CASE(graphics),
      CASE(egl_streams), CASE(texture_and_surface_objects_count_from_one),
      CASE(stale_handles_stay_stale))
