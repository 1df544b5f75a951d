// SPDX-License-Identifier: MIT
// Copies between devices, and across the borders of memory: adjacent mappings are one range,
// adjacent allocations are not.
#include "../harness.h"

enum { SIZE = 8192, WIDTH = 48, HEIGHT = 10, DEPTH = 4, BOX_B = WIDTH * HEIGHT * DEPTH };
static unsigned char a[SIZE], b[SIZE];

static void pattern(unsigned salt)
{
    for (unsigned i = 0; i < SIZE; i++)
        a[i] = (unsigned char)(i * 13 + (i >> 8) + salt);
    memset(b, 0, SIZE);
}

// ---- between two devices

static CUcontext contexts[2];
static CUdeviceptr memory[2];
static CUarray arrays[2];

static void two_devices(void)
{
    test_setting("CARDLESS_DEVICES", "h100,h100");
    MUST(cuInit(0));
    for (int d = 0; d < 2; d++) {
        CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = WIDTH,
                                        .Height = HEIGHT,
                                        .Depth = DEPTH,
                                        .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                        .NumChannels = 1};
        MUST(cuDevicePrimaryCtxRetain(&contexts[d], d));
        MUST(cuCtxSetCurrent(contexts[d]));
        MUST(cuMemAlloc(&memory[d], SIZE));
        MUST(cuMemsetD8(memory[d], 0, SIZE));
        MUST(cuArray3DCreate(&arrays[d], &desc));
    }
}

static void from_device(int d, void *to)
{
    MUST(cuCtxSetCurrent(contexts[d]));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(to, memory[d], SIZE));
}

TEST(peer_runs)
{
    two_devices();
    for (unsigned i = 0; i < 4; i++) {
        int from = i & 1, to = !from;
        pattern(i);
        MUST(cuCtxSetCurrent(contexts[i / 2]));
        MUST(cuMemcpyHtoD(memory[from], a, SIZE));
        EXPECT_OK(i & 2
                      ? cuMemcpyPeerAsync(memory[to], contexts[to], memory[from], contexts[from],
                                          SIZE, NULL)
                      : cuMemcpyPeer(memory[to], contexts[to], memory[from], contexts[from], SIZE));
        MUST(cuCtxSynchronize());
        from_device(to, b);
        EXPECT(!memcmp(a, b, SIZE));
    }
    EXPECT_ERROR(cuMemcpyPeer(memory[1], contexts[1], memory[0], contexts[0], SIZE + 1),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyPeer(memory[1], (CUcontext)(uintptr_t)0x1230, memory[0], contexts[0], 1),
                 CUDA_ERROR_INVALID_CONTEXT);
}

static CUDA_MEMCPY3D_PEER peer(int from, bool from_array, int to, bool to_array)
{
    return (CUDA_MEMCPY3D_PEER){
        .srcMemoryType = from_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
        .srcArray = from_array ? arrays[from] : NULL,
        .srcDevice = from_array ? 0 : memory[from],
        .srcContext = contexts[from],
        .srcPitch = WIDTH,
        .srcHeight = HEIGHT,
        .dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
        .dstArray = to_array ? arrays[to] : NULL,
        .dstDevice = to_array ? 0 : memory[to],
        .dstContext = contexts[to],
        .dstPitch = WIDTH,
        .dstHeight = HEIGHT,
        .WidthInBytes = WIDTH,
        .Height = HEIGHT,
        .Depth = DEPTH};
}

// Memory to array, to the other device's array, to memory. Each step runs in the context of either
// device, as a synchronous call and in a stream.
TEST(peer_boxes)
{
    two_devices();
    for (unsigned i = 0; i < 8; i++) {
        int from = i & 1, to = !from;
        pattern(20 + i);
        MUST(cuCtxSetCurrent(contexts[from]));
        MUST(cuMemcpyHtoD(memory[from], a, SIZE));
        MUST(cuMemsetD8(memory[from] + BOX_B, 0, SIZE - BOX_B));
        CUDA_MEMCPY3D_PEER steps[] = {peer(from, false, from, true), peer(from, true, to, true),
                                      peer(to, true, to, false)};
        MUST(cuCtxSetCurrent(contexts[i >> 1 & 1]));
        for (unsigned s = 0; s < 3; s++)
            EXPECT_OK(i & 4 ? cuMemcpy3DPeerAsync(&steps[s], NULL) : cuMemcpy3DPeer(&steps[s]));
        MUST(cuCtxSynchronize());
        from_device(to, b);
        EXPECT(!memcmp(a, b, BOX_B));
    }
    // A smaller box between the two memories, with gaps.
    CUDA_MEMCPY3D_PEER c = peer(0, false, 1, true);
    pattern(40);
    MUST(cuCtxSetCurrent(contexts[0]));
    MUST(cuMemcpyHtoD(memory[0], a, SIZE));
    c.srcXInBytes = 3, c.dstXInBytes = 5, c.srcY = 1, c.dstZ = 1, c.WidthInBytes = 30, c.Height = 7,
    c.Depth = 2;
    EXPECT_OK(cuMemcpy3DPeer(&c));
    c = peer(1, true, 1, false);
    EXPECT_OK(cuMemcpy3DPeer(&c));
    from_device(1, b);
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 7; y++)
            EXPECT(!memcmp(b + ((z + 1) * HEIGHT + y) * WIDTH + 5,
                           a + (z * HEIGHT + y + 1) * WIDTH + 3, 30));
}

TEST(peer_boxes_refused)
{
    two_devices();
    const CUDA_MEMCPY3D_PEER good = peer(0, false, 1, true);
    CUDA_MEMCPY3D_PEER c = good;
    EXPECT_OK(cuMemcpy3DPeer(&c));
    c.dstZ = 1;
    EXPECT_ERROR(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.srcDevice += SIZE;
    EXPECT_ERROR(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.srcContext = (CUcontext)(uintptr_t)0x1230;
    EXPECT_ERROR(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuMemcpy3DPeer(NULL), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstMemoryType = 9;
    EXPECT_ERROR(cuMemcpy3DPeerAsync(&c, NULL), CUDA_ERROR_INVALID_VALUE);
}

// ---- borders

// An H100 (driver 580) copies and fills across two mappings beside each other.
TEST(across_mappings)
{
    enum { PART = 2 << 20, AT = PART - 3000, LENGTH = 6000 };
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle parts[2];
    CUdeviceptr p;
    test_context();
    MUST(cuMemAddressReserve(&p, 2 * (size_t)PART, 0, 0, 0));
    for (unsigned i = 0; i < 2; i++) {
        MUST(cuMemCreate(&parts[i], PART, &prop, 0));
        MUST(cuMemMap(p + i * (size_t)PART, PART, 0, parts[i], 0));
    }
    MUST(cuMemSetAccess(p, 2 * (size_t)PART, &access, 1));
    pattern(1);
    EXPECT_OK(cuMemcpyHtoD(p + AT, a, LENGTH));
    EXPECT_OK(cuMemcpyDtoD(p, p + AT, LENGTH));
    EXPECT_OK(cuMemcpyDtoH(b, p, LENGTH));
    EXPECT(!memcmp(a, b, LENGTH));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p + AT,
                       .srcPitch = 300,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = b,
                       .dstPitch = 100,
                       .WidthInBytes = 100,
                       .Height = 20};
    EXPECT_OK(cuMemcpy2D(&c));
    for (unsigned y = 0; y < 20; y++)
        EXPECT(!memcmp(b + y * 100, a + y * 300, 100));
    EXPECT_OK(cuMemsetD32(p + PART - 400, 0x01020304, 200));
    EXPECT_OK(cuMemsetD2D8(p + PART - 1000, 300, 5, 100, 8));
    EXPECT_OK(cuMemcpyDtoH(b, p + PART - 4, 8));
    EXPECT(!memcmp(b, "\5\5\5\5\4\3\2\1", 8));
    EXPECT_ERROR(cuMemcpyDtoH(b, p + 2 * (size_t)PART - 8, 9), CUDA_ERROR_INVALID_VALUE);
    // The second part is read-only: a copy that writes there is refused as a whole.
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    MUST(cuMemSetAccess(p + PART, PART, &access, 1));
    MUST(cuMemcpyDtoH(a, p + AT, LENGTH));
    EXPECT_ERROR(cuMemcpyHtoD(p + AT, b, LENGTH), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyDtoH(b, p + AT, LENGTH));
    EXPECT(!memcmp(a, b, LENGTH));
    // Without the second mapping, the range ends with the first.
    MUST(cuMemUnmap(p + PART, PART));
    EXPECT_ERROR(cuMemcpyDtoH(b, p + AT, LENGTH), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyDtoH(b, p + AT, 3000));
}

// An H100 refuses a range that reaches from one allocation of cuMemAlloc into the next, even if
// they are adjacent.
TEST(across_allocations)
{
    enum { BLOCKS = 8 };
    CUdeviceptr p[BLOCKS];
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = a,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .WidthInBytes = 16,
                       .Height = 2};
    unsigned seams = 0;
    test_context();
    pattern(2);
    for (unsigned i = 0; i < BLOCKS; i++)
        MUST(cuMemAlloc(&p[i], SIZE));
    for (unsigned i = 0; i < BLOCKS; i++)
        for (unsigned j = 0; j < BLOCKS; j++) {
            if (p[j] != p[i] + SIZE)
                continue;
            seams++;
            EXPECT_ERROR(cuMemcpyHtoD(p[i] + SIZE - 1, a, 2), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cuMemcpyDtoH(b, p[i], SIZE + 1), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cuMemcpyDtoD(p[!i], p[i] + SIZE - 1, 2), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cuMemsetD8(p[i] + SIZE - 1, 0, 2), CUDA_ERROR_INVALID_VALUE);
            c.dstDevice = p[i] + SIZE - 16, c.dstPitch = 16;
            EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
            EXPECT_OK(cuMemcpyHtoD(p[i] + SIZE - 1, a, 1));
            EXPECT_OK(cuMemcpyHtoD(p[i] + SIZE, a, 1));
        }
    EXPECT(seams);
}

TESTS(CASE(peer_runs), CASE(peer_boxes), CASE(peer_boxes_refused), CASE(across_mappings),
      CASE(across_allocations))
