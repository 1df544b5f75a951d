// SPDX-License-Identifier: MIT
// Messages name the argument, its value, the rule that it breaks and the fix.
#include "../harness.h"

// Returns the text of the last error that the driver has reported in this case.
static const char *last_text(void)
{
    static char line[8192];
    snprintf(line, sizeof line, "%s", test_last_line());
    char *end, *text = strstr(line, "\"text\":\"");
    if (!text)
        return "(no message)";
    text += 8;
    end = strstr(text, "\",\"");
    if (end)
        *end = 0;
    return text;
}

#define EXPECT_TEXT(want) EXPECT_STR(last_text(), want)
// For texts that hold addresses: begins and ends like this.
static void expect_ends(const char *first, const char *last)
{
    const char *text = last_text();
    size_t length = strlen(text), n = strlen(last);
    bool good =
        !strncmp(text, first, strlen(first)) && length >= n && !strcmp(text + length - n, last);
    EXPECT_STR(good ? "good" : text, "good");
}

TEST(range_handle)
{
    CUdeviceptr p;
    int fd = 7;
    char want[128];
    test_context();
    MUST(cuMemAlloc(&p, 1 << 20));
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 0, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_TEXT("size (0) must not be 0");
    EXPECT_ERROR(
        cuMemGetHandleForAddressRange(&fd, 0, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_TEXT("dptr (0) must not be 0");
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 5, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
                 CUDA_ERROR_INVALID_VALUE);
    snprintf(want, sizeof want, "size (0x5) must be a multiple of the host's page size (%#lx)",
             sysconf(_SC_PAGESIZE));
    EXPECT_TEXT(want);
    EXPECT_ERROR(
        cuMemGetHandleForAddressRange(&fd, p, 1 << 16, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 8),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_TEXT("flags (0x8) must be 0 on this device");
}

TEST(invalid_capture)
{
    CUstream s;
    CUgraph graph;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT(cuStreamSynchronize(s) != CUDA_SUCCESS);
    EXPECT_ERROR(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT(!strncmp(last_text(), "cuStreamSynchronize (call ", 26));
    EXPECT(strstr(last_text(), ") has invalidated the capture of this stream"));
}

static void pitch(CUresult code, const char *want)
{
    CUdeviceptr p;
    size_t pitch_B;
    test_context();
    EXPECT_ERROR(cuMemAllocPitch(&p, &pitch_B, (size_t)1 << 33, (size_t)1 << 31, 4), code);
    EXPECT_TEXT(want);
}

TEST(pitch)
{
    pitch(CUDA_ERROR_OUT_OF_MEMORY,
          "Height (2147483648) rows of 8589934592 bytes each have a size that exceeds 64 bits");
}

TEST(pitch_of_the_driver)
{
    test_setting("CARDLESS_QUIRKS", "PITCH_SIZE_WRAPS");
    pitch(CUDA_ERROR_INVALID_VALUE,
          "Height (2147483648) rows of 8589934592 bytes each have a size that wraps to 0, as the "
          "driver computes it in 64 bits");
}

TEST(copy_beyond_an_array)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {64, 32, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    static char bytes[257 * 33 * 5];
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes};
    CUarray a;
    test_context();
    MUST(cuArray3DCreate(&a, &d));
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.WidthInBytes = 257;
    c.Height = 32;
    c.Depth = 4;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    expect_ends("destination: the copy (257 bytes wide, from x = 0 bytes) exceeds CUarray #1 (",
                "which is 64 elements (256 bytes) wide; keep x + width within these bytes");
    c.WidthInBytes = 256;
    c.dstY = 1;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    expect_ends("destination: the copy (32 rows high, from y = 1) exceeds CUarray #1 (",
                "which is 32 rows high; keep y + height within these rows");
    c.dstY = 0;
    c.dstZ = 2;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    expect_ends("destination: the copy (4 slices deep, from z = 2) exceeds CUarray #1 (",
                "which is 4 slices deep; keep z + depth within these slices");
}

TEST(handles)
{
    CUevent e;
    CUstream s;
    test_context();
    EXPECT_ERROR(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_TEXT("handle (NULL) is not a valid CUmemGenericAllocationHandle");
    MUST(cuEventCreate(&e, 0));
    MUST(cuEventDestroy(e));
    EXPECT_ERROR(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
    expect_ends("hEvent (CUevent #1, which cuEventDestroy", ") is not a valid CUevent");
    MUST(cuStreamCreate(&s, 0));
    EXPECT_ERROR(cuEventQuery((CUevent)s), CUDA_ERROR_INVALID_HANDLE);
    expect_ends("hEvent (CUstream #1 (cuStreamCreate, call ", ")) is not a valid CUevent");
}

TEST(null_addresses)
{
    CUdeviceptr p;
    char byte = 0;
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .WidthInBytes = 1, .Height = 1};
    test_context();
    MUST(cuMemAlloc(&p, 4096));
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = p;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    expect_ends("", "is NULL");
    EXPECT_ERROR(cuMemcpyHtoD(0, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    expect_ends("", "is NULL");
    EXPECT_ERROR(cuMemsetD8(0, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_TEXT("dstDevice is NULL");
}

TEST(access_rights)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 9}};
    CUmemGenericAllocationHandle h;
    CUdeviceptr p;
    test_context();
    EXPECT_ERROR(cuMemCreate(&h, 2 << 20, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_TEXT("prop.location.id (9) is not a device; the only device is 0");
    prop.location.id = 0;
    MUST(cuMemCreate(&h, 2 << 20, &prop, 0));
    MUST(cuMemAddressReserve(&p, 2 << 20, 0, 0, 0));
    MUST(cuMemMap(p, 2 << 20, 0, h, 0));
    EXPECT_ERROR(cuMemsetD8(p, 0, 1), CUDA_ERROR_INVALID_VALUE);
    expect_ends("dstDevice: the device may not write a mapping made by cuMemMap 0x",
                "; call cuMemSetAccess first");
    EXPECT_EQ(strstr(strstr(last_text(), "cuMemMap") + 1, "cuMemMap") != NULL, 0);
}

TESTS(CASE(range_handle), CASE(invalid_capture), CASE(pitch), CASE(pitch_of_the_driver),
      CASE(copy_beyond_an_array), CASE(handles), CASE(null_addresses), CASE(access_rights))
