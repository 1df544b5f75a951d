// SPDX-License-Identifier: MIT
// Graphics resources under hostile input: handles, shapes and threads at random.
#include <pthread.h>

#include "../mistakes/virtual.h"

enum { BUFFER_B = 1 << 16 };

// ---- hostile input ----

TEST(random_handles)
{
    uint64_t state = 1;
    CUdeviceptr p;
    CUarray a;
    CUmipmappedArray m;
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    test_context();
    CUgraphicsResource good = registered(virtual_buffer(64), 0);
    for (int i = 0; i < 2000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t h = i % 2 ? state : (uint64_t)(uintptr_t)good ^ (UINT64_C(1) << state % 64);
        CUgraphicsResource r = (CUgraphicsResource)(uintptr_t)h, two[] = {good, r};
        EXPECT_ERROR(cuGraphicsMapResources(2, two, NULL), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, NULL), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&p, NULL, r), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsResourceGetMappedMipmappedArray(&m, r), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsResourceSetMapFlags(r, 0), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cuGraphicsUnregisterResource(r), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cardlessFillBuffer((cardlessBuffer)r, 0, 1, 0), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_ERROR(cardlessTextureDestroy((cardlessTexture)r), CUDA_ERROR_INVALID_HANDLE);
    }
}

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(*state >> 33) % below;
}

// Random shapes, flags, layers, levels and boxes: a call that fails should change nothing, and a
// call that succeeds should have its full effect.
TEST(random_shapes)
{
    static const unsigned extents[] = {0, 1, 2, 3, 7, 16, 33, 64, 100, 16384, 16385, ~0u};
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_HALF,
                                             CU_AD_FORMAT_FLOAT, (CUarray_format)0x99};
    static unsigned char texels[1 << 16];
    unsigned made = 0, mapped = 0;
    uint64_t state = 5;
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    test_context();
    for (int i = 0; i < 3000; i++) {
        cardlessTexture t;
        CUgraphicsResource r;
        CUarray a;
        // Valid values for the kind. Every other time one value is replaced at random.
        cardlessTextureDesc d = {
            .kind = (cardlessTextureKind)(1 + draw(&state, 6)),
            .width = extents[1 + draw(&state, 8)],
            .levels = 1 + draw(&state, 2),
            .format = formats[draw(&state, 3)],
            .channels = 1u << draw(&state, 3),
        };
        bool array = d.kind == CARDLESS_TEXTURE_1D_ARRAY || d.kind == CARDLESS_TEXTURE_2D_ARRAY;
        if (d.kind != CARDLESS_TEXTURE_1D && d.kind != CARDLESS_TEXTURE_1D_ARRAY)
            d.height = d.kind == CARDLESS_TEXTURE_CUBE ? d.width : extents[1 + draw(&state, 8)];
        d.depth = d.kind == CARDLESS_TEXTURE_3D ? extents[1 + draw(&state, 5)] : 0;
        d.layers = array ? extents[1 + draw(&state, 5)] : 0;
        unsigned *values[] = {&d.width, &d.height, &d.depth, &d.layers, &d.levels, &d.channels};
        if (draw(&state, 2))
            *values[draw(&state, 6)] = extents[draw(&state, 12)];
        if (!draw(&state, 10))
            d.format = formats[3];
        if ((uint64_t)d.width * (d.height + 1) * (d.depth + 1) * (d.layers + 1) > 1 << 24 ||
            cardlessTextureCreate(&t, &d))
            continue;
        made++;
        cardlessBox box = {draw(&state, 20), draw(&state, 20), draw(&state, 8),
                           draw(&state, 20), draw(&state, 20), draw(&state, 8)};
        CUresult fill = cardlessFillTexture(t, draw(&state, 8), &box, texels);
        EXPECT(fill == CUDA_SUCCESS || fill == CUDA_ERROR_INVALID_VALUE);
        if (!cardlessRegisterTexture(&r, t, draw(&state, 20))) {
            EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
            if (!cuGraphicsSubResourceGetMappedArray(&a, r, draw(&state, 8), draw(&state, 8))) {
                CUDA_ARRAY3D_DESCRIPTOR got;
                EXPECT_OK(cuArray3DGetDescriptor(&got, a));
                EXPECT_OK(copy_array(a, texels, true, got.NumChannels, 1));
                EXPECT(copy_array(a, texels, true, got.Width * 16 + 1, 1) != CUDA_SUCCESS);
                mapped++;
            }
            EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
            EXPECT_OK(cuGraphicsUnregisterResource(r));
        }
        EXPECT_OK(cardlessTextureDestroy(t));
    }
    EXPECT_OK(cardlessFinish());
    EXPECT(made > 50 && mapped > 20);
}

// ---- threads ----

enum { THREADS = 4, SHARED = 3 };
static cardlessBuffer shared_buffers[SHARED];
static CUgraphicsResource shared_resources[SHARED];
static CUcontext shared_context;

static bool is_one_of(CUresult got, CUresult a, CUresult b)
{
    if (got == CUDA_SUCCESS || got == a || got == b)
        return true;
    test_unexpected = got;
    return false;
}

// No two threads write the same bytes, so any race is inside the driver.
static void *use_at_random(void *arg)
{
    uint64_t state = (uint64_t)(uintptr_t)arg;
    CUstream s;
    CUdeviceptr p;
    unsigned char byte;
    MUST(cuCtxSetCurrent(shared_context));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2000; i++) {
        CUgraphicsResource *r = &shared_resources[draw(&state, SHARED)];
        cardlessBuffer b = shared_buffers[draw(&state, SHARED)];
        switch (draw(&state, 6)) {
        case 0:
            EXPECT(is_one_of(cuGraphicsMapResources(1, r, s), CUDA_ERROR_ALREADY_MAPPED,
                             CUDA_SUCCESS));
            break;
        case 1:
            EXPECT(
                is_one_of(cuGraphicsUnmapResources(1, r, s), CUDA_ERROR_NOT_MAPPED, CUDA_SUCCESS));
            break;
        case 2:
            if (!cuGraphicsResourceGetMappedPointer(&p, NULL, *r))
                EXPECT(is_one_of(cuMemsetD8Async(p + 64 * (CUdeviceptr)(uintptr_t)arg, 1, 64, s),
                                 CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS));
            break;
        case 3:
            EXPECT_OK(cardlessFillBuffer(b, BUFFER_B / 2, BUFFER_B / 2, 2));
            break;
        case 4:
            EXPECT(is_one_of(cardlessQuery(), CUDA_ERROR_NOT_READY, CUDA_SUCCESS));
            break;
        default:
            EXPECT_OK(cardlessReadBuffer(b, BUFFER_B - 1, 1, &byte));
        }
    }
    EXPECT_OK(cuStreamSynchronize(s));
    return NULL;
}

TEST(threads)
{
    pthread_t t[THREADS];
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    unsetenv("CARDLESS_SEED"); // with it, a fill that another thread's unmap overtakes is the fault
                               // that it is
    shared_context = test_context();
    for (int i = 0; i < SHARED; i++) {
        shared_buffers[i] = virtual_buffer(BUFFER_B);
        shared_resources[i] = registered(shared_buffers[i], 0);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&t[i], NULL, use_at_random, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

TESTS(CASE(random_handles), CASE(random_shapes), CASE(threads))
